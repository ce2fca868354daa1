/*
 * parts.c - tests parts of kernels alone: decoupled look-back, over distances that a scan with few tiles in flight does not
 * reach; and where the leaves of the trees in shared memory are. The emulated device has no banks,
 * so the test computes them: word w of shared memory is in bank w mod 32.
 */
#include "tests/primitives/kernel/parts_kernels.h"
#include "tests/support/basic/check.h"

enum { KNOWN_NOTHING, KNOWN_OWN, KNOWN_ALL };

static const enum sl_type types[] = {SL_U32, SL_U64};

/* Device memory: the scratch of a look-back, and a word for each tile. */
static void *scratch;
static uint64_t *out;

static void fetch(uint64_t *to, size_t n)
{
	assert_ok(sl_copy(to, out, n * sizeof(*to), NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* The sum of tiles first .. end - 1. */
static uint64_t sum_of(enum sl_type type, uint32_t first, uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += own_sum(i);
	return type == SL_U32 ? (uint32_t)sum : sum;
}

static void look_from(enum sl_type type, uint32_t all, uint32_t tile)
{
	uint64_t got[3];

	assert_ok(look_back_once(type, all, tile, scratch, out));
	fetch(got, 3);
	assert_int_equal(got[0], sum_of(type, all, tile));
	assert_int_equal(got[1], sum_of(type, all, tile + 1));
	assert_int_equal(got[2], KNOWN_ALL);
}

/* Distances over several windows of 32 tiles; also the first tile, which has no predecessor. */
TEST(every_distance_is_right)
{
	static const uint32_t tiles[] = {1, 31, 32, 33, 64, 65, 100, TILES_MOST - 1};

	for (size_t t = 0; t < 2; t++) {
		look_from(types[t], 0, 0);
		for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
			for (uint32_t all = 0; all < tiles[i]; all++)
				look_from(types[t], all, tiles[i]);
	}
}

/* Half of an inclusive sum and half of an own sum are not a sum. */
TEST(torn_words_are_unknown)
{
	uint64_t known;

	assert_ok(look_back_halves(scratch, out));
	fetch(&known, 1);
	assert_int_equal(known, KNOWN_NOTHING);
}

/* --- trees in shared memory ------------------------------------------------------------------- */

enum { BANKS = 32, WARP = 32 };

/* Threads that are served together: a warp, or half of one for items of 8 bytes. */
static uint32_t lanes_of(enum sl_type type)
{
	return type == SL_U32 ? WARP : WARP / 2;
}

/*
 * Turns that the accesses of one group of lanes take: lane i accesses the leaf first + i * step. Lanes
 * that access the same bank take one turn each.
 */
static uint32_t turns_of_group(
	enum sl_type type, bool padded, uint32_t first, uint32_t step, uint32_t lanes)
{
	uint32_t in_bank[BANKS] = {0}, turns = 0;

	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t words = (uint32_t)sl_type_bytes(type) / 4;
		uint32_t bank = tree_slot(type, padded, first + i * step) * words % BANKS;

		in_bank[bank]++;
		turns = in_bank[bank] > turns ? in_bank[bank] : turns;
	}
	return turns;
}

/* The most turns of any access of a sweep: every level, left and right children, every group of lanes. */
static uint32_t most_turns(enum sl_type type, bool padded, uint32_t leaves)
{
	uint32_t most = 0;

	for (uint32_t distance = 1; distance < leaves; distance *= 2)
		for (uint32_t i = 0; i < leaves / (2 * distance); i += lanes_of(type))
			for (uint32_t child = 1; child <= 2; child++) {
				uint32_t left = leaves / (2 * distance) - i, turns;

				turns = turns_of_group(type, padded, (2 * i + child) * distance - 1,
					2 * distance,
					left < lanes_of(type) ? left : lanes_of(type));
				most = turns > most ? turns : most;
			}
	return most;
}

TEST(padding_avoids_all_conflicts)
{
	for (uint32_t leaves = 64; leaves <= 16384; leaves *= 2)
		assert_int_equal(most_turns(SL_U32, true, leaves), 1);
	for (uint32_t leaves = 64; leaves <= 4096; leaves *= 2)
		assert_int_equal(most_turns(SL_U64, true, leaves), 1);
	assert_int_equal(most_turns(SL_U32, false, 64), 2);
	assert_int_equal(most_turns(SL_U32, false, 256), 8);
	assert_int_equal(most_turns(SL_U32, false, 1024), 32);
	assert_int_equal(most_turns(SL_U64, false, 1024), 16);
}

/* No two leaves share a place, and the last one ends where the shared memory ends. */
TEST(leaves_fill_the_memory)
{
	for (int i = 0; i < 4; i++) {
		const enum sl_type type = types[i / 2];
		const bool padded = i % 2;
		const struct sl_tuning tuning = {1024, 16, padded ? SL_PADDING_ON : SL_PADDING_OFF};
		const uint32_t leaves = tree_leaves(tuning);
		const size_t bytes = sl_type_bytes(type), all = tree_bytes(type, tuning);

		for (uint32_t k = 1; k < leaves; k++)
			assert_true(tree_slot(type, padded, k) > tree_slot(type, padded, k - 1));
		assert_int_equal(all, (tree_slot(type, padded, leaves - 1) + 1) * bytes);
		assert_true(padded || all == leaves * bytes);
	}
}

TEST(a_tree_has_a_power_of_two_of_leaves)
{
	assert_int_equal(tree_leaves((struct sl_tuning){256, 4, SL_PADDING_ON}), 1024);
	assert_int_equal(tree_leaves((struct sl_tuning){96, 2, SL_PADDING_ON}), 256);
	assert_int_equal(tree_leaves((struct sl_tuning){32, 1, SL_PADDING_OFF}), 32);
	assert_int_equal(tree_leaves((struct sl_tuning){1024, 16, SL_PADDING_OFF}), 16384);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
	assert_ok(sl_memory_get(SL_DEVICE, SCRATCH_BYTES, &scratch));
	assert_ok(sl_fill(scratch, 0xa5, SCRATCH_BYTES, NULL));
	assert_ok(sl_memory_get(SL_DEVICE, TILES_MOST * sizeof(*out), (void **)&out));
}

AFTER_TESTS()
{
	sl_memory_give(SL_DEVICE, scratch);
	sl_memory_give(SL_DEVICE, out);
}
