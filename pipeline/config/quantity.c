/* quantity.c - counts and numbers with units: read as a whole, or refused with a reason. */
#include "pipeline/config/quantity.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/values.h"
#include "pipeline/text/decimal_number.h"
#include "pipeline/text/messages.h"

bool sl_refuse(char why[SL_WHY_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, SL_WHY_BYTES, format, args);
	va_end(args);
	return false;
}

/* 0777 is 511 to some readers of YAML. */
static bool padded(const char *shown, char why[SL_WHY_BYTES])
{
	return sl_refuse(why,
		"%s begins with a needless 0 (some take that for octal), try it without", shown);
}

/* --- counts ----------------------------------------------------------------------------------- */

bool sl_count_parse(const char *text, uint64_t *value, char why[SL_WHY_BYTES])
{
	char shown[SL_SHOWN_BYTES];
	struct sl_number n;

	sl_show(shown, text);
	if (!sl_number_scan(text, &n) || *n.end)
		return sl_refuse(why,
			"%s is not a count (all of it must be one whole number without a unit), "
			"try a number such as 1e6 or 1_000_000",
			shown);
	if (n.padded)
		return padded(shown, why);
	switch (sl_number_whole(&n, value)) {
	case SL_WHOLE_NEGATIVE:
		return sl_refuse(
			why, "%s is negative (a count is not), try a whole number from 0", shown);
	case SL_WHOLE_FRACTION:
		return sl_refuse(
			why, "%s is not whole (things are counted), try a whole number", shown);
	case SL_WHOLE_TOO_LARGE:
		return sl_refuse(why, "%s is too large (counts have 64 bits), try at most %llu",
			shown, (unsigned long long)UINT64_MAX);
	case SL_WHOLE:
		break;
	}
	return true;
}

/* --- quantities ------------------------------------------------------------------------------- */

static const struct sl_unit_facts *find_unit(const char *text)
{
	for (int i = 0; i < SL_UNIT_COUNT; i++)
		if (strcmp(sl_units[i].text, text) == 0)
			return &sl_units[i];
	return NULL;
}

/* "cm, m or mm": the units of a dimension. */
static const char *list_units(enum sl_dimension dimension, char *text, size_t size)
{
	const char *words[SL_UNIT_COUNT];
	size_t n = 0;

	for (int u = 0; u < SL_UNIT_COUNT; u++)
		if (sl_units[u].dimension == dimension)
			words[n++] = sl_units[u].text;
	return sl_list_words(text, size, words, n);
}

/* The k of a factor that is 10^k; 0 for one that is not. */
static int power_of_ten(double factor)
{
	static const double power[] = {1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1,
		1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	enum { N = sizeof(power) / sizeof(power[0]) };

	for (int i = 0; i < N; i++)
		if (power[i] == factor)
			return i - N / 2;
	return 0;
}

/* The unit that text names, for a number of that dimension; NULL, with why set, when it cannot be.
 */
static const struct sl_unit_facts *unit_of(const char *whole, const char *text,
	const struct sl_number *n, enum sl_dimension dimension, char why[SL_WHY_BYTES])
{
	const struct sl_unit_facts *unit = find_unit(text);
	char shown[SL_SHOWN_BYTES], units[128];
	bool bare = n->infinite || n->n_digits == 0; /* 0 and inf are the same in any unit */

	if (unit && (unit->dimension == dimension || (*text == '\0' && bare)))
		return unit;
	sl_show(shown, whole);
	list_units(dimension, units, sizeof(units));
	if (dimension == SL_DIM_NUMBER && unit)
		sl_refuse(why, "%s has a unit (this is a plain number), try it without %s", shown,
			text);
	else if (dimension == SL_DIM_NUMBER)
		sl_refuse(why,
			"%s is not a number (all of it must be one), try a number such as 0.5 or "
			"1e-3",
			shown);
	else if (*text == '\0')
		sl_refuse(why, "%s has no unit (it could be any), try adding %s", shown, units);
	else if (unit)
		sl_refuse(why, "%s has a unit of another kind (%s does not measure this), try %s",
			shown, text, units);
	else
		sl_refuse(why,
			"%s has an unknown unit (what follows the number must be one), try %s",
			shown, units);
	return NULL;
}

bool sl_real_parse(
	const char *text, enum sl_dimension dimension, double *value, char why[SL_WHY_BYTES])
{
	const struct sl_unit_facts *unit;
	char shown[SL_SHOWN_BYTES];
	const char *behind;
	struct sl_number n;
	int shift;

	sl_show(shown, text);
	if (!sl_number_scan(text, &n))
		return sl_refuse(why,
			"%s is not a number (all of it must be one), try a number such as %s%s%s",
			shown, dimension == SL_DIM_NUMBER ? "0.5 or 1e-3" : "1",
			dimension == SL_DIM_NUMBER ? "" : " ", sl_dimensions[dimension].unit);
	if (n.padded)
		return padded(shown, why);
	if (n.grouped)
		return sl_refuse(why, "%s has _ in it (only counts may), try it without", shown);
	behind = n.end + strspn(n.end, " ");
	unit = unit_of(text, *behind ? behind : n.end, &n, dimension, why);
	if (!unit)
		return false;
	shift = power_of_ten(unit->factor);
	if (!sl_number_round(&n, shift, value))
		return sl_refuse(why,
			"%s is too %s (a double does not reach it), try a number nearer to 1",
			shown, *value == 0 ? "small" : "large");
	if (shift == 0)
		*value *= unit->factor;
	return true;
}

bool sl_part_parse(const char *text, double *value, char why[SL_WHY_BYTES])
{
	size_t n = strlen(text);
	bool percent = n > 0 && text[n - 1] == '%';
	char number[SL_WORD_BYTES];
	struct sl_number digits;

	n -= percent;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	snprintf(number, sizeof(number), "%.*s", (int)n, text);
	if (!sl_real_parse(number, SL_DIM_NUMBER, value, why))
		return false;
	/* 0.7 % are the bits of 0.007, which a division need not give */
	if (percent && sl_number_scan(number, &digits))
		sl_number_round(&digits, -2, value);
	return true;
}
