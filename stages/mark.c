/*
 * mark.c - stage mark on the host: derived columns, final fates, keep flags, the counts and the
 * tallies.
 */
#include "stages/mark.h"

#include <string.h>

#include "stages/batch/recipe.h"
#include "stages/particle/weight.h"
#include "stages/selection/program_block.h"

/* Particles that are counted at once: the number of each fate fits in a byte. */
enum { GROUP = 128 };

struct group {
	struct sl_batch *b;
	uint32_t from, n;
	uint64_t weight[GROUP], square[GROUP]; /* fixed-point, if they are summed */
};

/*
 * Counts a group in a tally of particles at their ends. even: it has one EVEN axis; each caller
 * passes a constant, so the compiler makes a separate loop for such tallies. each_step: a constant
 * too, it counts a step of a filter. A fate that does not exist (the memory is damaged) is not
 * counted, so that the sums do not close.
 */
static inline void count_tally(const struct sl_recipe *r, const struct sl_grid_rule *g, bool even,
	bool each_step, const struct group *of)
{
	const struct sl_columns *c = &of->b->columns;
	const struct sl_even_rule axis = g->axis[0].even;
	uint64_t *count = of->b->bins + g->words, *weight = count + g->stride;

	for (uint32_t k = 0; k < of->n; k++) {
		const uint32_t i = of->from + k;
		const uint8_t fate = each_step ? (uint8_t)SL_SCORE_ROW : c->fate[i];
		uint32_t at = fate < SL_FATE_COUNT ? g->first[fate] : SL_NO_GRID_COUNTER;

		if (at == SL_NO_GRID_COUNTER)
			continue;
		at += even ? sl_grid_axis_bin(&axis, NULL, NULL, c, i)
		           : sl_grid_cell(g, r->grids.edge, c, i);
		count[at]++;
		if (!r->grids.weighted || each_step)
			continue;
		weight[at] += of->weight[k];
		weight[g->stride + at] += of->square[k];
	}
}

/* Not inlined: the loop for one EVEN axis is faster in its own function. */
static __attribute__((noinline)) void count_even(
	const struct sl_recipe *r, const struct sl_grid_rule *g, const struct group *of)
{
	count_tally(r, g, true, false, of);
}

static void count_tallies(const struct sl_recipe *r, const struct group *of)
{
	for (uint32_t k = 0; k < r->grids.n; k++) {
		const struct sl_grid_rule *g = &r->grids.grid[k];

		if (g->score != SL_SCORE_ENDS)
			continue;
		if (g->n_axes == 1 && g->axis[0].spacing == SL_SPACING_EVEN)
			count_even(r, g, of);
		else
			count_tally(r, g, false, false, of);
	}
}

/* How many of n fates, at most GROUP, are f. Compilers vectorise a sum of bytes best. */
static uint8_t count_fate(const uint8_t *fate, uint32_t n, uint8_t f)
{
	uint8_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count = (uint8_t)(count + (fate[i] == f));
	return count;
}

/* The sum of the weights, or squares, of those of n particles, at most GROUP, whose fate is f. */
static uint64_t sum_weights(const uint8_t *fate, const uint64_t *weight, uint32_t n, uint8_t f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += fate[i] == f ? weight[i] : 0;
	return sum;
}

/* Sets keep[i] to whether a fate is in a set. */
static void keep_fates(const uint8_t *fate, uint32_t n, sl_fate_set set, uint8_t *keep)
{
	memset(keep, 0, n);
	for (uint8_t f = 0; f < SL_FATE_COUNT; f++)
		for (uint32_t i = 0; SL_HAS(set, f) && i < n; i++)
			keep[i] |= fate[i] == f;
}

/* Counts a group by fate. A fate that does not exist is not counted, as in count_tally(). */
static void count_fates(const struct sl_recipe *r, struct group *of)
{
	const uint8_t *fate = of->b->columns.fate + of->from;
	const bool weighted = sl_sums_weights(r);
	const float scale = sl_weight_scale(r), square_scale = sl_square_scale(r);
	const uint64_t one = sl_common_weight(r);
	struct sl_tally *t = &of->b->tally;

	for (uint32_t k = 0; (weighted || r->grids.weighted) && k < of->n; k++) {
		const float weight = of->b->columns.weight[of->from + k];

		of->weight[k] = sl_fixed_weight(weight * scale);
		of->square[k] = sl_fixed_square(weight * square_scale);
	}
	for (uint8_t f = 0; f < SL_FATE_COUNT; f++) {
		uint8_t count = count_fate(fate, of->n, f);

		if (count == 0)
			continue;
		t->count[f] += count;
		t->weight[f] += weighted ? sum_weights(fate, of->weight, of->n, f) : count * one;
		t->square[f] += weighted ? sum_weights(fate, of->square, of->n, f) : 0;
	}
}

/* Not inlined: only runs with a program use its large stack. */
static __attribute__((noinline)) void execute(
	const struct sl_program *p, const struct sl_batch *b, uint32_t from, uint32_t to)
{
	sl_program_range(p, &b->columns, b->first_id, from, to);
}

void SL_AT_LEVEL(sl_loop_count_step)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	const struct group all = {.b = b, .from = from, .n = to - from};

	for (uint32_t k = 0; k < r->grids.n; k++)
		if (r->grids.grid[k].score == SL_SCORE_EACH_STEP)
			count_tally(r, &r->grids.grid[k], false, true, &all);
}

void SL_AT_LEVEL(sl_loop_mark)(
	const struct sl_recipe *r, struct sl_batch *b, uint32_t from, uint32_t to)
{
	const struct sl_columns *c = &b->columns;
	struct sl_tally *t = &b->tally;
	struct group group = {.b = b};

	if (r->derivation.n > 0)
		execute(&r->derivation, b, from, to);
	if (r->condition.n > 0)
		execute(&r->condition, b, from, to);
	keep_fates(c->fate + from, to - from, r->keep, b->keep + from);
	for (group.from = from; group.from < to; group.from += GROUP) {
		group.n = to - group.from < GROUP ? to - group.from : (uint32_t)GROUP;
		count_fates(r, &group);
		count_tallies(r, &group);
	}
	for (uint32_t i = from; c->steps && i < to; i++)
		t->steps += c->steps[i];
	for (uint32_t i = from; c->collisions && i < to; i++)
		t->collisions += c->collisions[i];
}
