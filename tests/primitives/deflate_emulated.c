/*
 * deflate_emulated.c - the device's encoder on the emulated device: byte for byte what the
 * specification writes, with every kind of input and cut, and threads in any order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/base/emulated.h"
#include "tests/support/check.h"
#include "tests/support/deflate_check.h"

enum { SEGMENT = 1 << 15 };

static uint8_t in[12 * SEGMENT];

static void try_kind(enum deflate_input kind, size_t bytes, struct deflate_try t)
{
	const struct sl_backend *b;

	t.exact = true;
	assert_ok(sl_find(SL_DEFLATE, "device", &b));
	deflate_input_make(kind, bytes, in);
	deflate_check(b, in, bytes, t);
}

static void small_sizes(void **state)
{
	(void)state;
	for (size_t n = 0; n < 300; n += n < 24 ? 1 : 23)
		try_kind((enum deflate_input)(n % DEFLATE_INPUTS), n,
			(struct deflate_try){.wrapper = (enum sl_wrapper)(n % 3)});
}

/* Around a slice, a round and a segment. */
static void sizes_at_edges(void **state)
{
	static const size_t sizes[] = {256 + 4, 256 + 5, 256 + 6, 257, 258, 259, 516, 517,
		SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT + 258};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		try_kind((enum deflate_input)((3 * i + 1) % DEFLATE_INPUTS), sizes[i],
			(struct deflate_try){.wrapper = (enum sl_wrapper)((i + 1) % 3)});
}

static void every_kind(void **state)
{
	(void)state;
	for (int kind = 0; kind < DEFLATE_INPUTS; kind++)
		try_kind((enum deflate_input)kind, SEGMENT - 8 * (size_t)kind,
			(struct deflate_try){.wrapper = SL_ZLIB});
}

/* More segments than the device has room for at a time; planes; chunks; a place behind others. */
static void every_cut(void **state)
{
	static const struct deflate_try tries[] = {
		{.chunk_bytes = 4 * 4096 + 32, .item_bytes = 4, .whole_chunks = true, .used = 77},
		{.chunk_bytes = 4000, .item_bytes = 8, .used = 3, .wrapper = SL_ZLIB},
		{.item_bytes = 2, .wrapper = SL_GZIP},
		{.chunk_bytes = 96, .wrapper = SL_GZIP, .whole_chunks = true},
	};

	(void)state;
	try_kind(DEFLATE_KEYS, 3 * (4 * 4096 + 32) + 400, tries[0]);
	try_kind(DEFLATE_IDS, 24 * 1000, tries[1]);
	try_kind(DEFLATE_FLOATS, 3 * SEGMENT + 20, tries[2]);
	try_kind(DEFLATE_TEXT, 96 * 600 + 1, tries[3]);
}

/* Too small an output: streams that fit are there, in place, and nothing behind them. */
static void every_schedule_gives_the_same(void **state)
{
	static const struct sl_emulated_choices schedules[] = {
		{.blocks = 1, .memory_bytes = 1 << 30},
		{.blocks = 2, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 7, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 3, .turing = true, .memory_bytes = 1 << 30},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
		sl_emulated_choose(&schedules[i]);
		try_kind(DEFLATE_REPEATS, 700 + i, (struct deflate_try){.wrapper = SL_ZLIB});
		try_kind(DEFLATE_TEXT, 96 * 20,
			(struct deflate_try){.chunk_bytes = 96, .wrapper = SL_GZIP});
	}
	sl_emulated_choose(&schedules[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_sizes),
		cmocka_unit_test(sizes_at_edges),
		cmocka_unit_test(every_kind),
		cmocka_unit_test(every_cut),
		cmocka_unit_test(every_schedule_gives_the_same),
	};

	sl_device_emulate(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
