/*
 * selection.c - keys at their edges, and scores. tests/property/selection.c tests random values,
 * tests/text/tallies.txt counts whole runs again, tests/text/ranges.txt has invalid ranges.
 */
#include <math.h>

#include "stages/selection/flight_score.h"
#include "stages/selection/grid.h"
#include "stages/selection/key.h"
#include "tests/support/basic/check.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- keys ------------------------------------------------------------------------------------- */

/*
 * Steps are equal, or of a logarithm: for positive numbers, eight bits are the exponent and the
 * rest steps within it.
 */
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

/* --- scores ----------------------------------------------------------------------------------- */

TEST(wrong_scores_are_found)
{
	const struct sl_grid_field f = {.n_axes = 1,
		.axis = {{.column = SL_COLUMN_w, .bins = 2, .lo = 0, .hi = 1}},
		.fates = SL_FATE_BIT(SL_SCORE_ROW),
		.score = SL_SCORE_FLUENCE,
		.score_shift = -3,
		.bracketed = true};
	uint64_t sum[] = {1, 2, 3, 4, 10, 20, 30, 40};
	static const double pool[SL_GRID_EDGES_MAX] = {0};
	static struct sl_grid_set g;

	sl_grid_make(&f, 1, pool, false, &g);
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
			sl_track_fixed(g.score_scale, rows[i].weight, rows[i].length, &count),
			rows[i].sum);
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
