/*
 * compton.h - a photon that is scattered once by a free electron (Klein and Nishina, 1929).
 *
 * With e the energy in units of 511 keV and c the cosine of the angle, the ratio of the energies is
 * P = 1 / (1 + e (1 - c)), and the density of c is proportional to P^2 (P + 1/P - 1 + c^2), which is
 * at most 2. Each step proposes a cosine and accepts it with that density: a particle takes as many
 * steps as it has proposals. The energy that is left is kept with probability P (fate transmitted);
 * else the photon counts as absorbed. So the fraction absorbed is the mean fraction of the energy that
 * goes to the electron, the ratio of the cross sections of energy transfer and of scattering.
 */
#ifndef COMPTON_H
#define COMPTON_H

#include "stages/models/common/flight.h"

#define SL_COLUMNS_compton                                                                        \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) | \
		SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_fate))
#define SL_FATES_compton                                                    \
	(SL_FATE_BIT(SL_FATE_transmitted) | SL_FATE_BIT(SL_FATE_absorbed) | \
		SL_FATE_BIT(SL_FATE_max_steps))
#define SL_RECOMPUTED_compton false
#define SL_WEIGHTED_compton   false
#define SL_SCORED_compton     0

struct sl_compton {
	float energy, ratio; /* keV; and in units of the energy of an electron at rest */
	uint32_t max_steps;
};

SL_HD sl_lanes sl_compton_generate(
	const struct sl_compton *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	sl_lanes p = {0};

	(void)wanted, (void)seed;
	p.id = id;
	p.w = sl_all(1.0f);
	p.energy = sl_all(r->energy);
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	return p;
}

/* A proposal; block k of the words is that of step k. */
SL_HD void sl_compton_step(
	const struct sl_compton *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(0, p->steps));
	sl_f32 c = 2.0f * sl_uniform(random.at[0]) - 1.0f;
	sl_f32 ratio = 1.0f / (1.0f + r->ratio * (1.0f - c));
	sl_f32 density = ratio * ratio * (ratio + 1.0f / ratio - 1.0f + c * c);
	sl_mask accepted = 2.0f * sl_uniform(random.at[1]) <= density;
	sl_mask kept = sl_uniform(random.at[2]) <= ratio;

	(void)wanted;
	p->steps += 1;
	if (sl_any(accepted)) {
		sl_lanes q = *p;

		sl_deflect(&q, p->u, p->v, p->w, sqrtf(1.0f - c * c), c,
			2.0f * sl_uniform(random.at[3]));
		q.energy = p->energy * ratio;
		q.fate = sl_select_fate(kept, SL_FATE_transmitted, SL_FATE_absorbed);
		sl_assign_if(accepted, p, &q);
	}
	sl_end_after(p, r->max_steps);
}

SL_ADVANCE_BY_STEPS(compton)

#ifdef SL_MODEL_HOST

struct sl_compton_config {
	double energy;
};

static const struct sl_option sl_compton_options[] = {
	SL_OPTION(sl_compton_config, energy, REAL, ENERGY, 1e-3, 1e5, .required = true,
		.help = "energy of the photons"),
};

static void sl_compton_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_compton_config *c = (const struct sl_compton_config *)config;
	const struct sl_compton r = {
		(float)c->energy, (float)(c->energy / 510.99895), (uint32_t)common->max_steps};

	(void)check;
	memcpy(rules, &r, sizeof(r));
}

static bool sl_compton_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_compton *r = (const struct sl_compton *)rules;

	*lo = 0;
	*hi = r->energy;
	return column == SL_COLUMN_energy ||
	       sl_model_common_range(column, r->max_steps, SL_FATES_compton, lo, hi);
}

static sl_column_set sl_compton_constants(const void *rules, struct sl_particle *values)
{
	(void)rules, (void)values;
	return 0;
}

SL_MODEL(
	compton, .help = "one Compton scattering of a photon", .species = "photons", .steps = true);

#endif
#endif
