/*
 * selection.c - keys, histograms and grids at their edges, messages about invalid ones, and whole batches counted again.
 * tests/property/selection.c tests random values.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "stages/counting/grid.h"
#include "stages/host/batch_layout.h"
#include "stages/selection/flight_score.h"
#include "stages/selection/grid.h"
#include "stages/selection/histogram.h"
#include "stages/selection/key.h"
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/formats/tables.h"

/* --- keys ------------------------------------------------------------------------------------- */

static struct sl_key_rule key_rule(enum sl_column column, uint32_t bits, double lo, double hi)
{
	const struct sl_key_field field = {.column = column, .bits = bits, .lo = lo, .hi = hi};

	return sl_key_rule_make(&field);
}

TEST(floats_have_equal_steps)
{
	static const struct {
		float value;
		uint64_t key;
	} rows[] = {{-1, 0}, {-0.50001f, 0}, {-0.5f, 1}, {0, 2}, {-0.0f, 2}, {0.5f, 3}, {1, 3}};
	struct sl_key_rule f = key_rule(SL_COLUMN_w, 2, -1, 1);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sl_key_of_float(&f, rows[i].value), rows[i].key);
}

/* For positive numbers, eight bits are the exponent and the rest are equal steps within it. */
TEST(logarithmic_steps_are_equal)
{
	const struct sl_key_field all = {.column = SL_COLUMN_energy,
		.bits = 12,
		.hi = (double)INFINITY,
		.logarithmic = true};
	const struct sl_key_field some = {
		.column = SL_COLUMN_energy, .bits = 4, .lo = 1, .hi = 16, .logarithmic = true};
	static const struct {
		float value;
		uint64_t key;
	} rows[] = {{0.5f, 0}, {1, 0}, {2, 2}, {4, 4}, {15.999f, 7}, {1e9f, 15}};
	static const float zeros[] = {-1, -INFINITY, 0, -0.0f, NAN};
	struct sl_key_rule f = sl_key_rule_make(&all);

	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		assert_int_equal(sl_key_of_log(&f, zeros[i]), 0);
	for (int power = -126; power < 128; power++)
		for (int part = 0; part < 16; part++) {
			float v = ldexpf(1 + (float)part / 16, power);

			assert_int_equal((power + 127) * 16 + part, sl_key_of_log(&f, v));
			if (power > -126 || part > 0)
				assert_int_equal((power + 127) * 16 + part - 1,
					sl_key_of_log(&f, nextafterf(v, 0)));
		}
	assert_int_equal(255 * 16, sl_key_of_log(&f, INFINITY));
	f = sl_key_rule_make(&some);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sl_key_of_log(&f, rows[i].value), rows[i].key);
}

/* --- bins ------------------------------------------------------------------------------------- */

static const double pool[SL_GRID_EDGES_MAX] = {-1, -0.25, 0.5, 0.75, 1};

static struct sl_histogram_rule bin_rule(enum sl_column column, uint32_t bins, double lo, double hi)
{
	const struct sl_histogram_axis f = {column, bins, SL_FATE_BIT(SL_FATE_hit), lo, hi};

	assert_null(sl_histogram_problem(&f));
	return sl_histogram_make(&f, 1, false).tally[0];
}

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
	static struct sl_grid_set g;

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

/* The end of a range is in it; NaN is below it. */
TEST(edges_belong_to_the_bin_above)
{
	static const struct {
		float value;
		uint32_t even,
			edges; /* of four bins in -1..1: of equal width, between the edges above */
	} rows[] = {{-1, 1, 1}, {-0.50000006f, 1, 1}, {-0.5f, 2, 1}, {-0.25000003f, 2, 1},
		{-0.25f, 2, 2}, {-0.0f, 3, 2}, {0.4999999f, 3, 2}, {0.5f, 4, 3}, {0.75f, 4, 4},
		{1, 4, 4}, {1.0000001f, 5, 5}, {-1.0000001f, 0, 0}, {FLT_MAX, 5, 5},
		{INFINITY, 5, 5}, {-INFINITY, 0, 0}, {NAN, 0, 0}, {-NAN, 0, 0}};
	struct sl_histogram_rule even = bin_rule(SL_COLUMN_w, 4, -1, 1);
	struct sl_grid_field f = field(SL_SPACING_EDGES, 4, -1, 1);
	static struct sl_grid_set g;

	g = make(&f, 1, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (sl_bin_of_float(&even, rows[i].value) != rows[i].even ||
			bin_of(&g, rows[i].value) != rows[i].edges)
			fail_msg("%.9g is in bin %u, and in bin %u between edges",
				(double)rows[i].value, sl_bin_of_float(&even, rows[i].value),
				bin_of(&g, rows[i].value));
	f = field(SL_SPACING_EDGES, 1, 0.5, 0.75);
	f.axis[0].first_edge = 2;
	g = make(&f, 1, false);
	assert_true(bin_of(&g, 0.4f) == 0 && bin_of(&g, 0.6f) == 1 && bin_of(&g, 0.8f) == 2);
}

TEST(signed_columns_are_counted_from_their_least_number)
{
	struct sl_histogram_rule t = bin_rule(SL_COLUMN_pdg, 4, -12, 12);

	assert_int_equal(t.base, 0x80000000u - 12);
	assert_int_equal(t.width, 6);
}

TEST(invalid_ranges_are_reported)
{
	static const struct {
		struct sl_histogram_axis field;
		const char *why;
	} bad[] = {{{SL_COLUMN_x, 4, 1, 1, 1}, "empty"}, {{SL_COLUMN_x, 4, 1, 2, 1}, "empty"},
		{{SL_COLUMN_x, 4, 1, 1, 1 + 1e-12}, "empty"},
		{{SL_COLUMN_x, 4, 1, (double)NAN, 1}, "not finite"},
		{{SL_COLUMN_x, 4, 1, 0, (double)INFINITY}, "not finite"},
		{{SL_COLUMN_x, 4, 1, -3e38, 3e38}, "not finite"},
		{{SL_COLUMN_x, 4, 1, 0, 1e-38}, "cannot be divided into that many bins"},
		{{SL_COLUMN_steps, 4, 1, -4, 4}, "must have integer ends"},
		{{SL_COLUMN_steps, 4, 1, 0.5, 4}, "must have integer ends"},
		{{SL_COLUMN_steps, 4, 1, 0, 0x1p33}, "must have integer ends"},
		{{SL_COLUMN_steps, 4, 1, 4, 4}, "empty"},
		{{SL_COLUMN_steps, 4, 1, 0, 10}, "cannot be divided"},
		{{SL_COLUMN_steps, 4, 1, 0, 2}, "cannot be divided"},
		{{SL_COLUMN_steps, 1, 1, 0, 0x1p32}, "2^32 or more integers"}};
	static const double edges[SL_GRID_EDGES_MAX] = {0, 1, 1, 2, (double)INFINITY};
	static const struct {
		struct sl_grid_axis axis;
		const char *why;
	} bad_axes[] = {{{SL_COLUMN_w, SL_SPACING_EDGES, 2, 0, 1, 0}, "not above the one before"},
		{{SL_COLUMN_w, SL_SPACING_EDGES, 1, 0, 1, 3}, "not finite"},
		{{SL_COLUMN_steps, SL_SPACING_EDGES, 1, 0, 1, 0}, "whole numbers"},
		{{SL_COLUMN_steps, SL_SPACING_RATIO, 1, 1, 2, 0}, "whole numbers"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 4, 0, 1, 0}, "must begin above 0"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 1 << 20, 1, 2, 0}, "cannot be divided"},
		{{SL_COLUMN_w, SL_SPACING_RATIO, 4, 2, 1, 0}, "empty"},
		{{SL_COLUMN_w, SL_SPACING_EVEN, 4, 2, 1, 0}, "empty"}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = sl_histogram_problem(&bad[i].field);

		if (!why || !strstr(why, bad[i].why))
			fail_msg("histogram %zu: %s", i, why ? why : "no flaw");
	}
	for (size_t i = 0; i < sizeof(bad_axes) / sizeof(bad_axes[0]); i++) {
		const char *why = sl_grid_axis_problem(&bad_axes[i].axis, edges);

		if (!why || !strstr(why, bad_axes[i].why))
			fail_msg("axis %zu: %s", i, why ? why : "no flaw");
	}
}

/* --- rows ------------------------------------------------------------------------------------- */

TEST(rows_are_stored_consecutively)
{
	const struct sl_histogram_axis f[] = {
		{SL_COLUMN_w, 3, SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed), 0,
			1},
		{SL_COLUMN_steps, 4, SL_FATE_BIT(SL_FATE_absorbed), 0, 8}};
	struct sl_histogram_set b = sl_histogram_make(f, 2, true);
	float w = 0.5f;
	uint32_t steps = 9;
	struct sl_columns c = {.w = &w, .steps = &steps};

	assert_int_equal(b.n_counters, 5 + 5 + 6);
	assert_int_equal(sl_histogram_counters(f, 2), 16);
	assert_int_equal(sl_histogram_words(&b), 32);
	assert_int_equal(sl_histogram_shared(16, true), 16 * 12);
	assert_int_equal(sl_histogram_find(&b.tally[0], &c, 0, SL_FATE_reflected), 2);
	assert_int_equal(sl_histogram_find(&b.tally[0], &c, 0, SL_FATE_absorbed), 5 + 2);
	assert_int_equal(sl_histogram_find(&b.tally[1], &c, 0, SL_FATE_absorbed), 10 + 5);
	assert_int_equal(sl_histogram_find(&b.tally[1], &c, 0, SL_FATE_reflected), SL_NO_COUNTER);
	assert_int_equal(sl_histogram_find(&b.tally[0], &c, 0, SL_FATE_hit), SL_NO_COUNTER);
	b.weighted = false;
	assert_int_equal(sl_histogram_words(&b), 16);
}

/* r in 2 bins, w in 3, steps in 4. */
static const struct sl_grid_field three_axes = {.n_axes = 3,
	.axis = {{.column = SL_COLUMN_r, .bins = 2, .lo = 0, .hi = 10},
		{.column = SL_COLUMN_w, .bins = 3, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_steps, .bins = 4, .lo = 0, .hi = 8}},
	.fates = SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed)};

TEST(cells_of_the_last_axis_are_neighbours)
{
	struct sl_grid_set g = make(&three_axes, 1, true);
	struct sl_grid_field many = three_axes;
	float r = 5, w = 0;
	uint32_t steps = 7;
	struct sl_columns c = {.r = &r, .w = &w, .steps = &steps};
	const uint32_t at =
		1 + (1 * 3 + 1) * 4 + 3; /* 5 is the first value of the second bin of r */

	assert_true(sl_grid_cells(&three_axes) == 24 && sl_grid_counters(&three_axes) == 52);
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
	for (int k = 0; k < 3; k++) /* too many cells saturate */
		many.axis[k].bins = 1 << 24;
	assert_true(sl_grid_cells(&many) == UINT64_MAX && sl_grid_counters(&many) == UINT64_MAX);
}

TEST(wrong_sums_are_found)
{
	const struct sl_histogram_axis axis = {SL_COLUMN_w, 1,
		SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed), 0, 1};
	const struct sl_grid_field f = field(SL_SPACING_EVEN, 3, 0, 1);
	const uint64_t count[SL_FATE_COUNT] = {
		[SL_FATE_reflected] = 6, [SL_FATE_absorbed] = 9, [SL_FATE_hit] = 15};
	const uint64_t weight[SL_FATE_COUNT] = {
		[SL_FATE_reflected] = 60, [SL_FATE_absorbed] = 90, [SL_FATE_hit] = 150};
	const struct sl_histogram_set b = sl_histogram_make(&axis, 1, true);
	const struct sl_grid_set g = make(&f, 1, true);
	uint64_t sum[] = {1, 2, 3, 4, 5, 0, 10, 20, 30, 40, 50, 0};
	uint64_t cells[] = {1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 0, 0, 0, 0, 0};

	assert_int_equal(sl_histogram_mismatch(&b, sum, count, weight), SL_FATE_COUNT);
	assert_int_equal(sl_grid_mismatch(&g, cells, count, weight), SL_FATE_COUNT);
	for (int i = 0; i < 12; i++) {
		sum[i]++;
		assert_int_equal(sl_histogram_mismatch(&b, sum, count, weight),
			i % 6 < 3 ? SL_FATE_reflected : SL_FATE_absorbed);
		sum[i]--;
	}
	for (int i = 0; i < 10; i++) {
		cells[i]++;
		assert_int_equal(sl_grid_mismatch(&g, cells, count, weight), SL_FATE_hit);
		cells[i]--;
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

/* --- flights ---------------------------------------------------------------------------------- */

/* Pieces of 1 to 2^32 units count as many times as they have begun units. */
TEST(long_pieces_count_several_times)
{
	const struct sl_grid_rule g = {.score_scale = 0.25f};
	uint64_t count;

	assert_int_equal(sl_track_fixed(&g, 1, 1, &count), UINT64_C(1) << 30);
	assert_int_equal(count, 1);
	assert_int_equal(sl_track_fixed(&g, 0.5f, 20, &count), UINT64_C(5) << 31);
	assert_int_equal(count, 3);
	assert_int_equal(sl_track_fixed(&g, 1, 3e38f, &count), UINT64_C(1) << 62);
	assert_int_equal(count, (1 << 30) + 1);
}

TEST(a_plane_has_two_sides)
{
	static const struct {
		float z, w, end_z;
		bool crosses;
		float time;
	} rows[] = {{0.25f, 0.5f, 0.75f, true, 1},
		{0.25f, 0.5f, 0.5f /* ends on the plane */, true, 1},
		{0.25f, 0.5f, 0.499f, false, 0},
		{0.5f, -0.5f, 0.499f /* reflected there */, true, 0},
		{0.5f, 0.5f, 0.75f, false, 0}};
	const struct sl_grid_rule g = {.plane = 0.5f};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_scored_flight f = {.z = rows[i].z,
			.w = rows[i].w,
			.u = 0.6f,
			.slowness = 2,
			.length = 1,
			.end_z = rows[i].end_z};
		struct sl_particle p = {0};

		assert_int_equal(sl_flight_crosses(&g, &f, &p), rows[i].crosses);
		if (rows[i].crosses)
			assert_true(fabsf(p.time - rows[i].time) < 1e-6f &&
				    fabsf(p.x - 0.3f * rows[i].time) < 1e-6f &&
				    fabsf(p.r - 0.3f * rows[i].time) < 1e-6f);
	}
}

/* --- batches ---------------------------------------------------------------------------------- */

/* A column of particle i as a double. */
static double value_of(const struct sl_columns *c, enum sl_column column, uint32_t i)
{
	const void *at = sl_column_at(c, column);

	switch (sl_column_facts[column].type) {
	case SL_TYPE_F32:
		return (double)((const float *)at)[i];
	case SL_TYPE_U32:
		return ((const uint32_t *)at)[i];
	default:
		return ((const uint8_t *)at)[i];
	}
}

/*
 * Counts the particles of a fate again whose values are in ranges of two columns, by comparing doubles. The end of a range
 * is in it if last is set.
 */
struct range {
	enum sl_column column;
	double from, to;
	bool last;
};

static void expect_counted(const struct sl_batch *b, int fate, const struct range *range,
	int ranges, const uint64_t *sum, uint32_t counters, uint32_t at, int rows)
{
	uint64_t n[3] = {0};

	for (uint32_t i = 0; i < b->n; i++) {
		bool in = b->columns.fate[i] == fate;
		float weight = b->columns.weight[i];

		for (int k = 0; k < ranges; k++) {
			double v = value_of(&b->columns, range[k].column, i);

			in = in && ((v >= range[k].from && v < range[k].to) ||
					   (range[k].last && v == range[k].to));
		}
		n[0] += in;
		n[1] += in ? sl_fixed_weight(weight) : 0;
		n[2] += in ? sl_fixed_weight(weight * weight) : 0;
	}
	for (int row = 0; row < rows; row++)
		if (sum[(uint32_t)row * counters + at] != n[row])
			fail_msg("%s, counter %u, row %d: %llu, not %llu",
				sl_column_facts[range[0].column].name, at, row,
				(unsigned long long)sum[(uint32_t)row * counters + at],
				(unsigned long long)n[row]);
}

/* All counters of a histogram; bins of 1/8 have exact edges. */
static void expect_histogram(const struct sl_batch *b, const struct sl_histogram_axis *f,
	const uint64_t *sum, uint32_t counters, uint32_t at, int rows)
{
	const double width = (f->hi - f->lo) / f->bins;
	const bool is_float = sl_column_facts[f->column].type == SL_TYPE_F32;

	for (int fate = 0; fate < SL_FATE_COUNT; fate++)
		for (uint32_t bin = 0; SL_HAS(f->fates, fate) && bin < f->bins + 2; bin++) {
			struct range range = {f->column,
				bin == 0 ? -(double)INFINITY : f->lo + (bin - 1) * width,
				bin > f->bins ? (double)INFINITY : f->lo + bin * width,
				is_float && bin == f->bins};

			if (is_float && bin > f->bins)
				range.from = nextafter(f->hi, (double)INFINITY);
			expect_counted(b, fate, &range, 1, sum, counters, at++, rows);
		}
}

TEST(batches_are_counted_exactly)
{
	enum { N = 4003 }; /* at most a block, of which all columns have items */
	static const struct sl_histogram_axis fields[] = {
		{SL_COLUMN_w, 8, SL_EVERY_FATE, -0.5, 0.5},
		{SL_COLUMN_fate, 3, SL_EVERY_FATE, 1, 7},
		{SL_COLUMN_x, 4, SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_hit), -0.25,
			0.25},
		{SL_COLUMN_weight, 2, SL_EVERY_FATE, 0, 1}};
	static const struct sl_grid_field grid = {.n_axes = 2,
		.axis = {{.column = SL_COLUMN_x, .bins = 4, .lo = 0, .hi = 0.91},
			{.column = SL_COLUMN_w,
				.spacing = SL_SPACING_EDGES,
				.bins = 4,
				.lo = -1,
				.hi = 1}},
		.fates = SL_EVERY_FATE};

	for (int i = 0; i < 3 * TEST_MODELS; i++) { /* histograms, also weighted, and a grid */
		struct sl_recipe r = test_recipe((enum sl_model_number)(i / 3), N);
		const bool histograms = i % 3 < 2;
		struct sl_arena a = {0};
		struct batch_memory m;
		uint32_t at = 0;

		if (histograms)
			r.bins = sl_histogram_make(fields, 4, i % 3 == 1);
		else
			r.grids = make(&grid, 1, true);
		open_whole_batch_memory(&m, &r, 0xa5);
		sl_histogram_lay_out(&a, &r, &m.b);
		a = arena_of(a.used);
		sl_histogram_lay_out(&a, &r, &m.b);
		run_batch(&r, &m, 0);
		for (int k = 0; histograms && k < 4; at += sl_histogram_counters(&fields[k++], 1))
			expect_histogram(&m.b, &fields[k], m.b.bins, r.bins.n_counters, at,
				i % 3 == 1 ? 2 : 1);
		for (int c = 0; !histograms && c < SL_FATE_COUNT * 16; c++) {
			const uint32_t x = (uint32_t)c / 4 % 4, w = (uint32_t)c % 4;
			const struct range range[2] = {
				{SL_COLUMN_x, x * 0.2275, (x + 1) * 0.2275, false},
				{SL_COLUMN_w, pool[w], pool[w + 1], w == 3}};

			expect_counted(&m.b, c / 16, range, 2, m.b.bins, r.grids.n_counters,
				r.grids.grid[0].first[c / 16] + 1 + x * 4 + w, 3);
		}
		m.b.bins[histograms ? 1 : r.grids.grid[0].first[SL_FATE_hit]]++;
		assert_fails(sl_check_histograms(&r, &m.b), SL_CHECK_FAILED, "do not add up");
		free(a.base);
		close_batch_memory(&m);
	}
}
