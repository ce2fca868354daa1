/*
 * arena.c - tests that measuring and allocating in an arena agree, that sizes saturate, and that
 * pieces are aligned and do not overlap; and that records are copied whole, and nothing before or after the copy is written.
 */
#include "primitives/base/arena.h"
#include "primitives/base/record_copy.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

TEST(sizes_saturate)
{
	static const struct {
		size_t a, b, sum, product;
	} rows[] = {{2, 3, 5, 6}, {0, SIZE_MAX, SIZE_MAX, 0}, {SIZE_MAX, 0, SIZE_MAX, 0},
		{SIZE_MAX - 3, 3, SIZE_MAX, SIZE_MAX}, {SIZE_MAX - 2, 3, SIZE_MAX, SIZE_MAX},
		{SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX},
		{SIZE_MAX / 2, 2, SIZE_MAX / 2 + 2, SIZE_MAX - 1},
		{SIZE_MAX / 2 + 1, 2, SIZE_MAX / 2 + 3, SIZE_MAX},
		{(size_t)1 << 32, (size_t)1 << 32, (size_t)1 << 33, SIZE_MAX}};
	static const size_t rounded[][2] = {{0, 0}, {1, 256}, {256, 256}, {257, 512},
		{SIZE_MAX - 255, SIZE_MAX - 255}, {SIZE_MAX - 254, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}};
	static const uint64_t divided[][3] = {{0, 7, 0}, {7, 7, 1}, {8, 7, 2},
		{UINT64_MAX, 1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX - 1, 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(sl_size_add(rows[i].a, rows[i].b), rows[i].sum);
		assert_int_equal(sl_size_mul(rows[i].a, rows[i].b), rows[i].product);
	}
	for (size_t i = 0; i < sizeof(rounded) / sizeof(rounded[0]); i++)
		assert_int_equal(sl_round_up(rounded[i][0], 256), rounded[i][1]);
	for (size_t i = 0; i < sizeof(divided) / sizeof(divided[0]); i++)
		assert_int_equal(sl_ceil_div(divided[i][0], divided[i][1]), divided[i][2]);
}

struct layout {
	char *bytes;
	uint64_t *items;
	char *nothing;
	char *last;
};

static struct layout lay_out(struct sl_arena *a, uint32_t n)
{
	struct layout l;

	l.bytes = (char *)sl_cut(a, n);
	l.items = (uint64_t *)sl_cut_items(a, n, sizeof(uint64_t));
	l.nothing = (char *)sl_cut(a, 0);
	l.last = (char *)sl_cut(a, 1);
	return l;
}

/* A piece is inside the block, aligned, and after the previous piece. Returns its end. */
static const char *check_piece(
	const struct sl_arena *a, const char *after, const void *piece, size_t bytes)
{
	const char *at = (const char *)piece;

	assert_non_null(at);
	assert_int_equal((uintptr_t)at % SL_ALIGN, 0);
	assert_true(at >= after);
	assert_true(at + bytes <= (const char *)a->base + a->size);
	return at + bytes;
}

/* The measured size is sufficient, and one byte less is not. */
TEST(measured_size_is_exactly_enough)
{
	static const uint32_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 65536};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];
		struct sl_arena measure = {NULL, 0, 0}, cut = {NULL, 0, 0};
		struct layout l = lay_out(&measure, n);
		const char *after;

		assert_null(l.bytes);
		assert_null(l.last);
		cut.base = aligned_alloc(SL_ALIGN, sl_round_up(measure.used, SL_ALIGN));
		cut.size = measure.used;
		l = lay_out(&cut, n);
		assert_int_equal(cut.used, measure.used);
		assert_true(sl_fits(&cut));
		after = check_piece(&cut, (const char *)cut.base, l.bytes, n);
		after = check_piece(&cut, after, l.items, n * sizeof(uint64_t));
		after = check_piece(&cut, after, l.nothing, 0);
		check_piece(&cut, after, l.last, 1);

		cut.used = 0;
		cut.size--;
		l = lay_out(&cut, n);
		assert_null(l.last);
		assert_int_equal(cut.used, measure.used);
		assert_false(sl_fits(&cut));
		free(cut.base);
	}
}

/*
 * A layout of impossible size is measured as impossible and never wraps to a small number. After a piece that does not fit,
 * no later piece is cut, even if it would fit. Memory that a callee cuts is free again in the caller.
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

/* --- records ---------------------------------------------------------------------------------- */

enum { MOST = 130, GUARD = 16, FILL = 0xa5 };

TEST(only_the_record_is_copied)
{
	uint8_t record[MOST], copy[GUARD + MOST + GUARD];

	for (size_t i = 0; i < MOST; i++)
		record[i] = (uint8_t)(i + 1);
	for (size_t bytes = 0; bytes <= MOST; bytes++) {
		memset(copy, FILL, sizeof(copy));
		sl_record_copy(copy + GUARD, record + MOST - bytes, bytes);
		assert_memory_equal(copy + GUARD, record + MOST - bytes, bytes);
		for (size_t i = 0; i < GUARD; i++) {
			assert_int_equal(copy[i], FILL);
			assert_int_equal(copy[GUARD + bytes + i], FILL);
		}
	}
}
