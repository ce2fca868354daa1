/* values.c - single values: accepted text, exact bits after reading, and printing. */
#include "tests/support/basic/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/config/config.h"
#include "pipeline/text/text.h"
#include "stages/particle/random.h"
#include "tests/support/configs/configs.h"

static const char *const words[] = {"disk", "rectangle", NULL};

#define REAL(name, unit, least)                                                                   \
	{                                                                                         \
		.key = name, .kind = SL_KIND_REAL, .dimension = unit, .lo = least, .hi = HUGE_VAL \
	}

static const struct sl_option options[] = {
	REAL("real", SL_DIM_NUMBER, -HUGE_VAL),
	REAL("length", SL_DIM_LENGTH, -HUGE_VAL),
	REAL("angle", SL_DIM_ANGLE, -HUGE_VAL),
	REAL("per_length", SL_DIM_PER_LENGTH, 0),
	{.key = "count", .kind = SL_KIND_COUNT, .hi = 0x1p64, .automatic = true},
	{.key = "bool", .kind = SL_KIND_BOOL},
	{.key = "choice", .kind = SL_KIND_CHOICE, .choices = words},
	{.key = "text", .kind = SL_KIND_TEXT},
};

/* Numbers have exactly the bits that C reads; other values are printed as expected. */
static bool is_value(const struct sl_option *o, const void *value, const char *expected)
{
	uint64_t count = strtoull(expected, NULL, 10);
	double real = strtod(expected, NULL);
	char printed[SL_VALUE_BYTES];

	if (o->kind == SL_KIND_COUNT || o->kind == SL_KIND_REAL)
		return memcmp(value, o->kind == SL_KIND_REAL ? (void *)&real : &count,
			       sizeof(real)) == 0;
	sl_value_print(o, value, printed);
	return strcmp(printed, expected) == 0;
}

static void check_value(const struct sl_option *o, const char *text, const char *expected)
{
	const bool refused = strcmp(expected, "refused") == 0;
	_Alignas(8) char value[SL_TEXT_BYTES] = "";

	if (sl_value_parse(o, text, value) == refused ||
		(refused ? !strstr(sl_last_error(), "; ") : !is_value(o, value, expected)))
		fail_msg("%s '%s' is not %s: %s", o->key, text, expected, sl_last_error());
}

TEST(texts_have_values_or_are_refused)
{
	FILE *f = open_source("tests/pipeline/config/values.txt");
	char line[LINE_BYTES];
	int n = 0;

	for (; next_line(f, line); n++) {
		char *text = strchr(line, '|'), *expected = strrchr(line, '|');
		size_t kind = 0;

		*text++ = *expected++ = '\0';
		if (strcmp(line, "shortest") == 0) {
			assert_string_equal(sl_double_text(strtod(text, NULL)), expected);
			continue;
		}
		while (strcmp(options[kind].key, line) != 0)
			assert_true(++kind < sizeof(options) / sizeof(options[0]));
		check_value(&options[kind], text, expected);
	}
	fclose(f);
	assert_true(n > 150);
}

/*
 * Random bits, and the neighbours of powers of ten and of two, where decimal rounding is hardest.
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
	char text[SL_VALUE_BYTES];

	for (uint64_t i = 0; i < 20000; i++) {
		double value = random_bit_pattern(i), again;

		sl_value_print(&options[i % 3], &value, text);
		if (!sl_value_parse(&options[i % 3], text, &again))
			fail_msg("%s: %s", text, sl_last_error());
		assert_memory_equal(&value, &again, sizeof(value));
	}
}
