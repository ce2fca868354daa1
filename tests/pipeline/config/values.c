/* values.c - single values: accepted text, exact bits after reading, and printing. */
#include "tests/support/basic/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "pipeline/text/decimal_number.h"
#include "pipeline/config/values.h"
#include "stages/particle/random.h"

static const char *const words[] = {"disk", "rectangle", NULL};

static const struct sl_option count = {
	.key = "n", .kind = SL_KIND_COUNT, .lo = 0, .hi = 0x1p64, .automatic = true};
static const struct sl_option plain = {
	.key = "g", .kind = SL_KIND_REAL, .lo = -HUGE_VAL, .hi = HUGE_VAL};
static const struct sl_option length = {.key = "l",
	.kind = SL_KIND_REAL,
	.dimension = SL_DIM_LENGTH,
	.lo = -HUGE_VAL,
	.hi = HUGE_VAL};
static const struct sl_option angle = {.key = "a",
	.kind = SL_KIND_REAL,
	.dimension = SL_DIM_ANGLE,
	.lo = -HUGE_VAL,
	.hi = HUGE_VAL};
static const struct sl_option per_length = {
	.key = "m", .kind = SL_KIND_REAL, .dimension = SL_DIM_PER_LENGTH, .lo = 0, .hi = HUGE_VAL};
static const struct sl_option flag = {.key = "b", .kind = SL_KIND_BOOL};
static const struct sl_option choice = {.key = "c", .kind = SL_KIND_CHOICE, .choices = words};
static const struct sl_option text_option = {.key = "t", .kind = SL_KIND_TEXT};

TEST(counts_are_exact_integers)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {{"0", 0}, {"7", 7}, {"1e6", 1000000}, {"1E6", 1000000}, {"1e+6", 1000000},
		{"1_000_000", 1000000}, {"1.5e3", 1500}, {"100e-2", 1}, {"2.0", 2}, {"2.50e1", 25},
		{"0e99999999999", 0}, {"0.0", 0}, {"-0", 0}, {"+5", 5}, {".5e1", 5},
		{"1_0.0e1", 100}, {"18446744073709551615", UINT64_MAX},
		{"1844674407370955161.5e1", UINT64_MAX}, {"9007199254740993", 9007199254740993},
		{"184467440737095516150e-1", UINT64_MAX}, {"auto", 0}};
	static const char *const bad[] = {"", " 1", "1 ", "1e", "1e6x", "e6", "1.5", "15e-1", "-1",
		"-1e-9", "_1", "1_", "1__0", "1_e3", "1e1_0", "1._5", "01", "00", "0_1", "1 000",
		"0x10", "1e20", "18446744073709551616", "184467440737095516151e-1",
		"1e99999999999999999999", "inf", "nan", "1,5", "10 keV", "2^20", "ten", "+", "-",
		".", "--1", "1-", "Auto", "1.e", "1."};
	char why[SL_WHY_BYTES];
	uint64_t value;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		value = 99;
		if (!sl_value_parse(&count, good[i].text, &value, why))
			fail_msg("%s: %s", good[i].text, why);
		assert_int_equal(value, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		if (sl_value_parse(&count, bad[i], &value, why))
			fail_msg("'%s' is read as %llu", bad[i], (unsigned long long)value);
		assert_non_null(strstr(why, "; "));
	}
}

TEST(quantities_are_converted_exactly)
{
	static const struct {
		const struct sl_option *o;
		const char *text;
		double value;
	} good[] = {{&plain, "0.75", 0.75}, {&plain, "-1e-3", -1e-3}, {&plain, ".5", 0.5},
		{&plain, "inf", HUGE_VAL}, {&plain, "-inf", -HUGE_VAL},
		{&plain, "4.9406564584124654e-324", 4.9406564584124654e-324},
		{&plain, "1.7976931348623157e308", DBL_MAX},
		{&plain, "2.2250738585072011e-308", 2.2250738585072011e-308},
		{&plain, "0.1000000000000000055511151231257827021181583404541015625", 0.1},
		{&length, "0.02 cm", 0.02}, {&length, "0.2 mm", 0.02}, {&length, "200 um", 0.02},
		{&length, "200um", 0.02}, {&length, "0.0002   m", 0.02}, {&length, "2e5 nm", 0.02},
		{&length, "2e-7 km", 0.02}, {&length, "0", 0}, {&length, "0 m", 0},
		{&length, "inf", HUGE_VAL}, {&length, "inf cm", HUGE_VAL}, {&length, "-3 m", -300},
		{&per_length, "10 /cm", 10}, {&per_length, "10/cm", 10}, {&per_length, "1 /mm", 10},
		{&per_length, "1000 /m", 10}, {&angle, "180 deg", 180 * 0.017453292519943295},
		{&angle, "1 mrad", 1e-3}};
	static const struct {
		const struct sl_option *o;
		const char *text;
	} bad[] = {{&plain, ""}, {&plain, "nan"}, {&plain, "NaN"}, {&plain, "infinity"},
		{&plain, "Inf"}, {&plain, ".inf"}, {&plain, "0x1p3"}, {&plain, "1e"},
		{&plain, "1 2"}, {&plain, "1,5"}, {&plain, "1_0"}, {&plain, "1e999"},
		{&plain, "-1e999"}, {&plain, "1e-999"}, {&plain, "5 cm"}, {&plain, "01.5"},
		{&plain, "--1"}, {&plain, "1 "}, {&plain, " 1"}, {&plain, "1e5.5"}, {&length, "1"},
		{&length, "1 keV"}, {&length, "1 cm cm"}, {&length, "1 c m"}, {&length, "cm"},
		{&length, "1 CM"}, {&length, "0 keV"}, {&length, "inf keV"}, {&length, "1 cm "},
		{&length, "1e cm"}, {&per_length, "1 cm"}, {&per_length, "1 / cm"},
		{&per_length, "-1 /cm"}, {&per_length, "-inf"}};
	char why[SL_WHY_BYTES];
	double value;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!sl_value_parse(good[i].o, good[i].text, &value, why))
			fail_msg("%s: %s", good[i].text, why);
		assert_memory_equal(&value, &good[i].value, sizeof(value));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		if (sl_value_parse(bad[i].o, bad[i].text, &value, why))
			fail_msg("'%s' is read as %g", bad[i].text, value);
		assert_non_null(strstr(why, "; "));
	}
}

/*
 * Random bit patterns, and the neighbours of powers of ten and of two, where decimal rounding is
 * hardest.
 */
static double random_bit_pattern(uint64_t i)
{
	struct sl_words random = sl_draw(7, i, 0);
	uint64_t bits = (uint64_t)random.at[0] << 32 | random.at[1];
	double value;

	if (i % 4 == 0)
		return nextafter(pow(10, (double)(i % 600) - 300), i % 8 ? 0 : HUGE_VAL);
	if (i % 4 == 1)
		return nextafter(ldexp(1, (int)(i % 2000) - 1000), i % 8 == 1 ? 0 : HUGE_VAL);
	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? value : 0.1 * (double)i;
}

TEST(printed_reals_read_back)
{
	static const struct sl_option *const options[] = {&plain, &length, &angle};
	char text[SL_VALUE_BYTES], why[SL_WHY_BYTES];

	for (uint64_t i = 0; i < 100000; i++) {
		double value = random_bit_pattern(i), again;

		sl_value_print(options[i % 3], &value, text);
		if (!sl_value_parse(options[i % 3], text, &again, why))
			fail_msg("%s: %s", text, why);
		assert_memory_equal(&value, &again, sizeof(value));
	}
}

TEST(printed_reals_are_short)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "-0"}, {10, "10"}, {0.1, "0.1"}, {0.02, "0.02"},
		{1e30, "1e+30"}, {-0.75, "-0.75"}, {29.9792458, "29.9792458"},
		{1.0 / 3, "0.3333333333333333"}, {HUGE_VAL, "inf"}, {-HUGE_VAL, "-inf"},
		{1e-5, "1e-05"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sl_double_print(cases[i].value, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

TEST(words_must_match_completely)
{
	char why[SL_WHY_BYTES];
	bool yes = false;
	int place = -1;

	assert_true(sl_value_parse(&flag, "true", &yes, why) && yes);
	assert_true(sl_value_parse(&flag, "false", &yes, why) && !yes);
	assert_false(sl_value_parse(&flag, "yes", &yes, why));
	assert_string_equal(why, "must be true or false, and is 'yes'; write true or false");
	assert_false(sl_value_parse(&flag, "", &yes, why));
	assert_true(sl_value_parse(&choice, "rectangle", &place, why));
	assert_int_equal(place, 1);
	assert_false(sl_value_parse(&choice, "rectangl", &place, why));
	assert_string_equal(why, "'rectangl' is not a valid choice; use rectangle");
	assert_false(sl_value_parse(&choice, "", &place, why));
}

TEST(texts_are_quoted_where_needed)
{
	static const char *const cases[][2] = {{"demo", "demo"}, {"out/a.b-c_d", "out/a.b-c_d"},
		{"w:16", "w:16"}, {"w:", "\"w:\""}, {"7up", "\"7up\""}, {"a b", "\"a b\""},
		{"a\"b\\", "\"a\\\"b\\\\\""}, {"", "\"\""}, {"-x", "\"-x\""}, {"#x", "\"#x\""},
		{"\303\274", "\"\\u00fc\""}, {"\342\200\250", "\"\\u2028\""},
		{"\360\237\214\212", "\"\\U0001f30a\""}};
	char text[SL_VALUE_BYTES], value[SL_TEXT_BYTES], why[SL_WHY_BYTES], most[SL_TEXT_BYTES + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(sl_value_parse(&text_option, cases[i][0], value, why));
		sl_value_print(&text_option, value, text);
		assert_string_equal(text, cases[i][1]);
	}
	memset(most, 'a', sizeof(most));
	most[SL_TEXT_BYTES] = '\0';
	assert_false(sl_value_parse(&text_option, most, value, why));
	most[SL_TEXT_BYTES - 1] = '\0';
	assert_true(sl_value_parse(&text_option, most, value, why));
	assert_false(sl_value_parse(&text_option, "a\nb", value, why));
	assert_false(sl_value_parse(&text_option, "a\x7f", value, why));
}
