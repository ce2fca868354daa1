/*
 * look_back.c - tests decoupled look-back alone, over distances and in block orders that a scan
 * with few tiles in flight does not reach.
 */
#include "primitives/emulator/settings.h"
#include "tests/primitives/kernel/look_back_kernels.h"
#include "tests/support/basic/check.h"

enum { KNOWN_NOTHING, KNOWN_OWN, KNOWN_ALL };

struct memory {
	void *scratch;
	uint64_t *out;
};

static const enum sl_type types[] = {SL_U32, SL_U64};

static struct memory get_memory(void)
{
	struct memory m;
	void *out;

	assert_ok(sl_memory_get(SL_DEVICE, SCRATCH_BYTES, &m.scratch));
	assert_ok(sl_fill(m.scratch, 0xa5, SCRATCH_BYTES, NULL));
	assert_ok(sl_memory_get(SL_DEVICE, TILES_MOST * sizeof(uint64_t), &out));
	m.out = (uint64_t *)out;
	return m;
}

static void give_memory(struct memory m)
{
	sl_memory_give(SL_DEVICE, m.scratch);
	sl_memory_give(SL_DEVICE, m.out);
}

static void fetch(const struct memory *m, uint64_t *to, size_t n)
{
	assert_ok(sl_copy(to, m->out, n * sizeof(*to), NULL));
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

static void look_from(const struct memory *m, enum sl_type type, uint32_t all, uint32_t tile)
{
	uint64_t got[3];

	assert_ok(look_back_once(type, all, tile, m->scratch, m->out));
	fetch(m, got, 3);
	assert_int_equal(got[0], sum_of(type, all, tile));
	assert_int_equal(got[1], sum_of(type, all, tile + 1));
	assert_int_equal(got[2], KNOWN_ALL);
}

/* Distances over several windows of 32 tiles; also the first tile, which has no predecessor. */
TEST(every_distance_is_right)
{
	static const uint32_t tiles[] = {1, 31, 32, 33, 64, 65, 100, TILES_MOST - 1};
	struct memory m = get_memory();

	for (size_t t = 0; t < 2; t++) {
		look_from(&m, types[t], 0, 0);
		for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
			for (uint32_t all = 0; all < tiles[i]; all++)
				look_from(&m, types[t], all, tiles[i]);
	}
	give_memory(m);
}

static void look_in_order(const struct sl_emulator_settings *order, enum sl_type type)
{
	struct memory m = get_memory();
	uint64_t got[TILES_MOST];

	sl_emulator_set_settings(order);
	assert_ok(look_back_all(type, TILES_MOST, m.scratch, m.out));
	fetch(&m, got, TILES_MOST);
	for (uint32_t i = 0; i < TILES_MOST; i++)
		assert_int_equal(got[i], sum_of(type, 0, i));
	give_memory(m);
}

/* Blocks that start with the last one, or one at a time, still get every sum that they wait for. */
TEST(every_order_of_blocks_is_right)
{
	for (uint32_t i = 0; i < 32; i++) {
		const struct sl_emulator_settings order = {.blocks = i % 16 + 1,
			.seed = i / 4,
			.from_last = i % 2 == 1,
			.memory_bytes = (size_t)1 << 30};

		look_in_order(&order, SL_U32);
		look_in_order(&order, SL_U64);
	}
}

/* Half of an inclusive sum and half of an own sum are not a sum. */
TEST(torn_words_are_unknown)
{
	struct memory m = get_memory();
	uint64_t known;

	assert_ok(look_back_halves(m.scratch, m.out));
	fetch(&m, &known, 1);
	assert_int_equal(known, KNOWN_NOTHING);
	give_memory(m);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
