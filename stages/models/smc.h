/*
 * smc.h - particle filters (sequential Monte Carlo) of state spaces, by the bootstrap filter: a
 * particle is a state, moved by the transition and weighted by the density of the observation
 * (Gordon, Salmond and Smith, IEE Proceedings F 140 (1993) 107).
 *
 * A batch is one filter; stages/rounds/resample.h resamples its particles. The state starts with the
 * prior of the first observation: step 0 only weighs. Philox block 0 gives the start, block k the
 * transition to observation k, counted from 0.
 */
#ifndef SL_STAGES_MODELS_SMC_H
#define SL_STAGES_MODELS_SMC_H

#include "stages/models/common/flight.h"
#include "stages/models/common/resampling.h"
#include "stages/models/common/rules_data.h"

#define SL_COLUMNS_smc                                                                            \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_state_1) | SL_BIT(SL_COLUMN_state_2) |           \
		SL_BIT(SL_COLUMN_state_3) | SL_BIT(SL_COLUMN_state_4) | SL_BIT(SL_COLUMN_steps) | \
		SL_BIT(SL_COLUMN_log_weight) | SL_BIT(SL_COLUMN_fate))
#define SL_FATES_smc      SL_FATE_BIT(SL_FATE_filtered)
#define SL_RECOMPUTED_smc true
#define SL_WEIGHTED_smc   false

enum { SL_SMC_STATES = 4 };

enum sl_smc_space {
	SL_SMC_LOCAL_LEVEL,
	SL_SMC_LINEAR_GAUSSIAN,
	SL_SMC_UNGM,
	SL_SMC_STOCHASTIC_VOLATILITY,
	SL_SMC_BEARINGS /* states x, y and their velocities; an angle from the x axis is observed */
};

/*
 * Matrices have rows of SL_SMC_STATES numbers, filled up with 0. Those of noise are lower triangular
 * roots of covariances.
 */
struct sl_smc {
	struct sl_rules_data data; /* a row of floats for each observation */
	int space;
	int scheme;
	double below, quantile[SL_FILTER_QUANTILES_MAX];
	uint32_t n_steps, dims, seen, row; /* observations; states; numbers of one, of a row */
	uint32_t n_quantiles;
	float start[SL_SMC_STATES], start_root[SL_SMC_STATES * SL_SMC_STATES];
	float move[SL_SMC_STATES * SL_SMC_STATES], shift[SL_SMC_STATES]; /* transition */
	float noise[SL_SMC_STATES * SL_SMC_STATES];
	float see[SL_SMC_STATES * SL_SMC_STATES];   /* observation of a state */
	float scale[SL_SMC_STATES * SL_SMC_STATES]; /* inverse root of its noise */
	float constant;                             /* of the logarithm of the density */
};

/* Sets n independent normal numbers, n = 1 or 4 (Box and Muller, 1958). */
SL_HD_PART void sl_smc_normals(const struct sl_words *random, uint32_t n, sl_f32 z[SL_SMC_STATES])
{
	for (uint32_t k = 0; k < n; k += 2) {
		sl_f32 radius = sqrtf(-2.0f * sl_log(sl_uniform(random->at[k]))), s, c;

		sl_sincospi(2.0f * sl_uniform(random->at[k + 1]), &s, &c);
		z[k] = radius * c;
		if (k + 1 < n)
			z[k + 1] = radius * s;
	}
}

/* to += the product of a matrix of n rows and columns and a vector. */
SL_HD_PART void sl_smc_add_product(
	const float *matrix, uint32_t n, const sl_f32 *vector, sl_f32 *to)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			to[i] = fmaf(vector[k], sl_all(matrix[SL_SMC_STATES * i + k]), to[i]);
}

/* Reads and writes the first n states of p. */
SL_HD_PART void sl_smc_get(const sl_lanes *p, uint32_t n, sl_f32 x[SL_SMC_STATES])
{
	x[0] = p->state_1;
	if (n > 1)
		x[1] = p->state_2, x[2] = p->state_3, x[3] = p->state_4;
}

SL_HD_PART void sl_smc_put(sl_lanes *p, uint32_t n, const sl_f32 x[SL_SMC_STATES])
{
	p->state_1 = x[0];
	if (n > 1)
		p->state_2 = x[1], p->state_3 = x[2], p->state_4 = x[3];
}

SL_HD_PART void sl_smc_begin(
	const struct sl_smc *r, uint32_t n, const struct sl_words *random, sl_lanes *p)
{
	sl_f32 z[SL_SMC_STATES], x[SL_SMC_STATES];

	for (uint32_t k = 0; k < n; k++)
		x[k] = sl_all(r->start[k]);
	sl_smc_normals(random, n, z);
	sl_smc_add_product(r->start_root, n, z, x);
	sl_smc_put(p, n, x);
}

SL_HD sl_lanes sl_smc_generate(
	const struct sl_smc *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted;
	p.id = id;
	p.fate = sl_all_fate(SL_FATE_alive);
	if (r->dims == 1)
		sl_smc_begin(r, 1, &random, &p);
	else
		sl_smc_begin(r, SL_SMC_STATES, &random, &p);
	return p;
}

/* The transition of n states; row is the place of the observation that follows. */
SL_HD_PART void sl_smc_move(const struct sl_smc *r, uint32_t n, sl_u32 row,
	const struct sl_words *random, sl_f32 x[SL_SMC_STATES])
{
	const float *data = (const float *)r->data.at;
	sl_f32 z[SL_SMC_STATES], to[SL_SMC_STATES];

	for (uint32_t k = 0; k < n; k++)
		to[k] = sl_all(r->shift[k]);
	sl_smc_normals(random, n, z);
	sl_smc_add_product(r->noise, n, z, to);
	if (r->space == SL_SMC_UNGM)
		x[0] = fmaf(x[0], sl_all(0.5f), to[0]) +
		       25.0f * x[0] / fmaf(x[0], x[0], sl_all(1.0f)) + SL_ITEM(data, row + 1);
	else
		sl_smc_add_product(r->move, n, x, to);
	for (uint32_t k = 0; k < n && r->space != SL_SMC_UNGM; k++)
		x[k] = to[k];
}

/* The angle from (x, y) to the direction of that cosine and sine. */
SL_HD_PART sl_f32 sl_smc_turn(sl_f32 x, sl_f32 y, sl_f32 cosine, sl_f32 sine)
{
	return sl_atan2_f32(fmaf(x, sine, -(y * cosine)), fmaf(x, cosine, y * sine));
}

/* The logarithm of the density of an observation, given the states; 0 of a missing one, NaN. */
SL_HD_PART sl_f32 sl_smc_density(
	const struct sl_smc *r, uint32_t n, sl_u32 row, const sl_f32 x[SL_SMC_STATES])
{
	const float *data = (const float *)r->data.at;
	sl_f32 off[SL_SMC_STATES], part[SL_SMC_STATES], sum = sl_all(0.0f), y = SL_ITEM(data, row);

	for (uint32_t k = 0; k < n; k++) {
		off[k] = k < r->seen ? SL_ITEM(data, row + k) : sl_all(0.0f);
		part[k] = sl_all(0.0f);
	}
	if (r->space == SL_SMC_STOCHASTIC_VOLATILITY) {
		sum = fmaf(off[0] * off[0], sl_exp(-x[0]), x[0]);
	} else if (r->space == SL_SMC_BEARINGS) {
		if (n > 1)
			off[0] = sl_smc_turn(
				x[0], x[1], SL_ITEM(data, row + 1), SL_ITEM(data, row + 2));
		off[0] = off[0] * r->scale[0];
		sum = off[0] * off[0];
	} else {
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++)
				off[i] = fmaf(r->space == SL_SMC_UNGM ? x[k] * x[k] : x[k],
					sl_all(-r->see[SL_SMC_STATES * i + k]), off[i]);
		sl_smc_add_product(r->scale, n, off, part);
		for (uint32_t k = 0; k < n; k++)
			sum = fmaf(part[k], part[k], sum);
	}
	return sl_select(y == y, fmaf(sum, sl_all(-0.5f), sl_all(r->constant)), 0.0f);
}

SL_HD_PART void sl_smc_step_of(
	const struct sl_smc *r, uint32_t n, const struct sl_words *random, sl_lanes *p)
{
	const sl_mask moves = p->steps > 0;
	const sl_u32 row = p->steps * r->row;
	sl_f32 x[SL_SMC_STATES], before[SL_SMC_STATES];

	sl_smc_get(p, n, x);
	for (uint32_t k = 0; k < n; k++)
		before[k] = x[k];
	sl_smc_move(r, n, row, random, x);
	for (uint32_t k = 0; k < n; k++)
		x[k] = sl_select(moves, x[k], before[k]);
	sl_smc_put(p, n, x);
	p->log_weight += sl_smc_density(r, n, row, x);
}

SL_HD void sl_smc_step(const struct sl_smc *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(0, p->steps));

	(void)wanted;
	if (r->dims == 1 && r->seen == 1) /* the loops over states are those over numbers, too */
		sl_smc_step_of(r, 1, &random, p);
	else
		sl_smc_step_of(r, SL_SMC_STATES, &random, p);
	p->steps += 1;
	p->fate = sl_select_fate(p->steps >= r->n_steps, SL_FATE_filtered, p->fate);
}

SL_ADVANCE_BY_STEPS(smc)

#ifdef SL_MODEL_HOST
#include "stages/models/model.h"

#include "stages/models/config/smc_config.h"
#endif
#endif
