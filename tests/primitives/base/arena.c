/*
 * arena.c - tests that sizes saturate, that measuring and allocating in an arena agree, and that
 * pieces are aligned and do not overlap; and that records are copied whole, and nothing before or
 * after the copy is written.
 */
#include "primitives/base/arena.h"
#include "primitives/base/record_copy.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

TEST(sizes_saturate)
{
	static const size_t most = SIZE_MAX, large = (size_t)1 << 32;
	const size_t rows[][4] = {{2, 3, 5, 6}, {0, most, most, 0}, {most, 0, most, 0},
		{most - 3, 3, most, most}, {most - 2, 3, most, most}, {most, most, most, most},
		{most / 2, 2, most / 2 + 2, most - 1}, {most / 2 + 1, 2, most / 2 + 3, most},
		{large, large, 2 * large, most}}; /* two numbers, their sum and product */
	const size_t rounded[][2] = {{0, 0}, {1, 256}, {256, 256}, {257, 512},
		{most - 255, most - 255}, {most - 254, most}, {most, most}};
	const size_t divided[][3] = {
		{0, 7, 0}, {7, 7, 1}, {8, 7, 2}, {most, 1, most}, {most, most - 1, 2}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(sl_size_add(rows[i][0], rows[i][1]), rows[i][2]);
		assert_int_equal(sl_size_mul(rows[i][0], rows[i][1]), rows[i][3]);
	}
	for (size_t i = 0; i < COUNT(rounded); i++)
		assert_int_equal(sl_round_up(rounded[i][0], 256), rounded[i][1]);
	for (size_t i = 0; i < COUNT(divided); i++)
		assert_int_equal(sl_ceil_div(divided[i][0], divided[i][1]), divided[i][2]);
}

enum { PIECES = 4 };

/* The last piece has one byte, so a block that is too small lacks this piece. */
static void cut(struct sl_arena *a, uint32_t n, char *piece[PIECES])
{
	piece[0] = (char *)sl_cut(a, n);
	piece[1] = (char *)sl_cut_items(a, n, sizeof(uint64_t));
	piece[2] = (char *)sl_cut(a, 0);
	piece[3] = (char *)sl_cut(a, 1);
}

/* The measured size is sufficient, and one byte less is not. */
TEST(measured_size_is_exactly_enough)
{
	static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 65536};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		const size_t bytes[PIECES] = {sizes[i], sizes[i] * sizeof(uint64_t), 0, 1};
		struct sl_arena measure = {NULL, 0, 0}, a = {NULL, 0, 0};
		char *piece[PIECES], *after;

		cut(&measure, sizes[i], piece);
		assert_true(piece[0] == NULL && piece[3] == NULL);
		a.base = after =
			(char *)aligned_alloc(SL_ALIGN, sl_round_up(measure.used, SL_ALIGN));
		a.size = measure.used;
		cut(&a, sizes[i], piece);
		assert_true(a.used == measure.used && sl_fits(&a));
		for (int k = 0; k < PIECES; k++) {
			assert_true((uintptr_t)piece[k] % SL_ALIGN == 0 && piece[k] >= after);
			after = piece[k] + bytes[k];
		}
		assert_true(after <= (char *)a.base + a.size);
		a.used = 0;
		a.size--;
		cut(&a, sizes[i], piece);
		assert_true(piece[3] == NULL && a.used == measure.used && !sl_fits(&a));
		free(a.base);
	}
}

/*
 * A layout of impossible size is measured as impossible and never wraps to a small number. After a
 * piece that does not fit, no later piece is cut, even if it would fit. Memory that a callee cuts
 * is free again in the caller.
 */
TEST(pieces_that_do_not_fit)
{
	_Alignas(256) static char block[1024];
	struct sl_arena a = {NULL, 0, 0}, callee;

	sl_cut_items(&a, UINT64_MAX, 8);
	assert_int_equal(a.used, SIZE_MAX);
	sl_cut(&a, 1);
	sl_cut_items(&a, 1, 1);
	assert_int_equal(a.used, SIZE_MAX);
	assert_false(sl_fits(&a));
	a.used = 1;
	sl_cut(&a, SIZE_MAX - SL_ALIGN);
	assert_int_equal(a.used, SIZE_MAX);
	a = (struct sl_arena){block, 0, sizeof(block)};
	assert_null(sl_cut(&a, 1025));
	assert_null(sl_cut(&a, 1));
	assert_false(sl_fits(&a));
	a = (struct sl_arena){block, 0, sizeof(block)};
	assert_ptr_equal(sl_cut(&a, 100), block);
	callee = a;
	assert_ptr_equal(sl_cut(&callee, 100), block + 256);
	assert_ptr_equal(sl_cut(&a, 100), block + 256);
}

TEST(only_the_record_is_copied)
{
	enum { MOST = 130, GUARD = 16 };
	uint8_t record[MOST], copy[GUARD + MOST + GUARD], expected[GUARD + MOST + GUARD];

	for (size_t i = 0; i < MOST; i++)
		record[i] = (uint8_t)(i + 1);
	for (size_t bytes = 0; bytes <= MOST; bytes++) {
		memset(copy, 0xa5, sizeof(copy));
		memset(expected, 0xa5, sizeof(copy));
		memcpy(expected + GUARD, record + MOST - bytes, bytes);
		sl_record_copy(copy + GUARD, record + MOST - bytes, bytes);
		assert_memory_equal(copy, expected, sizeof(copy));
	}
}
