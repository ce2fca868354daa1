/* key.c - tests quantised key fields: their limits, their order, and how they are packed. */
#include "stages/selection/key.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "stages/particle/random.h"
#include "tests/support/basic/check.h"

static struct sl_key_rule rule(enum sl_column column, uint32_t bits, double lo, double hi)
{
	struct sl_key_field field = {.column = column, .bits = bits, .lo = lo, .hi = hi};

	return sl_key_rule_make(&field);
}

TEST(floats_have_equal_steps)
{
	struct sl_key_rule f = rule(SL_COLUMN_w, 2, -1, 1);

	assert_int_equal(0, sl_key_of_float(&f, -1.0f));
	assert_int_equal(0, sl_key_of_float(&f, -0.50001f));
	assert_int_equal(1, sl_key_of_float(&f, -0.5f));
	assert_int_equal(2, sl_key_of_float(&f, 0.0f));
	assert_int_equal(2, sl_key_of_float(&f, -0.0f));
	assert_int_equal(3, sl_key_of_float(&f, 0.5f));
	assert_int_equal(3, sl_key_of_float(&f, 1.0f));
}

/* Ranges of all signs and sizes, with all numbers of bits. */
static const double ranges[][2] = {
	{-1, 1}, {0, 1}, {-3, -2}, {0, 1e-3}, {1e6, 2e6}, {-1e30, 1e30}, {-1e-30, 0}, {0.1, 0.3}};
enum { N_RANGES = sizeof(ranges) / sizeof(ranges[0]) };

TEST(values_outside_the_range_are_clamped)
{
	for (int i = 0; i < N_RANGES; i++)
		for (uint32_t bits = 1; bits <= 32; bits++) {
			double lo = ranges[i][0], hi = ranges[i][1];
			struct sl_key_rule f = rule(SL_COLUMN_x, bits, lo, hi);
			uint64_t most = (UINT64_C(1) << bits) - 1;

			assert_int_equal(0, sl_key_of_float(&f, -INFINITY));
			assert_int_equal(0, sl_key_of_float(&f, -FLT_MAX));
			assert_int_equal(0, sl_key_of_float(&f, (float)(lo - 0.1 * (hi - lo))));
			assert_int_equal(0, sl_key_of_float(&f, (float)lo));
			assert_int_equal(0, sl_key_of_float(&f, NAN));
			assert_int_equal(0, sl_key_of_float(&f, -NAN));
			assert_int_equal(most, sl_key_of_float(&f, (float)(hi + 0.1 * (hi - lo))));
			assert_int_equal(most, sl_key_of_float(&f, FLT_MAX));
			assert_int_equal(most, sl_key_of_float(&f, INFINITY));
			/* rounding of lo and of the steps may lose the last few values near hi */
			assert_true(sl_key_of_float(&f, (float)hi) >= most - most / 1000000);
		}
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

TEST(floats_keep_their_order)
{
	enum { N = 1000000 };
	float *value = (float *)malloc(N * sizeof(float));

	assert_non_null(value);
	for (uint64_t i = 0; i < N; i++) { /* half in the range, half anything but NaN */
		struct sl_words random = sl_draw(1, i, 0);
		float any;

		memcpy(&any, &random.at[1], sizeof(any));
		value[i] = i % 2 || any != any ? 3 * sl_uniform(random.at[0]) - 1.5f : any;
	}
	qsort(value, N, sizeof(float), by_value);
	for (uint32_t bits = 1; bits <= 32; bits += bits < 31 ? 5 : 1) {
		struct sl_key_rule f = rule(SL_COLUMN_u, bits, -1, 1);
		uint64_t last = 0, n = 1;

		for (int i = 0; i < N; i++) {
			uint64_t key = sl_key_of_float(&f, value[i]);

			assert_true(key >= last && key <= f.most);
			n += key != last;
			last = key;
		}
		assert_int_equal(f.most, last);
		assert_true(bits > 11 ? n > 60000 : n == f.most + 1);
	}
	free(value);
}

static struct sl_key_rule log_rule(uint32_t bits, double lo, double hi)
{
	struct sl_key_field field = {
		.column = SL_COLUMN_energy, .bits = bits, .lo = lo, .hi = hi, .logarithmic = true};

	return sl_key_rule_make(&field);
}

/* For positive numbers, eight bits are the exponent and the rest are equal steps within it. */
TEST(logarithmic_steps_are_equal)
{
	struct sl_key_rule f = log_rule(12, 0, INFINITY);

	assert_int_equal(0, sl_key_of_log(&f, -1));
	assert_int_equal(0, sl_key_of_log(&f, -INFINITY));
	assert_int_equal(0, sl_key_of_log(&f, 0));
	assert_int_equal(0, sl_key_of_log(&f, -0.0f));
	assert_int_equal(0, sl_key_of_log(&f, NAN));
	for (int power = -126; power < 128; power++)
		for (int part = 0; part < 16; part++) {
			float v = ldexpf(1 + (float)part / 16, power);

			assert_int_equal((power + 127) * 16 + part, sl_key_of_log(&f, v));
			if (power > -126 || part > 0)
				assert_int_equal((power + 127) * 16 + part - 1,
					sl_key_of_log(&f, nextafterf(v, 0)));
		}
	assert_int_equal(255 * 16, sl_key_of_log(&f, INFINITY));
	f = log_rule(4, 1, 16);
	assert_int_equal(0, sl_key_of_log(&f, 0.5f));
	assert_int_equal(0, sl_key_of_log(&f, 1));
	assert_int_equal(2, sl_key_of_log(&f, 2));
	assert_int_equal(4, sl_key_of_log(&f, 4));
	assert_int_equal(7, sl_key_of_log(&f, nextafterf(16, 0)));
	assert_int_equal(15, sl_key_of_log(&f, 1e9f));
}

/* Negative numbers are in order too. */
TEST(signs_are_in_order)
{
	static const int32_t some[] = {INT32_MIN, -1000, -12, -11, -1, 0, 1, 22, 2112, INT32_MAX};
	struct sl_key_rule f = rule(SL_COLUMN_pdg, 32, -0x1p31, 0x1p31 - 1);
	struct sl_particle p = {.pdg = 0};
	struct sl_columns c = sl_columns_of(&p);

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		p.pdg = some[i];
		assert_true(sl_key_pack(&f, 1, &c, 0, 0) ==
			    (uint64_t)((int64_t)some[i] + INT64_C(0x80000000)));
	}
	f = rule(SL_COLUMN_pdg, 5, -11, 22);
	p.pdg = -300;
	assert_int_equal(0, sl_key_pack(&f, 1, &c, 0, 0));
	p.pdg = -9;
	assert_int_equal(1, sl_key_pack(&f, 1, &c, 0, 0)); /* 33 / 2 fits in 5 bits */
	p.pdg = 22;
	assert_int_equal(16, sl_key_pack(&f, 1, &c, 0, 0));
	p.pdg = 2212;
	assert_int_equal(31, sl_key_pack(&f, 1, &c, 0, 0));
}

TEST(integers_are_shifted_to_fit)
{
	struct sl_key_rule f = rule(SL_COLUMN_pixel, 12, 0, 4095);

	assert_int_equal(0, f.shift);
	assert_int_equal(4095, sl_key_of_integer(&f, 4095));
	assert_int_equal(4095, sl_key_of_integer(&f, UINT64_MAX));
	f = rule(SL_COLUMN_pixel, 12, 0, 4096);
	assert_int_equal(1, f.shift);
	assert_int_equal(2048, sl_key_of_integer(&f, 4096));
	f = rule(SL_COLUMN_steps, 4, 100, 199);
	assert_int_equal(3, f.shift); /* 99 / 8 = 12 */
	assert_int_equal(0, sl_key_of_integer(&f, 0));
	assert_int_equal(0, sl_key_of_integer(&f, 107));
	assert_int_equal(1, sl_key_of_integer(&f, 108));
	assert_int_equal(12, sl_key_of_integer(&f, 199));
	assert_int_equal(15, sl_key_of_integer(&f, 1000));
	f = rule(SL_COLUMN_fate, 1, 0, 0);
	assert_int_equal(0, sl_key_of_integer(&f, 0));
	f = rule(SL_COLUMN_id, 1, 0, 0x1p63);
	assert_int_equal(63, f.shift);
	assert_int_equal(1, sl_key_of_integer(&f, UINT64_C(1) << 63));
	f = rule(SL_COLUMN_id, 64, 0, 0x1p63);
	assert_int_equal(0, f.shift);
	assert_int_equal(UINT64_MAX, sl_key_of_integer(&f, UINT64_MAX));
}

TEST(first_field_is_most_significant)
{
	float w[] = {0, 1.0f};
	uint32_t pixel[] = {0, 5}, steps[] = {0, 2};
	uint8_t fate[] = {0, 3};
	struct sl_columns c = {.w = w, .pixel = pixel, .steps = steps, .fate = fate};
	struct sl_key_rule f[] = {
		rule(SL_COLUMN_w, 32, -1, 1),
		rule(SL_COLUMN_pixel, 12, 0, 4095),
		rule(SL_COLUMN_fate, 3, 0, 7),
		rule(SL_COLUMN_steps, 2, 0, 3),
		rule(SL_COLUMN_id, 15, 0, 32767),
	};

	assert_true(sl_key_pack(f, 0, &c, 1, 9) == 0);
	assert_true(sl_key_pack(f, 1, &c, 1, 9) == 0xffffffffu);
	assert_true(sl_key_pack(f, 1, &c, 0, 9) == 0x80000000u);
	assert_true(sl_key_pack(f, 5, &c, 1, 9) ==
		    (0xffffffffu * UINT64_C(0x100000000) | 5u << 20 | 3u << 17 | 2u << 15 | 9u));
	assert_true(sl_key_pack(f + 1, 2, &c, 1, 9) == (5u << 3 | 3u));
	assert_true(sl_key_pack(f + 4, 1, &c, 0, 40000) == 32767);
}

/* Each float has its own key, in the order of numbers; NaN is first. */
TEST(exact_fields_order_all_floats)
{
	const struct sl_key_field field = {.column = SL_COLUMN_energy, .bits = 32, .exact = true};
	struct sl_key_rule f = sl_key_rule_make(&field);
	uint64_t equal = 0;

	assert_int_equal(0, sl_key_of_real(&f, NAN));
	assert_int_equal(0, sl_key_of_real(&f, -NAN));
	assert_true(sl_key_of_real(&f, -INFINITY) > 0);
	assert_true(sl_key_of_real(&f, -0.0f) == sl_key_of_real(&f, 0.0f));
	assert_true(sl_key_of_real(&f, -1e-45f) < sl_key_of_real(&f, -0.0f));
	assert_true(sl_key_of_real(&f, INFINITY) > sl_key_of_real(&f, FLT_MAX));
	for (uint64_t i = 0; i < 1000000; i++) {
		struct sl_words random = sl_draw(2, i, 0);
		uint32_t near = random.at[0] + random.at[2] % 3 - 1;
		float a = sl_float(random.at[0]), b = sl_float(i % 2 ? random.at[1] : near);
		uint64_t key_a = sl_key_of_real(&f, a), key_b = sl_key_of_real(&f, b);

		if (a != a || b != b)
			continue;
		equal += a == b;
		if ((a < b) != (key_a < key_b) || (a == b) != (key_a == key_b))
			fail_msg("%.9g and %.9g have the keys %llx and %llx", (double)a, (double)b,
				(unsigned long long)key_a, (unsigned long long)key_b);
	}
	assert_true(equal > 100000);
}

/* Descending fields are the ascending ones from the other end, each within its own bits. */
TEST(descending_fields_are_reversed)
{
	struct sl_key_field fields[] = {{.column = SL_COLUMN_steps, .bits = 4, .lo = 0, .hi = 15},
		{.column = SL_COLUMN_w, .bits = 32, .exact = true},
		{.column = SL_COLUMN_energy, .bits = 12, .hi = INFINITY, .logarithmic = true},
		{.column = SL_COLUMN_x, .bits = 8, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_fate, .bits = 3, .lo = 0, .hi = 7}};
	struct sl_particle p = {.steps = 3, .w = -0.25f, .energy = 7, .x = 0.3f, .fate = 5};
	struct sl_columns c = sl_columns_of(&p);
	struct sl_key_rule up[5], down[5];
	uint64_t most = (UINT64_C(1) << 59) - 1;

	for (int i = 0; i < 5; i++) {
		up[i] = sl_key_rule_make(&fields[i]);
		fields[i].descending = true;
		down[i] = sl_key_rule_make(&fields[i]);
	}
	assert_true(sl_key_pack(down, 5, &c, 0, 0) == (sl_key_pack(up, 5, &c, 0, 0) ^ most));
	assert_int_equal(sl_key_pack(down, 1, &c, 0, 0), 12);
	up[0] = down[0]; /* one field only */
	assert_true(sl_key_pack(up, 5, &c, 0, 0) >> 55 == 12);
	p.steps = 99;
	assert_int_equal(sl_key_pack(down, 1, &c, 0, 0), 0);
	fields[0] = (struct sl_key_field){
		.column = SL_COLUMN_id, .bits = 64, .hi = 0x1p63, .descending = true};
	down[0] = sl_key_rule_make(&fields[0]);
	assert_true(sl_key_pack(down, 1, &c, 0, 10) == UINT64_MAX - 10);
}

/* A field of 64 bits fills the whole key. */
TEST(an_id_may_use_all_bits)
{
	const uint64_t ids[] = {0, 1, 0xdeadbeefcafebabeu, UINT64_MAX};
	struct sl_key_rule f = rule(SL_COLUMN_id, 64, 0, 0x1p63);
	struct sl_columns none = {0};

	for (int i = 0; i < 4; i++)
		assert_true(sl_key_pack(&f, 1, &none, 0, ids[i]) == ids[i]);
}
