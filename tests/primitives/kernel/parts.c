/*
 * parts.c - tests a part of kernels alone: decoupled look-back, over distances that a scan with few tiles in flight does not
 * reach.
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
