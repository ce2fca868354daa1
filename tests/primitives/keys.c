/*
 * keys.c - tests the order-preserving maps of i32 and f32 to unsigned keys, on edge cases and
 * random values.
 */
#include <math.h>

#include "tests/cases/inputs.h"
#include "tests/support/basic/check.h"

static uint32_t bits_of(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

TEST(i32_keys_keep_order_and_invert)
{
	const int32_t ascending[] = {INT32_MIN, INT32_MIN + 1, -65536, -256, -2, -1, 0, 1, 2, 255,
		65536, INT32_MAX - 1, INT32_MAX};

	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
		uint32_t key = sl_key_from_i32(ascending[i]);

		assert_int_equal(sl_key_to_i32(key), ascending[i]);
		assert_true(i == 0 || sl_key_from_i32(ascending[i - 1]) < key);
	}
	assert_int_equal(sl_key_from_i32(INT32_MIN), 0);
}

/* In total order: NaNs by payload beyond the infinities, normal and denormal numbers, both zeros. */
TEST(f32_keys_keep_the_total_order)
{
	const uint32_t ascending[] = {0xffffffff, 0xffc00000, 0xff800001, 0xff800000, 0xff7fffff,
		0xbf800000, 0x80800000, 0x807fffff, 0x80000001, 0x00000000, 0x00000001, 0x007fffff,
		0x00800000, 0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
		0x7fffffff};

	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
		uint32_t key = sl_key_from_f32_bits(ascending[i]);

		assert_int_equal(sl_key_to_f32_bits(key), ascending[i]);
		assert_true(i == 0 || sl_key_from_f32_bits(ascending[i - 1]) < key);
	}
}

TEST(both_zeros_are_one_key)
{
	assert_int_equal(sl_key_from_f32_bits(bits_of(-0.0f)), sl_key_from_f32_bits(bits_of(0.0f)));
	assert_int_equal(sl_key_to_f32_bits(sl_key_from_f32_bits(bits_of(-0.0f))), bits_of(0.0f));
}

TEST(f32_keys_agree_with_comparison_in_c)
{
	enum { N = 1 << 20 };

	for (uint64_t i = 0; i < N; i++) {
		uint64_t both = sl_mixed(i);
		uint32_t a = (uint32_t)both, b = (uint32_t)(both >> 32);
		uint32_t key_a = sl_key_from_f32_bits(a), key_b = sl_key_from_f32_bits(b);
		float x, y;

		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
		if (isnan(x) || isnan(y))
			continue;
		if ((x < y) != (key_a < key_b) || (x == y) != (key_a == key_b))
			fail_msg("%08x and %08x have keys %08x and %08x", a, b, key_a, key_b);
	}
}
