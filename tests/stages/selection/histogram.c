/*
 * histogram.c - tests histograms: which bin a value belongs to, and whole batches counted again
 * from their particles.
 */
#include "stages/selection/histogram.h"

#include <float.h>
#include <stdlib.h>

#include "stages/particle/random.h"
#include "stages/host/batch_layout.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"

static struct sl_histogram_rule rule(enum sl_column column, uint32_t bins, double lo, double hi)
{
	const struct sl_histogram_axis f = {column, bins, SL_FATE_BIT(SL_FATE_hit), lo, hi};

	assert_null(sl_histogram_problem(&f));
	return sl_histogram_make(&f, 1, false).tally[0];
}

/* --- the rule --------------------------------------------------------------------------------- */

TEST(edges_of_floats)
{
	struct sl_histogram_rule t = rule(SL_COLUMN_w, 4, -1, 1);

	assert_int_equal(sl_bin_of_float(&t, -1.0f), 1);
	assert_int_equal(sl_bin_of_float(&t, nextafterf(-0.5f, -1)), 1);
	assert_int_equal(sl_bin_of_float(&t, -0.5f), 2);
	assert_int_equal(sl_bin_of_float(&t, -0.0f), 3);
	assert_int_equal(sl_bin_of_float(&t, 0.4999999f), 3);
	assert_int_equal(sl_bin_of_float(&t, 0.5f), 4);
	assert_int_equal(sl_bin_of_float(&t, 1.0f), 4); /* the end of the range is in it */
	assert_int_equal(sl_bin_of_float(&t, nextafterf(1.0f, 2)), 5);
	assert_int_equal(sl_bin_of_float(&t, nextafterf(-1.0f, -2)), 0);
	assert_int_equal(sl_bin_of_float(&t, FLT_MAX), 5);
	assert_int_equal(sl_bin_of_float(&t, INFINITY), 5);
	assert_int_equal(sl_bin_of_float(&t, -INFINITY), 0);
	assert_int_equal(sl_bin_of_float(&t, NAN), 0);
	assert_int_equal(sl_bin_of_float(&t, -NAN), 0);
}

static const double ranges[][2] = {
	{-1, 1}, {0, 0.02}, {0, 1}, {-3, -2}, {1e6, 2e6}, {-1e30, 1e30}, {-1e-30, 0}, {0.1, 0.3}};
enum { N_RANGES = sizeof(ranges) / sizeof(ranges[0]) };

/* Near an edge a float may be in the neighbour of the bin that a division in double gives. */
TEST(floats_are_in_the_bin_of_the_division)
{
	static const uint32_t some_bins[] = {1, 2, 3, 7, 40, 64, 1000, SL_HISTOGRAM_MOST};

	for (int k = 0; k < N_RANGES; k++)
		for (size_t b = 0; b < sizeof(some_bins) / sizeof(some_bins[0]); b++) {
			uint32_t bins = some_bins[b];
			float lo = (float)ranges[k][0], hi = (float)ranges[k][1];
			struct sl_histogram_rule t =
				rule(SL_COLUMN_x, bins, ranges[k][0], ranges[k][1]);

			assert_int_equal(sl_bin_of_float(&t, lo), 1);
			assert_int_equal(sl_bin_of_float(&t, hi), bins);
			assert_int_equal(sl_bin_of_float(&t, nextafterf(lo, -INFINITY)), 0);
			assert_int_equal(sl_bin_of_float(&t, nextafterf(hi, INFINITY)), bins + 1);
			for (uint64_t i = 0; i < 2000; i++) {
				float u = sl_uniform(sl_draw(5, i, b).at[0]),
				      v = lo + u * (hi - lo);
				double at = ((double)v - lo) / ((double)hi - lo) * bins;
				uint32_t bin = sl_bin_of_float(&t, v);

				assert_in_range(bin, 1, bins);
				if (!(at > bin - 1 - 1e-3 && at < bin + 1e-3))
					fail_msg(
						"%.9g in the range %g..%g is at %g of %u bins, but counted in bin %u",
						(double)v, ranges[k][0], ranges[k][1], at, bins,
						bin - 1);
			}
		}
}

TEST(bins_keep_the_order_of_values)
{
	struct sl_histogram_rule t = rule(SL_COLUMN_w, 50, -1, 1);
	uint32_t last = 0, seen = 0;

	for (float v = -1.25f; v < 1.25f; v += 0x1p-14f) {
		uint32_t bin = sl_bin_of_float(&t, v);

		assert_true(bin == last || bin == last + 1);
		seen += bin != last;
		last = bin;
	}
	assert_int_equal(seen, 51);
}

TEST(integers_are_exact)
{
	struct sl_histogram_rule t = rule(SL_COLUMN_steps, 64, 0, 64);

	for (uint32_t v = 0; v < 64; v++)
		assert_int_equal(sl_bin_of_integer(&t, v), v + 1);
	assert_int_equal(sl_bin_of_integer(&t, 64), 65);
	assert_int_equal(sl_bin_of_integer(&t, UINT32_MAX), 65);
	t = rule(SL_COLUMN_collisions, 5, 100, 150);
	assert_int_equal(sl_bin_of_integer(&t, 0), 0);
	for (uint32_t v = 90; v < 160; v++)
		assert_int_equal(sl_bin_of_integer(&t, v), v < 100   ? 0
							   : v < 150 ? (v - 100) / 10 + 1
								     : 6);
	t = rule(SL_COLUMN_pdg, 4, -12, 12); /* of numbers counted from -2^31 */
	assert_int_equal(t.base, 0x80000000u - 12);
	assert_int_equal(t.width, 6);
	t = rule(SL_COLUMN_pixel, 1 << 8, 0, 0x1p32);
	assert_int_equal(sl_bin_of_integer(&t, UINT32_MAX), 256);
	assert_int_equal(sl_bin_of_integer(&t, (1u << 24) - 1), 1);
	assert_int_equal(sl_bin_of_integer(&t, 1u << 24), 2);
}

TEST(invalid_ranges_are_reported)
{
	static const struct {
		struct sl_histogram_axis field;
		const char *why;
	} bad[] = {
		{{SL_COLUMN_x, 4, 1, 1, 1}, "empty"},
		{{SL_COLUMN_x, 4, 1, 2, 1}, "empty"},
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
		{{SL_COLUMN_steps, 1, 1, 0, 0x1p32}, "2^32 or more integers"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = sl_histogram_problem(&bad[i].field);

		if (!why || !strstr(why, bad[i].why))
			fail_msg("case %zu: %s", i, why ? why : "no flaw");
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

TEST(missing_keys_are_reported)
{
	const struct sl_histogram_axis f = {SL_COLUMN_w, 1,
		SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_absorbed), 0, 1};
	const struct sl_histogram_set b = sl_histogram_make(&f, 1, true);
	const uint64_t count[SL_FATE_COUNT] = {[SL_FATE_reflected] = 6, [SL_FATE_absorbed] = 9};
	const uint64_t weight[SL_FATE_COUNT] = {[SL_FATE_reflected] = 60, [SL_FATE_absorbed] = 90};
	uint64_t sum[] = {1, 2, 3, 4, 5, 0, 10, 20, 30, 40, 50, 0};

	assert_int_equal(sl_histogram_mismatch(&b, sum, count, weight), SL_FATE_COUNT);
	for (int i = 0; i < 12; i++) {
		sum[i]++;
		assert_int_equal(sl_histogram_mismatch(&b, sum, count, weight),
			i % 6 < 3 ? SL_FATE_reflected : SL_FATE_absorbed);
		sum[i]--;
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

/* Counts the batch again by comparing values with edges; bins of 1/8 have exact edges. */
static void expect_sums(const struct sl_batch *b, const struct sl_histogram_axis *f,
	const uint64_t *sum, const uint64_t *weight)
{
	double width = (f->hi - f->lo) / f->bins;
	bool is_float = sl_column_facts[f->column].type == SL_TYPE_F32;
	uint32_t row = 0;

	for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
		if (!SL_HAS(f->fates, fate))
			continue;
		for (uint32_t bin = 0; bin < f->bins + 2; bin++, row++) {
			double from = bin == 0 ? -INFINITY : f->lo + (bin - 1) * width;
			double to = bin > f->bins ? INFINITY : f->lo + bin * width;
			uint64_t n = 0, w = 0;

			for (uint32_t i = 0; i < b->n; i++) {
				double v = value_of(&b->columns, f->column, i);
				bool at_end = is_float && v == f->hi;

				if (b->columns.fate[i] != fate ||
					!((v >= from && v < to && !at_end) ||
						(at_end && bin == f->bins)))
					continue;
				n++;
				w += (uint64_t)((double)b->columns.weight[i] * 0x1p32);
			}
			assert_true(sum[row] == n);
			assert_true(!weight || weight[row] == w);
		}
	}
}

TEST(batches_are_counted_exactly)
{
	enum { N = 4003 }; /* at most a block, of which all columns have items */
	const struct sl_histogram_axis fields[] = {{SL_COLUMN_w, 8, SL_EVERY_FATE, -0.5, 0.5},
		{SL_COLUMN_fate, 3, SL_EVERY_FATE, 1, 7},
		{SL_COLUMN_x, 4, SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_hit), -0.25,
			0.25},
		{SL_COLUMN_weight, 2, SL_EVERY_FATE, 0, 1}};

	for (int model = 0; model < TEST_MODELS; model++)
		for (int weighted = 0; weighted < 2; weighted++) {
			struct sl_recipe r = test_recipe((enum sl_model_number)model, N);
			struct sl_arena a = {0};
			struct sl_exec x = {.space = SL_HOST};
			struct sl_batch b;
			uint32_t at = 0;

			r.bins = sl_histogram_make(fields, 4, weighted);
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
			for (int k = 0; k < 4; at += sl_histogram_counters(&fields[k++], 1))
				expect_sums(&b, &fields[k], b.bins + at,
					weighted ? b.bins + r.bins.n_counters + at : NULL);
			assert_int_equal(at, r.bins.n_counters);
			b.bins[1]++; /* reflected or alive, one too many */
			assert_fails(sl_check_histograms(&r, &b), SL_CHECK_FAILED, "do not add up");
			free(a.base);
			sl_memory_give(SL_HOST, x.scratch.base);
		}
}
