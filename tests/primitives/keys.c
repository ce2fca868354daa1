/*
 * keys.c - tests the maps of i32 and f32 to unsigned keys: they keep the order, and are inverted.
 */
#include <math.h>

#include "tests/cases/inputs.h"
#include "tests/support/basic/check.h"

/*
 * Any bits; every fourth word is a limit of i32 or f32, or one of the next two: zeros, denormal
 * numbers, infinities, NaNs.
 */
static uint32_t word(uint64_t r)
{
	static const uint32_t limits[] = {0, 0x7fffff, 0x3f800000, 0x7f7fffff, 0x7f800000,
		0x7fbfffff, 0x7ffffffe, 0x80000000, 0x807fffff, 0xbf800000, 0xff7fffff, 0xff800000,
		0xffbfffff, 0xfffffffe};

	return r % 4 ? (uint32_t)(r >> 32) : limits[(r >> 8) % 14] + (uint32_t)((r >> 4) % 3);
}

/* The total order of floats: NaNs by payload beyond the infinities. Both zeros are one. */
static int64_t place(uint32_t bits)
{
	return bits >> 31 ? -(int64_t)(bits & INT32_MAX) : (int64_t)bits;
}

TEST(keys_keep_the_order_and_invert)
{
	for (uint64_t i = 0; i < 1 << 21; i++) {
		const uint32_t a = word(sl_mixed(2 * i)), b = word(sl_mixed(2 * i + 1));
		const uint32_t key_a = sl_key_from_f32_bits(a), key_b = sl_key_from_f32_bits(b);
		float x, y;

		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
		if ((place(a) < place(b)) != (key_a < key_b) ||
			(!isnan(x) && !isnan(y) && (x < y) != (key_a < key_b)) ||
			sl_key_to_f32_bits(key_a) != (place(a) == 0 ? 0 : a))
			fail_msg(
				"floats %08x and %08x have keys %08x and %08x", a, b, key_a, key_b);
		if (((int32_t)a < (int32_t)b) !=
				(sl_key_from_i32((int32_t)a) < sl_key_from_i32((int32_t)b)) ||
			sl_key_to_i32(sl_key_from_i32((int32_t)a)) != (int32_t)a)
			fail_msg("integers %08x and %08x", a, b);
	}
	assert_int_equal(sl_key_from_i32(INT32_MIN), 0);
}
