/*
 * look_ahead.c - scan/shared's kernel for Hopper on the emulated device: with small tiles, over
 * alignments, sizes around tiles, and schedules; and as the backend chooses it. And the decoupled
 * look-back alone.
 */
#include "primitives/emulator/settings.h"
#include "tests/cases/jobs.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/scan/look_ahead_kernels.h"
#include "tests/support/basic/check.h"

enum { JOBS = 32 }; /* of a size */

/* --- small tiles ------------------------------------------------------------------------------ */

/* Random types, alignments and variants of one size. */
static void size_is_right(const struct sl_backend *b, uint32_t tile_bytes, uint32_t tiles, int more)
{
	const struct sl_sampled share = sl_sampling_share(JOBS);

	for (uint64_t k = share.first; k < JOBS; k += share.step) {
		struct sl_setting set = {
			.n = tiles * tile_bytes / (k % 2 ? 8 : 4) + (uint32_t)more};

		sl_random_setting(b, sl_mixed(k), &set);
		set.type = k % 2 ? SL_U64 : SL_U32;
		assert_ok(sl_job_check(b, &set, 0x5a));
	}
}

/*
 * Sizes about tiles; blocks and threads in random orders. Then distant tiles:
 * the look-ahead warp has to read several times.
 */
TEST(small_tiles_give_exact_sums)
{
	const struct sl_emulator_settings many = {.blocks = 32, .memory_bytes = 1 << 30};
	static const struct {
		uint32_t tiles;
		int more;
	} sizes[] = {{0, 1}, {0, 2}, {0, 3}, {0, 6}, {1, -1}, {1, 0}, {1, 1}, {2, -3}, {2, -2},
		{2, 2}, {7, 5}, {70, 9}};

	for (size_t k = 0; k < 4 * LOOK_AHEAD_SMALL; k++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			sl_random_schedule(100 * k + i);
			size_is_right(&look_ahead_small[k % LOOK_AHEAD_SMALL],
				look_ahead_tile_bytes[k % LOOK_AHEAD_SMALL], sizes[i].tiles,
				sizes[i].more);
		}
	sl_emulator_set_settings(&many);
	size_is_right(&look_ahead_deep, look_ahead_deep_bytes, 600, 0);
}

/* --- the backend's choice --------------------------------------------------------------------- */

/*
 * The smallest size for which the backend selects the kernel: 6 tiles for each of 4
 * multiprocessors.
 */
enum { TILE = 32 << 10, WORTH = 23 * TILE };

/*
 * Which kernel a job launches after the kernel that clears: the launch fails, and the message has
 * its name. The kernel for Hopper also takes smaller jobs if the arrays are not aligned, but none
 * whose tuning the caller sets.
 */
TEST(backend_selects_the_kernel)
{
	static const struct {
		enum sl_type type;
		uint32_t bytes, off[2], block;
		bool turing, ahead;
	} rows[] = {
		{SL_U32, WORTH, {0, 0}, 0, false, false},
		{SL_U64, WORTH, {0, 0}, 0, false, false},
		{SL_U32, WORTH + 4, {0, 0}, 0, false, true},
		{SL_U64, WORTH + 8, {0, 0}, 0, false, true},
		{SL_U32, WORTH, {3, 3}, 0, false, true},
		{SL_U32, WORTH, {1, 2}, 0, false, true},
		{SL_U32, 2 * WORTH, {0, 0}, 128, false, false},
		{SL_U32, 2 * WORTH, {0, 0}, 0, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_trial t = {.backend = &sl_scan_shared_emulated,
			.set = {.n = rows[i].bytes / (uint32_t)sl_type_bytes(rows[i].type),
				.type = rows[i].type,
				.off = {rows[i].off[0], rows[i].off[1]},
				.tuning.block = rows[i].block}};
		const struct sl_emulator_settings device = {
			.blocks = 1, .turing = rows[i].turing, .memory_bytes = 1 << 30};

		sl_emulator_set_settings(&device);
		assert_ok(sl_case_scan.make(&t));
		assert_null(sl_fault_set("dev_launch:2:1"));
		assert_int_equal(sl_case_scan.run(&t), SL_DEVICE_FAILED);
		assert_null(sl_fault_set(NULL));
		if (!strstr(sl_last_error(), rows[i].ahead ? "look_ahead_kernel" : "tile_kernel"))
			fail_msg("row %zu: %s", i, sl_last_error());
		sl_trial_free(&t);
	}
}

/* Both kernels: sizes below and above the smallest one. */
TEST(backend_gives_exact_sums)
{
	for (uint64_t i = 0; i < 8; i++) {
		struct sl_setting set = {
			.n = WORTH / (i / 2 % 2 ? 8u : 4u) - 1 + 2 * (uint32_t)(i / 4)};

		sl_random_schedule(i);
		sl_random_setting(&sl_scan_shared_emulated, i, &set);
		set.type = i / 2 % 2 ? SL_U64 : SL_U32;
		assert_ok(sl_job_check(&sl_scan_shared_emulated, &set, 0x5a));
	}
}

/* Over distances that a scan with few tiles in flight does not reach. */
TEST(look_back_finds_the_sums_of_distant_tiles)
{
	struct sl_arena scratch = {.size = 1 << 13};
	uint32_t *wrong, found = 1;

	assert_ok(sl_memory_get(SL_DEVICE, scratch.size, &scratch.base));
	assert_ok(sl_memory_get(SL_DEVICE, sizeof(*wrong), (void **)&wrong));
	assert_ok(sl_fill(wrong, 0, sizeof(*wrong), NULL));
	assert_ok(look_back_try(scratch, wrong));
	assert_ok(sl_copy(&found, wrong, sizeof(found), NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(found, 0);
	sl_memory_give(SL_DEVICE, scratch.base);
	sl_memory_give(SL_DEVICE, wrong);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
