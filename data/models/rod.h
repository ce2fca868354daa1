/*
 * rod.h - a rod: particles move along z only, forwards or backwards.
 *
 * A particle enters at z = 0 and flies forwards. Flights are exponentially distributed with mean
 * 1/mu. A collision absorbs it with probability 1 - albedo, or turns it to either side with equal
 * probabilities. With k = sqrt(1 - albedo) and t = mu * length, the transmitted fraction is exactly
 * 1 / (cosh(k t) + (1 + k^2) / (2 k) * sinh(k t)), and 1 / (1 + t / 2) for albedo 1.
 */
#ifndef ROD_H
#define ROD_H

#include "stages/models/common/flight.h"

#define SL_COLUMNS_rod                                                                            \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_z) | SL_BIT(SL_COLUMN_w) |                       \
		SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_collisions) | \
		SL_BIT(SL_COLUMN_fate))
#define SL_FATES_rod                                                         \
	(SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) | \
		SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps))
#define SL_RECOMPUTED_rod false
#define SL_WEIGHTED_rod   false
#define SL_SCORED_rod     0

struct sl_rod {
	float mean_free_path, length; /* cm */
	float albedo;
	uint32_t max_steps;
};

SL_HD sl_lanes sl_rod_generate(
	const struct sl_rod *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	sl_lanes p = {0};

	(void)r, (void)wanted, (void)seed;
	p.id = id;
	p.w = sl_all(1.0f);
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	return p;
}

/* A flight to a collision or to an end of the rod. Block k of the words is that of step k. */
SL_HD void sl_rod_step(const struct sl_rod *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(0, p->steps));
	sl_f32 path = -r->mean_free_path * sl_log(sl_uniform(random.at[0]));
	sl_f32 to_end = sl_select(p->w > 0.0f, r->length - p->z, p->z);
	sl_mask leaves = path >= to_end, absorbed = sl_uniform(random.at[1]) > r->albedo;

	(void)wanted;
	path = sl_select(leaves, to_end, path);
	sl_fly(p, path, sl_all(1.0f / 29.9792458f)); /* at the speed of light, cm/ns */
	p->z = sl_select(leaves, sl_select(p->w > 0.0f, sl_all(r->length), 0.0f), p->z);
	p->steps += 1;
	p->collisions += sl_one_if(sl_not(leaves));
	p->fate = sl_select_fate(leaves,
		sl_select_fate(p->w > 0.0f, SL_FATE_transmitted, SL_FATE_reflected),
		sl_select_fate(absorbed, SL_FATE_absorbed, p->fate));
	p->w = sl_select(p->fate == SL_FATE_alive,
		sl_select((random.at[2] & 1) == 0, sl_all(1.0f), sl_all(-1.0f)), p->w);
	sl_end_after(p, r->max_steps);
}

SL_ADVANCE_BY_STEPS(rod)

#ifdef SL_MODEL_HOST

struct sl_rod_config {
	double mu, length, albedo;
};

#define OPTION(...) SL_OPTION(sl_rod_config, __VA_ARGS__)
static const struct sl_option sl_rod_options[] = {
	OPTION(mu, REAL, PER_LENGTH, 1e-6, 1e6, .required = true,
		.help = "collisions per length of a flight"),
	OPTION(length, REAL, LENGTH, 1e-6, 1e6, .required = true, .help = "length of the rod"),
	OPTION(albedo, REAL, NUMBER, 0, 1, .fallback = "1",
		.help = "probability that a collision does not absorb"),
};
#undef OPTION

static void sl_rod_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_rod_config *c = (const struct sl_rod_config *)config;
	const struct sl_rod r = {(float)(1 / c->mu), (float)c->length, (float)c->albedo,
		(uint32_t)common->max_steps};

	(void)check;
	memcpy(rules, &r, sizeof(r));
}

static bool sl_rod_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_rod *r = (const struct sl_rod *)rules;

	*lo = 0;
	*hi = r->length;
	return column == SL_COLUMN_z ||
	       sl_model_common_range(column, r->max_steps, SL_FATES_rod, lo, hi);
}

static sl_column_set sl_rod_constants(const void *rules, struct sl_particle *values)
{
	(void)rules, (void)values;
	return 0;
}

SL_MODEL(rod, .help = "a rod with flights forwards and backwards", .species = "photons",
	.steps = true);

#endif
#endif
