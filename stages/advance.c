/*
 * advance.c - stage advance on the host: each active particle takes up to active_set.steps steps.
 *
 * The lanes of a vector take their steps together, but histories differ in length. A lane whose
 * particle is done gets the next particle of the active set at once, so the lanes stay full until
 * the last particles of the batch. Compiled for each model and level.
 */
#define SL_SIMD_LANES SL_LEVEL_LANES
#include "stages/counting/flight_loop.h"
#include "stages/counting/score_lanes.h"
#include "stages/models/rules.h"
#include "stages/particle/lanes_columns.h"

enum { CHECK_EVERY = 1 << 12 }; /* steps of the lanes between two checks of cancel */

/* All functions are inlined: a call would pass the particles of the lanes, 2 KB, in memory. */
#ifdef __GNUC__
#define SL_FLAT __attribute__((flatten))
#else
#define SL_FLAT
#endif

#define EVERY_LANE (UINT32_MAX >> (32 - SL_SIMD_LANES))

/* The particles in the lanes, and those that are still to come. */
struct flights {
	struct sl_batch *b;
	sl_lanes p;
	uint32_t at[SL_SIMD_LANES]; /* the number of each in the active set */
	sl_u32 left;                /* the steps that each may still take */
	uint32_t busy;              /* bit l: lane l has a particle */
	bool together;              /* the lanes have consecutive particles */
	uint32_t next, n;           /* the next particle of the active set, and their number */
};

/* Gives all lanes, which have no particle, the next particles; those that are dead are dropped. */
SL_HD_PART void load_all(struct flights *f, sl_column_set set)
{
	const struct sl_active_set *a = &f->b->active_set;
	const sl_u32 at = sl_low(sl_count_from(f->next));

	f->p = sl_load_lanes(&a->columns, set & ~a->zero, f->next);
	f->p.id = a->place ? sl_sum(f->b->first_id, sl_load_u32(a->place + f->next))
	                   : sl_count_from(f->b->first_id + f->next);
	f->left = sl_all_u32(a->steps);
	f->busy = sl_mask_bits(f->p.fate == SL_FATE_alive);
	f->together = f->busy == EVERY_LANE;
	memset(f->b->keep + f->next, 0, SL_SIMD_LANES);
	memcpy(f->at, &at, sizeof(at));
	f->next += SL_SIMD_LANES;
}

/* Gives lane l the next particle that is alive, if there is one. */
SL_HD_PART void load_one(struct flights *f, sl_column_set set, uint32_t l)
{
	const struct sl_active_set *a = &f->b->active_set;

	for (; f->next < f->n && !(f->busy >> l & 1); f->next++) {
		f->b->keep[f->next] = 0;
		if (a->columns.fate[f->next] == SL_FATE_alive) {
			const struct sl_particle p =
				sl_active_set_load(a, set, f->b->first_id, f->next);

			sl_set_lane(&f->p, set, l, &p);
			sl_set_u32(&f->left, l, a->steps);
			f->at[l] = f->next;
			f->busy |= 1u << l;
			f->together = false;
		}
	}
}

/* Fills the lanes that have no particle. Returns false if no particle is left. */
SL_HD_PART bool fill(struct flights *f, sl_column_set set)
{
	while (f->busy == 0 && f->n - f->next >= SL_SIMD_LANES)
		load_all(f, set);
	for (uint32_t free = ~f->busy & EVERY_LANE; free && f->next < f->n; free &= free - 1)
		load_one(f, set, (uint32_t)__builtin_ctz(free));
	return f->busy != 0;
}

/* Stores the particles of all lanes, which are consecutive. */
SL_HD_PART void store_all(struct flights *f, sl_column_set set)
{
	struct sl_active_set *a = &f->b->active_set;
	const sl_mask alive = f->p.fate == SL_FATE_alive;

	sl_store_lanes(&a->columns, set & ~a->zero, f->at[0], SL_SIMD_LANES, &f->p);
	SL_STORE_LANES_uint8_t(f->b->keep + f->at[0], sl_one_if(alive), (size_t)SL_SIMD_LANES);
	a->alive += (uint32_t)__builtin_popcount(sl_mask_bits(alive));
}

SL_HD_PART void store_one(struct flights *f, sl_column_set set, uint32_t l)
{
	struct sl_active_set *a = &f->b->active_set;
	const struct sl_particle p = sl_get_lane(&f->p, set, l);

	f->b->keep[f->at[l]] = sl_active_set_store(a, set, &f->b->columns, f->at[l], &p);
	a->alive += f->b->keep[f->at[l]];
}

/* After a step: stores the particles that have ended or may take no more steps. */
SL_HD_PART void store_done(struct flights *f, sl_column_set set)
{
	uint32_t done;

	f->left -= 1;
	done = f->busy & (sl_mask_bits(f->p.fate != SL_FATE_alive) | sl_mask_bits(f->left == 0));
	f->busy &= ~done;
	if (done == EVERY_LANE && f->together && !f->b->active_set.place) {
		store_all(f, set);
		return;
	}
	for (; done; done &= done - 1)
		store_one(f, set, (uint32_t)__builtin_ctz(done));
}

#define COLUMNS SL_STORED(SL_MODEL_FACT(COLUMNS))

static SL_FLAT void advance(
	const sl_rules *rules, uint64_t seed, struct flights f, const struct sl_recipe *recipe)
{
	const sl_rules r = *rules;

	for (uint32_t step = 0; fill(&f, COLUMNS); step++) {
		if (step % CHECK_EVERY == 0 && recipe && sl_is_cancelled(recipe))
			return;
		SL_OF_MODEL(step)(&r, SL_EVERY_COLUMN, seed, &f.p);
		store_done(&f, COLUMNS);
	}
}

#if SL_MODEL_FACT(SCORED)
/* Keeps the particles in the lanes before a step. */
SL_HD_PART void begin_flights(struct sl_flown *flown, const struct flights *f)
{
#define X(name) memcpy(flown->name, &f->p.name, sizeof(f->p.name));
	SL_FLIGHT_COLUMNS(X)
#undef X
}

/* Adds the flights of the lanes. */
SL_HD_PART void score_flights(const struct sl_recipe *recipe, struct sl_flown *flown,
	struct flights *f, const struct sl_step_scores *step)
{
	memcpy(flown->slowness, &step->slowness, sizeof(step->slowness));
	memcpy(flown->length, &step->flight.length, sizeof(step->flight.length));
	memcpy(flown->end_z, &f->p.z, sizeof(f->p.z));
	SL_AT_LEVEL(sl_loop_flights)(recipe, f->busy, flown, f->b->bins);
}

SL_HD_PART void step_scored(
	const sl_rules *r, uint32_t most, uint64_t seed, sl_lanes *p, struct sl_step_scores *s)
{
	const sl_u32 i = SL_OF_MODEL(medium_at)(r, most, p);
	const sl_f32 weight = p->weight;
	const sl_u32 end = SL_OF_MODEL(step_in)(r, most, i, seed, p, &s->flight);

	s->slowness = SL_OF_MODEL(slowness_in)(r, most, i);
	s->deposit = SL_OF_MODEL(deposit_in)(r, most, end, p, weight);
	s->fluence = SL_OF_MODEL(fluence_in)(r, most, end, weight);
}

/* As advance(), with scores. */
static SL_FLAT void advance_scored(
	const sl_rules *rules, uint64_t seed, struct flights f, const struct sl_recipe *recipe)
{
	const sl_rules r = *rules;
	struct sl_scores scores = {
		.grids = sl_loop_grids(recipe), .count = sl_loop_grid_counters(recipe, f.b->bins)};
	const bool flights = scores.grids->flights;
	struct sl_step_scores scored;
	struct sl_flown flown;

	for (uint32_t step = 0; fill(&f, COLUMNS); step++) {
		if (step % CHECK_EVERY == 0 && sl_is_cancelled(recipe))
			return;
		if (flights)
			begin_flights(&flown, &f);
		SL_BY_MEDIA(SL_OF_MODEL(media)(&r), step_scored, &r, seed, &f.p, &scored);
		sl_score_collisions(&scores, f.busy, &f.p, &scored);
		if (flights)
			score_flights(recipe, &flown, &f, &scored);
		store_done(&f, COLUMNS);
	}
	sl_score_finish(&scores);
}
#endif

void SL_RULE_LOOP(advance)(const void *rules, uint64_t seed, struct sl_batch *b, uint32_t n,
	const struct sl_recipe *recipe)
{
	const struct flights f = {.b = b, .n = n};

	b->active_set.alive = 0;
#if SL_MODEL_FACT(SCORED)
	if (recipe && sl_loop_grids(recipe)->scored) {
		advance_scored((const sl_rules *)rules, seed, f, recipe);
		return;
	}
#endif
	advance((const sl_rules *)rules, seed, f, recipe);
}
