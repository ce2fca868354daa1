/*
 * grid.c - tests grids: bins of equal ratio and between given edges, the order of cells, and whole
 * batches counted again from their particles.
 */
#include "stages/selection/grid.h"

#include <stdlib.h>

#include "stages/counting/grid.h"
#include "stages/particle/random.h"
#include "stages/host/batch_layout.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

static const double pool[SL_GRID_EDGES_MAX] = {-1, -0.25, 0.5, 0.75, 1};

/* A grid of one axis of a real column. */
static struct sl_grid_field field(enum sl_spacing spacing, uint32_t bins, double lo, double hi)
{
	struct sl_grid_field f = {.n_axes = 1, .fates = SL_FATE_BIT(SL_FATE_hit)};

	f.axis[0] = (struct sl_grid_axis){
		.column = SL_COLUMN_w, .spacing = spacing, .bins = bins, .lo = lo, .hi = hi};
	return f;
}

static struct sl_grid_set make(const struct sl_grid_field *f, uint32_t n, bool weighted)
{
	struct sl_grid_set g;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < f[k].n_axes; a++)
			assert_null(sl_grid_axis_problem(&f[k].axis[a], pool));
	sl_grid_make(f, n, pool, weighted, 1, &g);
	return g;
}

static uint32_t bin_of(const struct sl_grid_set *g, float value)
{
	return sl_grid_bin_of_float(&g->grid[0].axis[0], g->edge, value);
}

/* --- axes ------------------------------------------------------------------------------------- */

TEST(given_edges_are_exact)
{
	struct sl_grid_field f = field(SL_SPACING_EDGES, 4, -1, 1);
	struct sl_grid_set g = make(&f, 1, false);

	assert_int_equal(bin_of(&g, nextafterf(-1, -2)), 0);
	assert_int_equal(bin_of(&g, -1), 1);
	assert_int_equal(bin_of(&g, nextafterf(-0.25f, -1)), 1);
	assert_int_equal(bin_of(&g, -0.25f), 2);
	assert_int_equal(bin_of(&g, 0.5f), 3);
	assert_int_equal(bin_of(&g, 0.75f), 4);
	assert_int_equal(bin_of(&g, 1), 4); /* the end of the range is in it */
	assert_int_equal(bin_of(&g, nextafterf(1, 2)), 5);
	assert_int_equal(bin_of(&g, NAN), 0);
	f = field(SL_SPACING_EDGES, 1, 0.5, 0.75);
	f.axis[0].first_edge = 2;
	g = make(&f, 1, false);
	assert_int_equal(bin_of(&g, 0.4f), 0);
	assert_int_equal(bin_of(&g, 0.6f), 1);
	assert_int_equal(bin_of(&g, 0.8f), 2);
}

/* Edges that are computed for the reader are those that the rule uses, within rounding. */
TEST(bins_of_equal_ratio_follow_their_edges)
{
	static const double ranges[][2] = {{1e-3, 1e3}, {0.5, 0.75}, {1e-30, 1e30}, {2, 1e6}};

	for (int k = 0; k < 4; k++)
		for (uint32_t bins = 1; bins < 1000; bins = 3 * bins + 1) {
			struct sl_grid_field f =
				field(SL_SPACING_RATIO, bins, ranges[k][0], ranges[k][1]);
			struct sl_grid_set g = make(&f, 1, false);
			double ratio = pow(ranges[k][1] / ranges[k][0], 1.0 / bins);

			for (uint32_t i = 0; i <= bins; i++) {
				double edge = sl_grid_edge(&f.axis[0], pool, i);

				assert_true(fabs(edge / (ranges[k][0] * pow(ratio, i)) - 1) < 1e-9);
				if (i < bins)
					assert_int_equal(
						bin_of(&g, (float)(edge * sqrt(ratio))), i + 1);
			}
			assert_int_equal(bin_of(&g, (float)ranges[k][0]), 1);
			assert_int_equal(bin_of(&g, (float)ranges[k][1]), bins);
			assert_int_equal(
				bin_of(&g, nextafterf((float)ranges[k][1], INFINITY)), bins + 1);
			assert_int_equal(bin_of(&g, 0), 0);
			assert_int_equal(bin_of(&g, -1), 0);
			assert_int_equal(bin_of(&g, NAN), 0);
		}
}

TEST(even_bins_are_those_of_histograms)
{
	struct sl_grid_field f = field(SL_SPACING_EVEN, 7, -0.3, 0.9);
	const struct sl_histogram_axis h = {SL_COLUMN_w, 7, 1, -0.3, 0.9};
	struct sl_histogram_set b = sl_histogram_make(&h, 1, false);
	struct sl_grid_set g = make(&f, 1, false);

	for (uint64_t i = 0; i < 5000; i++) {
		float v = 2 * sl_uniform(sl_draw(3, i, 0).at[0]) - 1;

		assert_int_equal(bin_of(&g, v), sl_bin_of_float(&b.tally[0], v));
	}
	for (uint32_t i = 0; i <= 7; i++)
		assert_true(fabs(sl_grid_edge(&f.axis[0], pool, i) - (-0.3 + 1.2 * i / 7)) < 1e-15);
}

TEST(invalid_axes_are_reported)
{
	static const double edges[SL_GRID_EDGES_MAX] = {0, 1, 1, 2, (double)INFINITY};
	static const struct {
		struct sl_grid_axis axis;
		const char *why;
	} bad[] = {
		{{SL_COLUMN_w, SL_SPACING_EDGES, 2, 0, 1, 0}, "not above the one before"},
		{{SL_COLUMN_w, SL_SPACING_EDGES, 1, 0, 1, 3}, "not finite"},
		{{SL_COLUMN_steps, SL_SPACING_EDGES, 1, 0, 1, 0}, "whole numbers"},
		{{SL_COLUMN_steps, SL_SPACING_RATIO, 1, 1, 2, 0}, "whole numbers"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 4, 0, 1, 0}, "must begin above 0"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 1 << 20, 1, 2, 0}, "cannot be divided"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 4, 2, 1, 0}, "empty"},
		{{SL_COLUMN_w, SL_SPACING_EVEN, 4, 2, 1, 0}, "empty"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = sl_grid_axis_problem(&bad[i].axis, edges);

		if (!why || !strstr(why, bad[i].why))
			fail_msg("case %zu: %s", i, why ? why : "no flaw");
	}
}

/* --- rows ------------------------------------------------------------------------------------- */

/* r in 2 bins, w in 3, steps in 4. */
static struct sl_grid_field three_axes(void)
{
	return (struct sl_grid_field){.n_axes = 3,
		.axis = {{.column = SL_COLUMN_r, .bins = 2, .lo = 0, .hi = 10},
			{.column = SL_COLUMN_w, .bins = 3, .lo = -1, .hi = 1},
			{.column = SL_COLUMN_steps, .bins = 4, .lo = 0, .hi = 8}},
		.fates = SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed)};
}

TEST(cells_of_the_last_axis_are_neighbours)
{
	struct sl_grid_field f = three_axes();
	struct sl_grid_set g = make(&f, 1, true);
	float r = 5, w = 0;
	uint32_t steps = 7;
	struct sl_columns c = {.r = &r, .w = &w, .steps = &steps};
	const uint32_t at =
		1 + (1 * 3 + 1) * 4 + 3; /* 5 is the first value of the second bin of r */

	assert_true(sl_grid_cells(&f) == 24 && sl_grid_counters(&f) == 52);
	assert_true(g.n_counters == 52 && sl_grid_words(&g) == 156);
	assert_int_equal(
		g.columns, SL_BIT(SL_COLUMN_r) | SL_BIT(SL_COLUMN_w) | SL_BIT(SL_COLUMN_steps));
	assert_int_equal(sl_grid_find(&g.grid[0], g.edge, &c, 0, SL_FATE_reflected), at);
	assert_int_equal(sl_grid_find(&g.grid[0], g.edge, &c, 0, SL_FATE_absorbed), 26 + at);
	assert_true(sl_grid_find(&g.grid[0], g.edge, &c, 0, SL_FATE_hit) == SL_NO_GRID_COUNTER);
	steps = 8;
	assert_int_equal(sl_grid_cell(&g.grid[0], g.edge, &c, 0), 25);
	w = -2; /* the first axis that is outside decides */
	assert_int_equal(sl_grid_cell(&g.grid[0], g.edge, &c, 0), 0);
	r = 1e30f;
	assert_int_equal(sl_grid_cell(&g.grid[0], g.edge, &c, 0), 25);
}

TEST(too_many_cells_saturate)
{
	struct sl_grid_field f = three_axes();

	for (int k = 0; k < 3; k++)
		f.axis[k].bins = 1 << 24;
	assert_true(sl_grid_cells(&f) == UINT64_MAX && sl_grid_counters(&f) == UINT64_MAX);
}

TEST(wrong_sums_are_found)
{
	struct sl_grid_field f = field(SL_SPACING_EVEN, 3, 0, 1);
	const uint64_t count[SL_FATE_COUNT] = {[SL_FATE_hit] = 15};
	const uint64_t weight[SL_FATE_COUNT] = {[SL_FATE_hit] = 150};
	uint64_t sum[] = {1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 0, 0, 0, 0, 0};
	struct sl_grid_set g = make(&f, 1, true);

	assert_int_equal(sl_grid_mismatch(&g, sum, count, weight), SL_FATE_COUNT);
	for (int i = 0; i < 10; i++) {
		sum[i]++;
		assert_int_equal(sl_grid_mismatch(&g, sum, count, weight), SL_FATE_hit);
		sum[i]--;
	}
}

TEST(wrong_scores_are_found)
{
	struct sl_grid_field f = field(SL_SPACING_EVEN, 2, 0, 1);
	uint64_t sum[] = {1, 2, 3, 4, 10, 20, 30, 40};
	struct sl_grid_set g;

	f.fates = SL_FATE_BIT(SL_SCORE_ROW);
	f.score = SL_SCORE_FLUENCE;
	f.score_shift = -3;
	g = make(&f, 1, false);
	assert_true(g.scored && sl_grid_words(&g) == 8);
	assert_true(sl_score_fixed(&g.grid[0], 5, 0.125f) == UINT64_C(1) << 32);
	assert_null(sl_grid_score_problem(&g, sum, 20, 10));
	assert_non_null(strstr(sl_grid_score_problem(&g, sum, 20, 11), "do not add up"));
	sum[2] = UINT64_C(1) << 32;
	assert_non_null(
		strstr(sl_grid_score_problem(&g, sum, sum[2] + 7, sum[2] + 7), "2^32 counts"));
}

/* --- batches ---------------------------------------------------------------------------------- */

/*
 * Counts one cell again, in another way: values are compared with the edges in double precision. No
 * geometry has particles at these places, where rounding would matter.
 */
static void expect_cell(const struct sl_batch *b, int fate, uint32_t of_x, uint32_t of_w,
	const uint64_t *sum, uint32_t counters, uint32_t at)
{
	const struct sl_columns *c = &b->columns;
	uint64_t n = 0, w = 0, square = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		double x = (double)c->x[i];

		if (c->fate[i] != fate || !(x >= of_x * 0.2275) || !(x < (of_x + 1) * 0.2275) ||
			!((double)c->w[i] >= pool[of_w]) || !((double)c->w[i] <= pool[of_w + 1]) ||
			(of_w < 3 && (double)c->w[i] == pool[of_w + 1]))
			continue;
		n++;
		w += sl_fixed_weight(c->weight[i]);
		square += sl_fixed_weight(c->weight[i] * c->weight[i]);
	}
	assert_true(sum[at] == n);
	assert_true(sum[counters + at] == w);
	assert_true(sum[2 * counters + at] == square);
}

TEST(batches_are_counted_exactly)
{
	enum { N = 4001 };
	const struct sl_grid_field f = {.n_axes = 2,
		.axis = {{.column = SL_COLUMN_x, .bins = 4, .lo = 0, .hi = 0.91},
			{.column = SL_COLUMN_w,
				.spacing = SL_SPACING_EDGES,
				.bins = 4,
				.lo = -1,
				.hi = 1}},
		.fates = SL_EVERY_FATE};

	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N);
		struct sl_arena a = {0};
		struct sl_exec x = {.space = SL_HOST};
		struct sl_batch b;

		r.grids = make(&f, 1, true);
		sl_batch_lay_out(&a, &r, N, &b);
		sl_histogram_lay_out(&a, &r, &b);
		x.scratch.size = sl_stages_scratch(&r, N);
		a = (struct sl_arena){.base = malloc(a.used), .size = a.used};
		assert_ok(sl_memory_get(SL_HOST, x.scratch.size, &x.scratch.base));
		assert_non_null(a.base);
		memset(a.base, 0xa5, a.size);
		sl_batch_lay_out(&a, &r, N, &b);
		sl_histogram_lay_out(&a, &r, &b);
		sl_batch_begin(&r, &b, 0);
		b.place = NULL; /* not in blocks: the particles stay in the columns */
		assert_ok(sl_stages_run(&r, &x, &b, NULL));
		for (int fate = 0; fate < SL_FATE_COUNT; fate++)
			for (uint32_t cell = 0; cell < 16; cell++)
				expect_cell(&b, fate, cell / 4, cell % 4, b.bins,
					r.grids.n_counters, r.grids.grid[0].first[fate] + 1 + cell);
		b.bins[r.grids.grid[0].first[SL_FATE_hit]]++;
		assert_fails(sl_check_histograms(&r, &b), SL_CHECK_FAILED, "do not add up");
		free(a.base);
		sl_memory_give(SL_HOST, x.scratch.base);
	}
}
