/*
 * look_ahead.c - scan/shared's kernel for Hopper on the emulated device: with small tiles, over
 * alignments, sizes around tiles, and schedules; and as the backend chooses it.
 */
#include "primitives/emulator/settings.h"
#include "tests/cases/jobs.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/scan/look_ahead_kernels.h"
#include "tests/support/basic/check.h"

enum { JOBS = 32 }; /* of a size */

static void scan_is_right(const struct sl_backend *b, const struct sl_setting *set)
{
	char text[128];

	sl_case_scan.describe(set, text, sizeof(text));
	assert_ok(
		sl_add_context(sl_job_check(b, set, 0x5a), "%s, n=%u, %s", b->name, set->n, text));
}

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
		scan_is_right(b, &set);
	}
}

static const struct sl_emulator_settings by_default = {.blocks = 1, .memory_bytes = 1 << 30};

/*
 * Sizes about tiles; blocks one after the other, several at a time, at random, and from the last one. Then distant tiles:
 * the look-ahead warp has to read several times.
 */
TEST(small_tiles_give_exact_sums)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 4, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 5, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 32, .memory_bytes = 1 << 30},
	};
	static const struct {
		uint32_t tiles;
		int more;
	} sizes[] = {{0, 1}, {0, 2}, {0, 3}, {0, 6}, {1, -1}, {1, 0}, {1, 1}, {2, -3}, {2, -2},
		{2, 2}, {7, 5}, {70, 9}};

	for (size_t k = 0; k < 4 * LOOK_AHEAD_SMALL; k++) {
		sl_emulator_set_settings(&schedules[k / LOOK_AHEAD_SMALL]);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			size_is_right(&look_ahead_small[k % LOOK_AHEAD_SMALL],
				look_ahead_tile_bytes[k % LOOK_AHEAD_SMALL], sizes[i].tiles,
				sizes[i].more);
	}
	sl_emulator_set_settings(&schedules[4]);
	size_is_right(&look_ahead_deep, look_ahead_deep_bytes, 600, 0);
	sl_emulator_set_settings(&by_default);
}

/* --- the backend's choice --------------------------------------------------------------------- */

/* The smallest size for which the backend selects the kernel: 6 tiles for each of 4 multiprocessors. */
enum { TILE = 32 << 10, WORTH = 23 * TILE };

static const struct sl_backend *shared(void)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_SCAN, "shared", &b));
	return b;
}

/* Which kernel a job launches after the kernel that clears: the launch fails, and the message has
 * its name. */
static bool looks_ahead(
	enum sl_type type, uint32_t bytes, const uint32_t off[2], struct sl_tuning tuning)
{
	struct sl_setting set = {.n = bytes / (uint32_t)sl_type_bytes(type),
		.type = type,
		.input = SL_INPUT_RANDOM,
		.off = {off[0], off[1]},
		.tuning = tuning};
	struct sl_trial t = {.backend = shared(), .set = set};
	bool ahead;

	assert_ok(sl_case_scan.make(&t));
	assert_null(sl_fault_set("dev_launch:2:1"));
	assert_int_equal(sl_case_scan.run(&t), SL_DEVICE_FAILED);
	ahead = strstr(sl_last_error(), "look_ahead_kernel") != NULL;
	assert_true(ahead || strstr(sl_last_error(), "tile_kernel"));
	assert_null(sl_fault_set(NULL));
	sl_trial_free(&t);
	return ahead;
}

TEST(backend_selects_the_kernel)
{
	static const uint32_t plain[2] = {0, 0}, same[2] = {3, 3}, other[2] = {1, 2};
	static const struct sl_tuning own = {0}, asked = {.block = 128};
	static const struct sl_emulator_settings turing = {
		.blocks = 1, .turing = true, .memory_bytes = 1 << 30};

	assert_false(looks_ahead(SL_U32, WORTH, plain, own));
	assert_false(looks_ahead(SL_U64, WORTH, plain, own));
	assert_true(looks_ahead(SL_U32, WORTH + 4, plain, own));
	assert_true(looks_ahead(SL_U64, WORTH + 8, plain, own));
	assert_true(looks_ahead(SL_U32, WORTH, same, own));
	assert_true(looks_ahead(SL_U32, WORTH, other, own));
	assert_false(looks_ahead(SL_U32, 2 * WORTH, plain, asked));
	sl_emulator_set_settings(&turing);
	assert_false(looks_ahead(SL_U32, 2 * WORTH, plain, own));
	sl_emulator_set_settings(&by_default);
}

/* Both kernels: sizes below and above the smallest one, in place or not. */
TEST(backend_gives_exact_sums)
{
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 4, .seed = 5, .memory_bytes = 1 << 30},
		{.blocks = 1, .memory_bytes = 1 << 30}};

	for (uint32_t i = 0; i < 4; i++) {
		enum sl_type type = i / 2 ? SL_U64 : SL_U32;
		uint32_t least = WORTH / (uint32_t)sl_type_bytes(type);
		struct sl_setting set = {.n = least + 1,
			.type = type,
			.input = SL_INPUT_RANDOM,
			.in_place = i % 2,
			.inclusive = i % 2 == i / 2,
			.off = {i % 2, i % 2}};

		sl_emulator_set_settings(&schedules[i % 2]);
		scan_is_right(shared(), &set);
		set.n = least - 1;
		scan_is_right(shared(), &set);
	}
	sl_emulator_set_settings(&by_default);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
