/* grid.c - checks the axes of grids, makes their rules, and checks their counts. */
#include "stages/selection/grid.h"

#include <float.h>
#include <math.h>

#include "primitives/base/size.h"

/* Columns of real numbers are all single precision; the others are whole numbers. */
static bool is_float(enum sl_column column)
{
	return sl_column_facts[column].type == SL_TYPE_F32;
}

/*
 * Whether a value is a whole number that a column of 32 bits, from least on, can hold, or one more.
 */
static bool is_whole(double value, double least)
{
	return value >= least && value - least <= 0x1p32 && value == floor(value);
}

/*
 * Checks the range as the rule sees it: in single precision, where no bin may overflow or vanish.
 */
static const char *float_flaw(const struct sl_grid_axis *f)
{
	uint32_t bins = f->spacing == SL_SPACING_EVEN ? f->bins : 1;
	double scale = bins / (f->hi - f->lo);

	if (!(f->hi - f->lo <= FLT_MAX) || !(fabs(f->lo) <= FLT_MAX) || !(fabs(f->hi) <= FLT_MAX))
		return "is not finite in single precision, the type of the column";
	if (!((float)f->lo < (float)f->hi))
		return "is empty: its first end must be below its second";
	return scale <= FLT_MAX && scale >= FLT_MIN
	               ? NULL
	               : "cannot be divided into that many bins in single precision";
}

/*
 * Checks the range of a column of whole numbers. Bins must have equally many numbers, or the counts
 * of neighbouring bins could not be compared.
 */
static const char *integer_flaw(const struct sl_grid_axis *f)
{
	double least = sl_least_whole(f->column);

	if (!is_whole(f->lo, least) || !is_whole(f->hi, least))
		return SL_NOT_WHOLE(least);
	if (!(f->lo < f->hi))
		return "is empty: its first end must be below its second";
	if ((f->hi - f->lo) / f->bins >= 0x1p32)
		return "has bins of 2^32 or more integers";
	return fmod(f->hi - f->lo, f->bins) == 0
	               ? NULL
	               : "cannot be divided into equal bins: the number of integers from its start "
	                 "to before its end is no multiple of the number of bins";
}

/* Checks given edges in single precision, in which values are compared with them. */
static const char *edges_flaw(const struct sl_grid_axis *a, const double *edge)
{
	for (uint32_t k = 0; k <= a->bins; k++)
		if (!(fabs(edge[a->first_edge + k]) <= FLT_MAX))
			return "is not finite in single precision, the type of the column";
	for (uint32_t k = 0; k < a->bins; k++)
		if (!((float)edge[a->first_edge + k] < (float)edge[a->first_edge + k + 1]))
			return "has an edge that is not above the one before it (in single "
			       "precision)";
	return NULL;
}

/* Bins narrower than the rounding of a logarithm could stay empty. */
static const char *ratio_flaw(const struct sl_grid_axis *a)
{
	double range = log(a->hi / a->lo), magnitude = fmax(fabs(log(a->lo)), fabs(log(a->hi)));

	if (!(a->lo >= FLT_MIN))
		return "must begin above 0 (at 1.2e-38 or more) for bins of equal ratio";
	return range / a->bins > 16 * magnitude * FLT_EPSILON
	               ? NULL
	               : "cannot be divided into that many bins of equal ratio in single precision";
}

const char *sl_grid_axis_problem(const struct sl_grid_axis *a, const double *edge)
{
	const char *flaw;

	if (a->spacing != SL_SPACING_EVEN && !is_float(a->column))
		return "is of a column of whole numbers, which has bins of equal width only";
	if (a->spacing == SL_SPACING_EDGES)
		return edges_flaw(a, edge);
	flaw = is_float(a->column) ? float_flaw(a) : integer_flaw(a);
	return flaw || a->spacing == SL_SPACING_EVEN ? flaw : ratio_flaw(a);
}

uint64_t sl_grid_cells(const struct sl_grid_field *f)
{
	uint64_t cells = 1;

	for (uint32_t k = 0; k < f->n_axes; k++)
		cells = sl_size_mul(cells, f->axis[k].bins);
	return cells;
}

uint64_t sl_grid_counters(const struct sl_grid_field *f)
{
	uint64_t cells = sl_grid_cells(f), rows = 0;

	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		rows += SL_HAS(f->fates, fate);
	return sl_size_mul(
		rows, cells < UINT64_MAX - SL_GRID_OUTSIDE ? cells + SL_GRID_OUTSIDE : cells);
}

static struct sl_even_rule make_even(const struct sl_grid_axis *a)
{
	struct sl_even_rule t = {.column = a->column, .bins = a->bins};

	if (is_float(a->column)) {
		t.lo = (float)a->lo;
		t.hi = (float)a->hi;
		t.scale = (float)(a->bins / (a->hi - a->lo));
	} else {
		t.base = (uint32_t)(a->lo - sl_least_whole(a->column));
		t.width = (uint32_t)((a->hi - a->lo) / a->bins);
	}
	return t;
}

static struct sl_grid_axis_rule make_axis(const struct sl_grid_axis *a)
{
	struct sl_grid_axis_rule rule = {
		.even = make_even(a), .spacing = a->spacing, .first_edge = a->first_edge};

	rule.width = (float)((a->hi - a->lo) / a->bins);
	if (a->spacing == SL_SPACING_RATIO) {
		rule.log_lo = sl_log((float)a->lo);
		rule.scale = (float)a->bins / (sl_log((float)a->hi) - rule.log_lo);
	}
	return rule;
}

/* Makes the rule of a tally, and adds its counters to those of its part. */
static void make_grid(
	const struct sl_grid_field *f, struct sl_grid_part *part, struct sl_grid_rule *g)
{
	uint32_t first = part->counters;

	g->n_axes = f->n_axes;
	g->cells = (uint32_t)sl_grid_cells(f);
	g->score = f->score;
	g->score_shift = f->score_shift;
	g->score_scale = ldexpf(1, -f->score_shift);
	g->plane = (float)f->plane;
	g->base = first;
	g->counters = (uint32_t)sl_grid_counters(f);
	for (uint32_t k = 0; k < f->n_axes; k++)
		g->axis[k] = make_axis(&f->axis[k]);
	for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
		bool counted = SL_HAS(f->fates, fate);

		g->first[fate] = counted ? first : SL_NO_GRID_COUNTER;
		first += counted ? g->cells + SL_GRID_OUTSIDE : 0;
	}
	part->counters = first;
}

/* Adds a tally to those of a thread block, if it is one of them and fits. */
static void put_in_block(struct sl_grid_rule *g, bool weighted, struct sl_block_grids *block)
{
	struct sl_block_grid *to = &block->grid[block->n];

	g->in_block = g->score == SL_SCORE_ENDS && g->n_axes == 1 &&
	              g->axis[0].spacing == SL_SPACING_EVEN && block->n < SL_BLOCK_GRIDS_MAX &&
	              g->counters <= sl_block_counters_most(weighted) - block->n_counters;
	if (!g->in_block)
		return;
	*to = (struct sl_block_grid){.axis = g->axis[0].even,
		.in_block = block->n_counters,
		.counters = g->counters,
		.first_word = g->words + g->base,
		.stride = g->stride};
	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		to->first[fate] =
			(uint16_t)(g->first[fate] == SL_NO_GRID_COUNTER
					   ? SL_NO_BLOCK_COUNTER
					   : block->n_counters + g->first[fate] - g->base);
	block->n++;
	block->n_counters += g->counters;
}

/* Sets where the counters of the tallies are: in a batch, and on a device. */
static void place(const struct sl_grid_field *field, struct sl_grid_set *g)
{
	g->block.weighted = g->weighted;
	g->part[0].words = g->part[0].counters * (g->weighted ? 3 : 1);
	g->part[1].words = g->part[1].counters * (g->weighted ? 3 : g->scored ? 2 : 1);
	for (uint32_t k = 0; k < g->n; k++) {
		struct sl_grid_rule *rule = &g->grid[k];

		rule->stride = g->part[field[k].bracketed].counters;
		rule->skip = field[k].bracketed ? g->part[0].counters : 0;
		rule->words = field[k].bracketed ? g->part[0].words : 0;
		put_in_block(rule, g->weighted, &g->block);
		g->ends |= rule->score == SL_SCORE_ENDS && !rule->in_block;
	}
	g->copies = g->ends || g->scored || g->each_step ? SL_GRID_COPIES_MAX : 0;
	while (g->copies > 1 && g->copies * sl_grid_words(g) > SL_GRID_COPY_WORDS_MAX)
		g->copies /= 2;
}

void sl_grid_make(const struct sl_grid_field *field, uint32_t n, const double *edge, bool weighted,
	struct sl_grid_set *g)
{
	*g = (struct sl_grid_set){.n = n, .weighted = weighted};
	for (uint32_t k = 0; k < n; k++) {
		make_grid(&field[k], &g->part[field[k].bracketed], &g->grid[k]);
		g->scored |=
			field[k].score != SL_SCORE_ENDS && field[k].score != SL_SCORE_EACH_STEP;
		g->each_step |= field[k].score == SL_SCORE_EACH_STEP;
		g->flights |= sl_scores_flights(field[k].score);
		for (uint32_t i = 0; i < field[k].n_axes; i++)
			g->columns |= SL_BIT(field[k].axis[i].column);
	}
	for (uint32_t k = 0; n > 0 && k < SL_GRID_EDGES_MAX; k++)
		g->edge[k] = (float)edge[k];
	place(field, g);
}

/* x^n by products only, which IEEE 754 rounds in one way: pow() differs between libraries. */
static double power(double x, uint32_t n)
{
	double result = 1;

	for (; n > 0; n /= 2, x *= x)
		if (n % 2)
			result *= x;
	return result;
}

/*
 * The n-th root of a ratio above 1, by bisection: the largest double whose power is not above it.
 */
static double root(double ratio, uint32_t n)
{
	double low = 1, high = ratio;

	for (;;) {
		double middle = low + (high - low) / 2;

		if (!(middle > low) || !(middle < high))
			return low;
		if (power(middle, n) <= ratio)
			low = middle;
		else
			high = middle;
	}
}

double sl_grid_edge(const struct sl_grid_axis *a, const double *edge, uint32_t k)
{
	if (a->spacing == SL_SPACING_EDGES)
		return edge[a->first_edge + k];
	if (k == a->bins)
		return a->hi;
	if (a->spacing == SL_SPACING_EVEN)
		return a->lo + (a->hi - a->lo) * k / a->bins;
	return a->lo * power(root(a->hi / a->lo, a->bins), k);
}

/* Whether the counters of a row add up to the sum of its fate, modulo 2^64. */
static bool adds_up(const struct sl_grid_rule *g, const uint64_t *sum, int fate, uint64_t all)
{
	for (uint32_t i = 0; i < g->cells + SL_GRID_OUTSIDE; i++)
		all -= sum[g->first[fate] + i];
	return all == 0;
}

/* What is wrong with the counts of a score, as the end of a sentence; NULL if nothing is. */
static const char *counts_flaw(
	const struct sl_grid_rule *g, const uint64_t *count, uint64_t steps, uint64_t collisions)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < g->counters; i++) {
		if (count[g->base + i] > UINT32_MAX && g->score != SL_SCORE_EACH_STEP)
			return "have 2^32 counts or more in one cell, whose sum could overflow: "
			       "choose a smaller run.batch";
		all += count[g->base + i];
	}
	if (sl_scores_collisions(g))
		return all == collisions ? NULL : "do not add up to the collisions of the batch";
	if (g->score == SL_SCORE_TRACK)
		return all >= steps ? NULL : "have fewer pieces of paths than the batch has steps";
	if (g->score == SL_SCORE_EACH_STEP)
		return all == steps ? NULL : "do not add up to the steps of the batch";
	return all <= steps ? NULL : "have more crossings than the batch has steps";
}

const char *sl_grid_score_problem(
	const struct sl_grid_set *g, const uint64_t *sum, uint64_t steps, uint64_t collisions)
{
	const char *flaw = NULL;

	for (uint32_t k = 0; k < g->n && !flaw; k++)
		if (g->grid[k].score != SL_SCORE_ENDS)
			flaw = counts_flaw(&g->grid[k], sum + g->grid[k].words, steps, collisions);
	return flaw;
}

enum sl_fate sl_grid_mismatch(const struct sl_grid_set *g, const uint64_t *sum,
	const uint64_t count[SL_FATE_COUNT], const uint64_t weight[SL_FATE_COUNT],
	const uint64_t square[SL_FATE_COUNT])
{
	const uint64_t *const all[] = {count, weight, square};
	const uint32_t sums = g->weighted ? 3 : 1;

	for (uint32_t k = 0; k < g->n; k++)
		for (int f = 0; f < SL_FATE_COUNT; f++) {
			const struct sl_grid_rule *rule = &g->grid[k];
			const uint64_t *of = sum + rule->words;

			if (rule->first[f] == SL_NO_GRID_COUNTER || rule->score != SL_SCORE_ENDS)
				continue;
			for (uint32_t s = 0; s < sums; s++)
				if (!adds_up(rule, of + (uint64_t)s * rule->stride, f, all[s][f]))
					return (enum sl_fate)f;
		}
	return SL_FATE_COUNT;
}
