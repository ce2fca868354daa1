/*
 * lattice.h - a random walk on a cubic lattice.
 *
 * A walker starts at the origin, and each step takes it to one of the neighbours on the first 1, 2 or
 * 3 axes with equal probabilities. It ends as hit when it is at the origin again, and as escaped when
 * it is `escape` sites from it along an axis. On one axis it returns with probability
 * 1 - 1 / escape exactly. On three axes, 1/6 of all walkers return at step 2 and 1/24 at step 4: with
 * transport.max_steps: 4, the fraction of hits is exactly 5/24.
 */
#ifndef LATTICE_H
#define LATTICE_H

#include "stages/models/common/flight.h"

#define SL_COLUMNS_lattice                                                                        \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_fate))
#define SL_FATES_lattice \
	(SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_escaped) | SL_FATE_BIT(SL_FATE_max_steps))
#define SL_RECOMPUTED_lattice false
#define SL_WEIGHTED_lattice   false
#define SL_SCORED_lattice     0

struct sl_lattice {
	uint32_t axes, max_steps;
	float spacing, escape; /* cm */
};

SL_HD sl_lanes sl_lattice_generate(
	const struct sl_lattice *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	sl_lanes p = {0};

	(void)r, (void)wanted, (void)seed;
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	return p;
}

/* A step to a neighbour. The uniform number chooses the axis, another word the side. */
SL_HD void sl_lattice_step(
	const struct sl_lattice *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(0, p->steps));
	sl_f32 axis = (float)r->axes * sl_uniform(random.at[0]);
	sl_f32 move = sl_select((random.at[1] & 1) == 0, sl_all(r->spacing), sl_all(-r->spacing));
	sl_mask home, away;

	(void)wanted;
	p->x += sl_select(axis <= 1.0f, move, 0.0f);
	p->y += sl_select((axis > 1.0f) & (axis <= 2.0f), move, 0.0f);
	p->z += sl_select(axis > 2.0f, move, 0.0f);
	p->steps += 1;
	home = (p->x == 0.0f) & (p->y == 0.0f) & (p->z == 0.0f);
	away = (fabsf(p->x) >= r->escape) | (fabsf(p->y) >= r->escape) | (fabsf(p->z) >= r->escape);
	p->fate = sl_select_fate(home, SL_FATE_hit, sl_select_fate(away, SL_FATE_escaped, p->fate));
	sl_end_after(p, r->max_steps);
}

SL_ADVANCE_BY_STEPS(lattice)

#ifdef SL_MODEL_HOST

struct sl_lattice_config {
	uint64_t axes, escape;
};

#define OPTION(...) SL_OPTION(sl_lattice_config, __VA_ARGS__)
static const struct sl_option sl_lattice_options[] = {
	OPTION(axes, COUNT, NUMBER, 1, 3, .fallback = "3", .help = "axes of the lattice"),
	OPTION(escape, COUNT, NUMBER, 2, 1e6, .fallback = "1000",
		.help = "sites from the origin at which a walker has escaped"),
};
#undef OPTION

/* Sites are 1 cm apart: whole numbers of single precision, which are exact. */
static void sl_lattice_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_lattice_config *c = (const struct sl_lattice_config *)config;
	const struct sl_lattice r = {
		(uint32_t)c->axes, (uint32_t)common->max_steps, 1.0f, (float)c->escape};

	(void)check;
	memcpy(rules, &r, sizeof(r));
}

static bool sl_lattice_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_lattice *r = (const struct sl_lattice *)rules;

	if (sl_model_common_range(column, r->max_steps, SL_FATES_lattice, lo, hi))
		return true;
	*lo = -r->escape;
	*hi = r->escape;
	return column == SL_COLUMN_x || column == SL_COLUMN_y || column == SL_COLUMN_z;
}

static sl_column_set sl_lattice_constants(const void *rules, struct sl_particle *values)
{
	(void)rules, (void)values;
	return 0;
}

SL_MODEL(lattice, .help = "a random walk on a cubic lattice", .species = "walkers", .steps = true);

#endif
#endif
