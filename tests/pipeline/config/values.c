/* values.c - single values: accepted text, exact bits after reading, and printing. */
#include "tests/support/basic/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/text/decimal_number.h"
#include "pipeline/config/values.h"
#include "stages/particle/random.h"
#include "tests/support/configs/configs.h"

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

static const struct {
	const char *name;
	const struct sl_option *option;
} kinds[] = {{"count", &count}, {"real", &plain}, {"length", &length}, {"angle", &angle},
	{"per_length", &per_length}};

/* The value has exactly the bits of the number as C reads it. */
static void check_value(const struct sl_option *o, const char *text, const char *expected)
{
	const bool refused = strcmp(expected, "refused") == 0;
	char why[SL_WHY_BYTES] = "";
	uint64_t value = 99, want = 0;
	double real = strtod(expected, NULL);

	if (o->kind == SL_KIND_COUNT)
		want = strtoull(expected, NULL, 10);
	else
		memcpy(&want, &real, sizeof(want));
	if (sl_value_parse(o, text, &value, why) == refused || (!refused && value != want))
		fail_msg("'%s' is %#llx, not %s: %s", text, (unsigned long long)value, expected,
			why);
	if (refused && !strstr(why, "; "))
		fail_msg("'%s': no advice: %s", text, why);
}

TEST(texts_have_values_or_are_refused)
{
	char path[4096], line[512];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/pipeline/config/values.txt", source_root());
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *text = strchr(line, '|'), *expected = strrchr(line, '|');
		size_t kind = 0;

		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		*text = *expected = '\0';
		while (strcmp(kinds[kind].name, line) != 0)
			assert_true(++kind < sizeof(kinds) / sizeof(kinds[0]));
		check_value(kinds[kind].option, text + 1, expected + 1);
		n++;
	}
	fclose(f);
	assert_int_equal(n, 133);
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
