/* grid.c - checks the axes of grids, makes their rules, and checks their counts. */
#include "stages/selection/grid.h"

#include <float.h>
#include <math.h>

/* The even axis of the same column and range, as histogram.h checks and makes it. */
static struct sl_histogram_axis even_axis(const struct sl_grid_axis *a)
{
	return (struct sl_histogram_axis){.column = a->column,
		.bins = a->spacing == SL_SPACING_EVEN ? a->bins : 1,
		.fates = 1,
		.lo = a->lo,
		.hi = a->hi};
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
	const struct sl_histogram_axis even = even_axis(a);
	const char *flaw;

	if (a->spacing != SL_SPACING_EVEN && sl_column_facts[a->column].type != SL_TYPE_F32)
		return "is of a column of whole numbers, which has bins of equal width only";
	if (a->spacing == SL_SPACING_EDGES)
		return edges_flaw(a, edge);
	flaw = sl_histogram_problem(&even);
	return flaw || a->spacing == SL_SPACING_EVEN ? flaw : ratio_flaw(a);
}

static uint64_t product(uint64_t a, uint64_t b)
{
	return a > 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

uint64_t sl_grid_cells(const struct sl_grid_field *f)
{
	uint64_t cells = 1;

	for (uint32_t k = 0; k < f->n_axes; k++)
		cells = product(cells, f->axis[k].bins);
	return cells;
}

uint64_t sl_grid_counters(const struct sl_grid_field *f)
{
	uint64_t cells = sl_grid_cells(f), rows = 0;

	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		rows += SL_HAS(f->fates, fate);
	return product(
		rows, cells < UINT64_MAX - SL_GRID_OUTSIDE ? cells + SL_GRID_OUTSIDE : cells);
}

sl_column_set sl_grid_columns(const struct sl_grid_field *f)
{
	sl_column_set set = 0;

	for (uint32_t k = 0; k < f->n_axes; k++)
		set |= SL_BIT(f->axis[k].column);
	return set;
}

static struct sl_grid_axis_rule make_axis(const struct sl_grid_axis *a)
{
	const struct sl_histogram_axis even = even_axis(a);
	struct sl_grid_axis_rule rule = {.even = sl_histogram_make(&even, 1, false).tally[0],
		.spacing = a->spacing,
		.first_edge = a->first_edge};

	rule.even.bins = a->bins;
	rule.width = (float)((a->hi - a->lo) / a->bins);
	if (a->spacing == SL_SPACING_RATIO) {
		rule.log_lo = sl_log((float)a->lo);
		rule.scale = (float)a->bins / (sl_log((float)a->hi) - rule.log_lo);
	}
	return rule;
}

/* Makes the rule of a grid whose first counter has the number first. */
static void make_grid(const struct sl_grid_field *f, uint32_t first, struct sl_grid_rule *g)
{
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
}

void sl_grid_make(const struct sl_grid_field *field, uint32_t n, const double *edge, bool weighted,
	struct sl_grid_set *g)
{
	*g = (struct sl_grid_set){.n = n, .weighted = weighted};
	for (uint32_t k = 0; k < n; k++) {
		make_grid(&field[k], g->n_counters, &g->grid[k]);
		g->n_counters += (uint32_t)sl_grid_counters(&field[k]);
		g->columns |= sl_grid_columns(&field[k]);
		g->scored |= field[k].score != SL_SCORE_ENDS;
		g->ends |= field[k].score == SL_SCORE_ENDS;
		g->flights |= sl_scores_flights(field[k].score);
	}
	for (uint32_t k = 0; n > 0 && k < SL_GRID_EDGES_MAX; k++)
		g->edge[k] = (float)edge[k];
	g->copies = SL_GRID_COPIES_MAX;
	while (g->copies > 1 && g->copies * sl_grid_words(g) > SL_GRID_COPY_WORDS_MAX)
		g->copies /= 2;
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
	const struct sl_grid_rule *g, const uint64_t *sum, uint64_t steps, uint64_t collisions)
{
	uint64_t all = 0;

	if (sl_scores_collisions(g))
		return adds_up(g, sum, SL_SCORE_ROW, collisions)
		               ? NULL
		               : "do not add up to the collisions of the batch";
	for (uint32_t i = 0; i < g->counters; i++)
		all += sum[g->base + i];
	if (g->score == SL_SCORE_TRACK)
		return all >= steps ? NULL : "have fewer pieces of paths than the batch has steps";
	return all <= steps ? NULL : "have more crossings than the batch has steps";
}

const char *sl_grid_score_problem(
	const struct sl_grid_set *g, const uint64_t *sum, uint64_t steps, uint64_t collisions)
{
	for (uint32_t k = 0; k < g->n; k++) {
		const struct sl_grid_rule *rule = &g->grid[k];
		const char *flaw;

		if (rule->score == SL_SCORE_ENDS)
			continue;
		flaw = counts_flaw(rule, sum, steps, collisions);
		if (flaw)
			return flaw;
		for (uint32_t i = 0; i < rule->counters; i++)
			if (sum[rule->base + i] > UINT32_MAX)
				return "have 2^32 counts or more in one cell, whose sum could "
				       "overflow: choose a smaller run.batch";
	}
	return NULL;
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

			if (rule->first[f] == SL_NO_GRID_COUNTER || rule->score != SL_SCORE_ENDS)
				continue;
			for (uint32_t s = 0; s < sums; s++)
				if (!adds_up(rule, sum + (uint64_t)s * g->n_counters, f, all[s][f]))
					return (enum sl_fate)f;
		}
	return SL_FATE_COUNT;
}
