/*
 * grid.h - tallies of one to four axes: how many particles, and how much weight, ended in each
 * cell. All particles are counted, not only the survivors.
 *
 * An axis has bins of equal width, bins of equal ratio, or bins between given edges. A tally of
 * several axes has a cell for each combination of bins; the bins of the last axis are neighbours.
 * Each fate has a row of counters: | below | cells | above |. A particle with a value outside of
 * the range of an axis counts below or above, as its value is; the first such axis decides. So each
 * particle of the fate is in exactly one counter, and the row adds up to the count of the fate.
 *
 * Columns of real numbers: the last bin includes the upper end of the range; NaN counts as below. A
 * subtraction and a multiplication in single precision decide, so that a value within rounding of
 * an edge may count on either side of it, but on the same side on every machine. Bins of equal ratio
 * are bins of equal width of the logarithm. A bin between given edges contains its lower edge; the
 * last one contains both. Columns of whole numbers: each bin has the same number of values, and the
 * upper end is the first value above the range.
 *
 * All sums are integers, so their order does not matter: the counts, then the sums of weights and
 * of squared weights as fixed-point numbers (weight.h), if weights differ.
 *
 *	| counts | weights or scores, if any | squares, if any |
 *
 *	counts of a tally, one row per fate:   | below | cells | above | below | cells | above | ...
 *
 * On a device the counters are in the shared memory of thread blocks where they fit (struct
 * sl_block_grids; scores: collision_score.cuh), otherwise in global memory.
 */
#ifndef SL_STAGES_SELECTION_GRID_H
#define SL_STAGES_SELECTION_GRID_H

#include "stages/particle/math.h"
#include "stages/particle/weight.h"
#include "stages/selection/grid_rule.h"

SL_C_BEGIN

/* The number of 64-bit counters of a batch, sums included. */
SL_HD uint64_t sl_grid_words(const struct sl_grid_set *g)
{
	return (uint64_t)g->part[0].words + g->part[1].words;
}

/* The bin, from 0, of a value from lo to hi. */
SL_HD uint32_t sl_bin_within(const struct sl_even_rule *t, float value)
{
	uint32_t bin = (uint32_t)((value - t->lo) * t->scale);

	return bin < t->bins ? bin : t->bins - 1;
}

/* The counter within a row that a value belongs to: 0 is below, bins + 1 above. */
SL_HD uint32_t sl_bin_of_float(const struct sl_even_rule *t, float value)
{
	if (!(value >= t->lo))
		return 0;
	if (value > t->hi)
		return t->bins + 1;
	return sl_bin_within(t, value) + 1;
}

SL_HD uint32_t sl_bin_of_integer(const struct sl_even_rule *t, uint32_t value)
{
	uint32_t bin;

	if (value < t->base)
		return 0;
	bin = (value - t->base) / t->width;
	return bin < t->bins ? bin + 1 : t->bins + 1;
}

/* The place of a value among bins + 1 ascending edges, as sl_bin_of_float() numbers it. */
SL_HD uint32_t sl_bin_by_edges(const float *edge, uint32_t bins, float value)
{
	uint32_t low = 0, high = bins;

	if (!(value >= edge[0]))
		return 0;
	if (value > edge[bins])
		return bins + 1;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (value >= edge[middle])
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

/* The bin of equal ratio. */
SL_HD uint32_t sl_bin_by_ratio(const struct sl_grid_axis_rule *a, float value)
{
	uint32_t bins = a->even.bins, bin;
	float at;

	if (!(value >= a->even.lo))
		return 0;
	if (value > a->even.hi)
		return bins + 1;
	at = (sl_log(value) - a->log_lo) * a->scale;
	bin = at > 0 ? (uint32_t)at : 0;
	return bin < bins ? bin + 1 : bins;
}

/* The bin of a real value on an axis. */
SL_HD uint32_t sl_grid_bin_of_float(
	const struct sl_grid_axis_rule *a, const float *edge, float value)
{
	if (a->spacing == SL_SPACING_EDGES)
		return sl_bin_by_edges(edge + a->first_edge, a->even.bins, value);
	if (a->spacing == SL_SPACING_RATIO)
		return sl_bin_by_ratio(a, value);
	return sl_bin_of_float(&a->even, value);
}

/* The distance of a collision from the z axis. */
SL_HD float sl_grid_radius(float x, float y)
{
	return sqrtf(fmaf(x, x, y * y));
}

/*
 * The bin of particle i on an axis; a is NULL if it is EVEN, as the axes of sl_block_grids are: the
 * compiler then leaves the other cases out.
 */
SL_HD_PART uint32_t sl_grid_axis_bin(const struct sl_even_rule *even,
	const struct sl_grid_axis_rule *a, const float *edge, const struct sl_columns *c,
	uint64_t i)
{
	switch (even->column) {
#define sl_grid_float(name) \
	(a ? sl_grid_bin_of_float(a, edge, c->name[i]) : sl_bin_of_float(even, c->name[i]))
#define sl_grid_uint32_t(name) sl_bin_of_integer(even, c->name[i])
#define sl_grid_uint8_t(name)  sl_bin_of_integer(even, c->name[i])
#define sl_grid_int32_t(name)  sl_bin_of_integer(even, (uint32_t)c->name[i] ^ UINT32_C(1) << 31)
#define sl_grid_uint64_t(name) 0 /* id, which is not tallied */
#define COLUMN(name, type, unit, record, component, help) \
	case SL_COLUMN_##name:                            \
		return sl_grid_##type(name);
#include "stages/particle/columns.def"
#undef COLUMN
	case SL_COLUMN_COUNT:
		break;
	}
	return 0;
}

/* The counter in a thread block of particle i, which has the given fate, or SL_NO_BLOCK_COUNTER. */
SL_HD uint32_t sl_block_grid_find(
	const struct sl_block_grid *g, const struct sl_columns *c, uint64_t i, uint8_t fate)
{
	if (g->first[fate] == SL_NO_BLOCK_COUNTER)
		return SL_NO_BLOCK_COUNTER;
	return g->first[fate] + sl_grid_axis_bin(&g->axis, NULL, NULL, c, i);
}

/*
 * Adds the bin on axis k to *cell, the cell of the axes before k. If the axis has no cell for the
 * bin, returns false, and *cell is the counter within the row: 0 is below, cells + 1 above.
 */
SL_HD bool sl_grid_add_bin(const struct sl_grid_rule *g, uint32_t k, uint32_t bin, uint32_t *cell)
{
	const uint32_t bins = g->axis[k].even.bins;
	const bool inside = bin > 0 && bin <= bins;

	*cell = inside ? *cell * bins + bin - 1 : bin == 0 ? 0 : g->cells + 1;
	return inside;
}

/* The counter within a row: 0 is below, cells + 1 above. */
SL_HD uint32_t sl_grid_cell(
	const struct sl_grid_rule *g, const float *edge, const struct sl_columns *c, uint64_t i)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < g->n_axes; k++)
		if (!sl_grid_add_bin(g, k,
			    sl_grid_axis_bin(&g->axis[k].even, &g->axis[k], edge, c, i), &cell))
			return cell;
	return cell + 1;
}

/* The score of a collision in units of 2^(score_shift - 32): an integer of at most 2^32. */
SL_HD uint64_t sl_score_fixed(const struct sl_grid_rule *g, float deposit, float fluence)
{
	return sl_fixed_weight((g->score == SL_SCORE_DEPOSIT ? deposit : fluence) * g->score_scale);
}

/* The most counters of sl_block_grids. */
static inline uint32_t sl_block_counters_most(bool weighted)
{
	return SL_BLOCK_GRIDS_BYTES /
	       (uint32_t)(sizeof(uint32_t) + (weighted ? sizeof(uint64_t) : 0));
}

/* Whether the sums of squares of a thread block are in shared memory. */
SL_HD bool sl_block_squares_shared(const struct sl_block_grids *b)
{
	return b->weighted && b->n_counters <= SL_BLOCK_SQUARES;
}

/* Bytes of shared memory for the counters of a thread block. */
static inline uint32_t sl_block_grids_bytes(const struct sl_block_grids *b)
{
	uint32_t sums = b->weighted + sl_block_squares_shared(b);

	return b->n_counters * (uint32_t)(sizeof(uint32_t) + sums * sizeof(uint64_t));
}

/* What is wrong with an axis, as the end of a sentence; NULL if nothing is. edge has its edges. */
const char *sl_grid_axis_problem(const struct sl_grid_axis *a, const double *edge);

/* The number of cells of a row, and of counts of a tally; both saturate at UINT64_MAX. */
uint64_t sl_grid_cells(const struct sl_grid_field *f);
uint64_t sl_grid_counters(const struct sl_grid_field *f);

/*
 * Makes the rules of n tallies, whose counts must not exceed SL_GRID_COUNTERS_MAX; those without
 * brackets come first.
 */
void sl_grid_make(const struct sl_grid_field *field, uint32_t n, const double *edge, bool weighted,
	struct sl_grid_set *g);

/*
 * Edge k of an axis, from 0 to bins. Bins of equal ratio have the edges lo (hi/lo)^(k/bins), with a
 * relative error below 1e-9.
 */
double sl_grid_edge(const struct sl_grid_axis *a, const double *edge, uint32_t k);

/*
 * Checks the scores of a batch with so many steps and collisions: each collision is in one counter
 * of each score of collisions, each step has at least one piece of path and crosses a plane at most
 * once, each step of a filter is in one counter, and no counter of a sum has 2^32 of them, so that no sum can overflow. Returns what is wrong; NULL
 * if nothing is.
 */
const char *sl_grid_score_problem(
	const struct sl_grid_set *g, const uint64_t *sum, uint64_t steps, uint64_t collisions);

/*
 * Checks that each row of the counters sum adds up to the count of its fate, and its sums to all of
 * the fate. Returns a fate for which it does not, or SL_FATE_COUNT.
 */
enum sl_fate sl_grid_mismatch(const struct sl_grid_set *g, const uint64_t *sum,
	const uint64_t count[SL_FATE_COUNT], const uint64_t weight[SL_FATE_COUNT],
	const uint64_t square[SL_FATE_COUNT]);

SL_C_END

#endif
