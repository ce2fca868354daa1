/*
 * order.c - scans of floating-point items: the order of the additions with several levels of nodes
 * on every backend, the same bits in 100 runs, the stated bound of the error, and sums that ascend.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases/jobs.h"
#include "tests/support/basic/check.h"

/* Items of 18 and of 257 tiles of 4096: nodes of the levels 4 and 5 are published. */
enum { FEW_TILES = 17 * 4096 + 369, MANY_TILES = 256 * 4096 + 3 };

static void scan_with(const struct sl_backend *b, enum sl_type type, bool inclusive, uint32_t n,
	const void *in, void *out)
{
	const size_t bytes = n * sl_type_bytes(type);
	const struct sl_shape shape = {.n = n, .type = type};
	struct sl_exec x = {.space = b->space, .scratch = {NULL, 0, sl_scratch(b, &shape)}};
	void *at;

	assert_ok(sl_memory_get(b->space, x.scratch.size, &x.scratch.base));
	assert_ok(sl_memory_get(b->space, bytes, &at));
	assert_ok(sl_copy(at, in, bytes, NULL));
	assert_ok(sl_stream_wait(NULL)); /* the host does not wait for a stream */
	assert_ok(sl_scan(b, &x,
		&(struct sl_scan_job){
			.in = at, .out = at, .n = n, .type = type, .inclusive = inclusive}));
	assert_ok(sl_copy(out, at, bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(b->space, at);
	sl_memory_give(b->space, x.scratch.base);
}

TEST(many_levels_are_added_in_the_stated_order)
{
	const struct sl_backend *b;

	sl_device_emulate(true);
	for (size_t k = 0; (b = sl_backend_of(SL_SCAN, SL_DEVICE, k)) != NULL; k++)
		for (int i = 0; i < 4; i++) {
			struct sl_setting set = {.n = i < 3 ? FEW_TILES : MANY_TILES,
				.type = i % 2 ? SL_F32 : SL_F64,
				.input = i % 2 ? SL_INPUT_RANDOM : SL_INPUT_SORTED,
				.inclusive = i == 1,
				.sum = i > 1,
				.off = {(uint32_t)i % 2, 0}};

			assert_ok(sl_job_check(b, &set, 0x5a));
		}
}

TEST(a_hundred_runs_give_the_same_bits)
{
	static double in[FEW_TILES], right[FEW_TILES], out[FEW_TILES];
	const struct sl_backend *shared;

	sl_device_emulate(true);
	assert_ok(sl_find(SL_SCAN, "shared", &shared));
	for (uint32_t i = 0; i < 100; i++) {
		const enum sl_type type = i % 2 ? SL_F32 : SL_F64;
		const enum sl_input input = (enum sl_input)(i / 2 % SL_INPUT_COUNT);

		sl_random_schedule(i);
		sl_input_fill(input, type, FEW_TILES, in);
		scan_with(&sl_scan_cpu, type, i % 3 == 0, FEW_TILES, in, right);
		scan_with(shared, type, i % 3 == 0, FEW_TILES, in, out);
		assert_memory_equal(out, right, FEW_TILES * sl_type_bytes(type));
	}
}

/* With doubles as the true sums; L = 5 levels. Numbers of one sign lose most. */
TEST(errors_are_within_the_bound)
{
	static float in[MANY_TILES], out[MANY_TILES];
	const double u = 0x1p-24, bound = 79 * u / (1 - 79 * u);

	for (int signs = 0; signs < 2; signs++) {
		double sum = 0, absolute = 0, most = 0;

		for (uint32_t i = 0; i < MANY_TILES; i++)
			in[i] = (float)((double)(sl_mixed(i) >> 11) * 0x1p-53 - 0.5 * signs);
		scan_with(&sl_scan_cpu, SL_F32, true, MANY_TILES, in, out);
		for (uint32_t i = 0; i < MANY_TILES; i++) {
			sum += (double)in[i];
			absolute += fabs((double)in[i]);
			most = fmax(most, fabs((double)out[i] - sum) / absolute);
		}
		assert_true(most <= bound && most > 0);
	}
}

TEST(sums_ascend_and_exclusive_ones_are_shifted)
{
	static float in[MANY_TILES], inclusive[MANY_TILES], exclusive[MANY_TILES];

	for (uint32_t i = 0; i < MANY_TILES; i++)
		in[i] = (float)(sl_mixed(i) % 1000) * 0.001f;
	scan_with(&sl_scan_cpu, SL_F32, true, MANY_TILES, in, inclusive);
	scan_with(&sl_scan_cpu, SL_F32, false, MANY_TILES, in, exclusive);
	assert_memory_equal(exclusive + 1, inclusive, (MANY_TILES - 1) * sizeof(float));
	for (uint32_t i = 1; i < MANY_TILES; i++)
		assert_true(inclusive[i - 1] <= inclusive[i]);
}
