/*
 * selection.c - keys, histograms and grids at their edges, and whole batches counted again. tests/property/selection.c tests
 * random values, tests/text/ranges.txt invalid ranges.
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- keys ------------------------------------------------------------------------------------- */

/* Steps are equal, or of a logarithm: for positive numbers, eight bits are the exponent and the rest steps within it. */
TEST(steps_of_keys_begin_at_their_edges)
{
	static const struct sl_key_field fields[] = {{SL_COLUMN_w, 2, -1, 1, false, false, false},
		{SL_COLUMN_energy, 4, 1, 16, true, false, false},
		{SL_COLUMN_energy, 12, 0, (double)INFINITY, true, false, false}};
	static const struct {
		int field;
		float value;
		uint64_t key;
	} rows[] = {{0, -1, 0}, {0, -0.50001f, 0}, {0, -0.5f, 1}, {0, 0, 2}, {0, -0.0f, 2},
		{0, 0.5f, 3}, {0, 1, 3}, {1, 0.5f, 0}, {1, 1, 0}, {1, 2, 2}, {1, 4, 4},
		{1, 15.999f, 7}, {1, 1e9f, 15}, {2, -1, 0}, {2, -INFINITY, 0}, {2, 0, 0},
		{2, -0.0f, 0}, {2, NAN, 0}, {2, INFINITY, 255 * 16}};
	struct sl_key_rule f;

	for (size_t i = 0; i < COUNT(rows); i++) {
		f = sl_key_rule_make(&fields[rows[i].field]);
		if (sl_key_of_real(&f, rows[i].value) != rows[i].key)
			fail_msg("row %zu: %g has the key %llu", i, (double)rows[i].value,
				(unsigned long long)sl_key_of_real(&f, rows[i].value));
	}
	f = sl_key_rule_make(&fields[2]);
	for (int k = 16; k < 255 * 16; k++) {
		float v = ldexpf(1 + (float)(k % 16) / 16, k / 16 - 127);

		assert_int_equal(k, sl_key_of_real(&f, v));
		if (k > 16) /* less is denormal */
			assert_int_equal(k - 1, sl_key_of_real(&f, nextafterf(v, 0)));
	}
}

/* --- bins ------------------------------------------------------------------------------------- */

#define FIELD(n, set, ...)         .n_axes = (n), .fates = (set), .axis = {__VA_ARGS__}
#define EVEN(column, bins, lo, hi) SL_COLUMN_##column, SL_SPACING_EVEN, bins, lo, hi, 0
#define EDGES(column, bins, first) SL_COLUMN_##column, SL_SPACING_EDGES, bins, -1, 1, first

static const double pool[SL_GRID_EDGES_MAX] = {-1, -0.25, 0.5, 0.75, 1};

static struct sl_grid_set make(const struct sl_grid_field *f, uint32_t n, bool weighted)
{
	static struct sl_grid_set g;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < f[k].n_axes; a++)
			assert_null(sl_grid_axis_problem(&f[k].axis[a], pool));
	sl_grid_make(f, n, pool, weighted, 1, &g);
	return g;
}

/* The end of a range is in it; NaN is below it. */
TEST(edges_belong_to_the_bin_above)
{
	static const struct {
		float value;
		uint32_t even,
			edges; /* of four bins in -1..1: of equal width, between those of pool */
		uint32_t one;  /* of the bin 0.5..0.75 */
	} rows[] = {{-1, 1, 1, 0}, {-0.50000006f, 1, 1, 0}, {-0.5f, 2, 1, 0},
		{-0.25000003f, 2, 1, 0}, {-0.25f, 2, 2, 0}, {-0.0f, 3, 2, 0}, {0.4999999f, 3, 2, 0},
		{0.5f, 4, 3, 1}, {0.75f, 4, 4, 1}, {1, 4, 4, 2}, {1.0000001f, 5, 5, 2},
		{-1.0000001f, 0, 0, 0}, {FLT_MAX, 5, 5, 2}, {INFINITY, 5, 5, 2},
		{-INFINITY, 0, 0, 0}, {NAN, 0, 0, 0}, {-NAN, 0, 0, 0}};
	static const struct sl_grid_field fields[] = {{FIELD(1, 1, {EVEN(w, 4, -1, 1)})},
		{FIELD(1, 1, {EDGES(w, 4, 0)})}, {FIELD(1, 1, {EDGES(w, 1, 2)})}};
	const struct sl_histogram_axis axis = {SL_COLUMN_w, 4, 1, -1, 1},
				       signs = {SL_COLUMN_pdg, 4, 1, -12, 12};
	const struct sl_histogram_set even = sl_histogram_make(&axis, 1, false),
				      pdg = sl_histogram_make(&signs, 1, false);
	static struct sl_grid_set g;

	g = make(fields, 3, false);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const float v = rows[i].value;
		uint32_t in[3];

		for (int k = 0; k < 3; k++)
			in[k] = sl_grid_bin_of_float(&g.grid[k].axis[0], g.edge, v);
		if (in[0] != rows[i].even || sl_bin_of_float(&even.tally[0], v) != rows[i].even ||
			in[1] != rows[i].edges || in[2] != rows[i].one)
			fail_msg("%.9g is in the bins %u, %u and %u", (double)v, in[0], in[1],
				in[2]);
	}
	assert_true(pdg.tally[0].base == 0x80000000u - 12 && pdg.tally[0].width == 6);
}

/* --- scores ----------------------------------------------------------------------------------- */

TEST(wrong_scores_are_found)
{
	const struct sl_grid_field f = {.n_axes = 1,
		.axis = {{EVEN(w, 2, 0, 1)}},
		.fates = SL_FATE_BIT(SL_SCORE_ROW),
		.score = SL_SCORE_FLUENCE,
		.score_shift = -3};
	uint64_t sum[] = {1, 2, 3, 4, 10, 20, 30, 40};
	const struct sl_grid_set g = make(&f, 1, false);

	assert_true(g.scored && sl_grid_words(&g) == 8);
	assert_true(sl_score_fixed(&g.grid[0], 5, 0.125f) == UINT64_C(1) << 32);
	assert_null(sl_grid_score_problem(&g, sum, 20, 10));
	assert_non_null(strstr(sl_grid_score_problem(&g, sum, 20, 11), "do not add up"));
	sum[2] = UINT64_C(1) << 32;
	assert_non_null(
		strstr(sl_grid_score_problem(&g, sum, sum[2] + 7, sum[2] + 7), "2^32 counts"));
}

/* Pieces of 1 to 2^32 units count as many times as they have begun units. */
TEST(long_pieces_count_several_times)
{
	static const struct {
		float weight, length;
		uint64_t sum, count;
	} rows[] = {{1, 1, UINT64_C(1) << 30, 1}, {0.5f, 20, UINT64_C(5) << 31, 3},
		{1, 3e38f, UINT64_C(1) << 62, (1 << 30) + 1}};
	const struct sl_grid_rule g = {.score_scale = 0.25f};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t count;

		assert_int_equal(
			sl_track_fixed(&g, rows[i].weight, rows[i].length, &count), rows[i].sum);
		assert_int_equal(count, rows[i].count);
	}
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

	for (size_t i = 0; i < COUNT(rows); i++) {
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

/* The bin of particle i, by comparing doubles: 0 is below the range. The end of a range of floats is in it. */
static uint32_t bin_of(const struct sl_grid_axis *a, const struct sl_columns *c, uint32_t i)
{
	const struct sl_column_facts *facts = &sl_column_facts[a->column];
	const char *items = (const char *)sl_column_at(c, a->column);
	const double v = sl_column_value(a->column, items + (size_t)i * facts->bytes);
	uint32_t bin = 0;

	if (v == a->hi && facts->type == SL_TYPE_F32)
		return a->bins;
	while (bin <= a->bins && v >= sl_grid_edge(a, pool, bin))
		bin++;
	return bin;
}

/* The cell of particle i. The first axis that is outside decides. */
static uint32_t cell_of(const struct sl_grid_field *f, const struct sl_columns *c, uint32_t i)
{
	uint32_t cell = 0;

	for (uint32_t k = 0; k < f->n_axes; k++) {
		const struct sl_grid_axis *a = &f->axis[k];
		uint32_t bin = bin_of(a, c, i);

		if (bin == 0 || bin > a->bins)
			return bin == 0 ? 0 : (uint32_t)sl_grid_cells(f) + 1;
		cell = cell * a->bins + bin - 1;
	}
	return cell + 1;
}

/* Adds the particles, their weights and the squares of these to the counters of fields, which are consecutive. */
static void count_again(const struct sl_batch *b, const struct sl_grid_field *f, uint32_t n,
	uint32_t counters, uint64_t *sum)
{
	for (; n > 0; n--, f++)
		for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
			for (uint32_t i = 0; i < b->n && SL_HAS(f->fates, fate); i++) {
				float weight = b->columns.weight[i];
				uint64_t *at = sum;

				if (b->columns.fate[i] != fate)
					continue;
				at += cell_of(f, &b->columns, i);
				at[0]++;
				at[counters] += sl_fixed_weight(weight);
				at[2 * counters] += sl_fixed_weight(weight * weight);
			}
			sum += SL_HAS(f->fates, fate) ? sl_grid_cells(f) + SL_GRID_OUTSIDE : 0;
		}
}

static const struct sl_grid_field histograms[] = {
	{FIELD(1, SL_EVERY_FATE, {EVEN(w, 8, -0.5, 0.5)})},
	{FIELD(1, SL_EVERY_FATE, {EVEN(fate, 3, 1, 7)})},
	{FIELD(1, SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_hit),
		{EVEN(x, 4, -0.25, 0.25)})},
	{FIELD(1, SL_EVERY_FATE, {EVEN(weight, 2, 0, 1)})}};
static const struct sl_grid_field grids[] = {
	{FIELD(2, SL_EVERY_FATE, {EVEN(x, 4, 0, 0.91)}, {EDGES(w, 4, 0)})},
	{FIELD(3, SL_FATE_BIT(SL_FATE_transmitted) | SL_FATE_BIT(SL_FATE_hit),
		{EVEN(weight, 2, 0.5, 1.5)}, {EVEN(fate, 3, 3, 9)}, {EVEN(y, 3, 0, 1)})}};

static void add_histograms(struct sl_recipe *r, bool weighted)
{
	struct sl_histogram_axis axis[4];

	for (int k = 0; k < 4; k++) {
		const struct sl_grid_axis *a = &histograms[k].axis[0];

		axis[k] = (struct sl_histogram_axis){
			a->column, a->bins, histograms[k].fates, a->lo, a->hi};
		assert_null(sl_histogram_problem(&axis[k]));
	}
	r->bins = sl_histogram_make(axis, 4, weighted);
}

/* Any counter that is too large is noticed; sums of squares are not checked. */
static void expect_wrong_counters_found(const struct sl_recipe *r, struct sl_batch *b, uint32_t n)
{
	for (uint32_t k = 0; k < n && k < b->bin_words; k++) {
		b->bins[k]++;
		assert_fails(sl_check_histograms(r, b), SL_CHECK_FAILED, "do not add up");
		b->bins[k]--;
	}
}

/* Histograms, with weights or not, and grids, in a batch of one block, of which all columns have items. */
TEST(batches_are_counted_exactly)
{
	enum { N = 4003, COUNTERS = 1000 };

	for (int i = 0; i < 3 * TEST_MODELS; i++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)(i / 3), N);
		const bool are_grids = i % 3 == 2;
		uint64_t want[3 * COUNTERS] = {0};
		struct sl_arena a = {0};
		struct batch_memory m;
		uint32_t counters;

		if (are_grids)
			r.grids = make(grids, 2, true);
		else
			add_histograms(&r, i % 3 == 1);
		counters = are_grids ? r.grids.n_counters : r.bins.n_counters;
		assert_true(counters <= COUNTERS);
		open_whole_batch_memory(&m, &r, 0xa5);
		sl_histogram_lay_out(&a, &r, &m.b);
		a = arena_of(a.used);
		sl_histogram_lay_out(&a, &r, &m.b);
		run_batch(&r, &m, 0);
		count_again(
			&m.b, are_grids ? grids : histograms, are_grids ? 2 : 4, counters, want);
		assert_int_equal(m.b.bin_words, (uint32_t)(1 + i % 3) * counters);
		assert_memory_equal(want, m.b.bins, m.b.bin_words * sizeof(want[0]));
		expect_wrong_counters_found(&r, &m.b, 2 * counters);
		free(a.base);
		close_batch_memory(&m);
	}
}
