/*
 * quantity.c - reads a text completely as a count or a quantity, or writes why it cannot.
 *
 * Scanning keeps the decimal digits (text/decimal_number.c), so counts are exact up to 2^64-1 and a
 * change between units that differ by a power of ten costs no rounding.
 */
#include "pipeline/config/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool sl_refuse(const char *format, ...)
{
	char why[SL_WHY_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	sl_set_last_error(why);
	return false;
}

/* Refuses leading zeros: YAML 1.1 readers take 0777 for octal 511. */
static bool padded(const char *shown)
{
	return sl_refuse(
		"%s has a leading 0 (YAML readers can take it for octal); remove the 0", shown);
}

/* --- counts ----------------------------------------------------------------------------------- */

/* 1e6 and 1_000_000 are whole numbers; the digits are exact, so no double is involved. */
bool sl_count_parse(const char *text, uint64_t *value)
{
	const char *shown = sl_shown(text);
	struct sl_decimal n;

	/* the number must be the whole text: "10M" and "1e6 " are refused */
	if (!sl_decimal_scan(text, &n) || *n.end)
		return sl_refuse(
			"%s is not a count (a whole number without a unit); write a number such as 1e6 or 1_000_000",
			shown);
	if (n.padded)
		return padded(shown);
	switch (sl_decimal_to_integer(&n, value)) {
	case SL_INTEGER_NEGATIVE:
		return sl_refuse(
			"%s is negative, but this is a count; use a whole number from 0", shown);
	case SL_INTEGER_FRACTION:
		return sl_refuse(
			"%s has a fractional part, but this is a count; use a whole number", shown);
	case SL_INTEGER_TOO_LARGE:
		return sl_refuse("%s is too large (a count has 64 bits); use at most %lu", shown,
			UINT64_MAX);
	case SL_INTEGER_OK:
		break;
	}
	return true;
}

/* --- quantities ------------------------------------------------------------------------------- */

/* "1/cm", "/ cm" and "cm^-1" as "/cm", other texts unchanged. */
static const char *spell_inverse(const char *text)
{
	const char *slash = text + (*text == '1'), *power = strstr(text, "^-1");

	slash += strspn(slash, " ");
	if (*slash == '/')
		return sl_said("/%s", slash + 1 + strspn(slash + 1, " "));
	if (power && power[3] == '\0')
		return sl_said("/%.*s", (int)(power - text), text);
	return text;
}

/* The unit with that text, or NULL. The empty text is the unit of plain numbers. */
static const struct sl_unit_facts *find_unit(const char *text)
{
	const char *spelt = spell_inverse(text);

	for (int i = 0; i < SL_UNIT_COUNT; i++)
		if (strcmp(sl_units[i].text, spelt) == 0)
			return &sl_units[i];
	return NULL;
}

/* The units of a dimension as "cm, m or mm". */
static const char *list_units(enum sl_dimension dimension)
{
	const char *words[SL_UNIT_COUNT];
	size_t n = 0;

	for (int u = 0; u < SL_UNIT_COUNT; u++)
		if (sl_units[u].dimension == dimension)
			words[n++] = sl_units[u].text;
	return sl_listed(words, n);
}

/* A suggestion by spelling would be wrong: km for kg, meV for Mev. */
const char *sl_unit_elsewhere(const char *word)
{
	static const char *const usual[][2] = {{"in", "inch"}, {"A", "angstrom"}, {"µm", "um"},
		{"μm", "um"}, {"micron", "um"}, {"CM", "cm"}, {"MM", "mm"}, {"/CM", "/cm"},
		{"/MM", "/mm"}, {"cm-1", "/cm"}, {"mm-1", "/mm"}, {"m-1", "/m"}, {"µs", "us"},
		{"μs", "us"}, {"sec", "s"}, {"hr", "h"}, {"hours", "h"}};

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(word, usual[i][0]) == 0)
			return usual[i][1];
	return NULL;
}

/* The exponent k if factor is 10^k with |k| <= 9, else 0. */
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

/*
 * The unit named by text, the part of whole after the number n. NULL, after sl_refuse(), when it is not
 * a unit of the dimension.
 */
static const struct sl_unit_facts *unit_of(const char *whole, const char *text,
	const struct sl_decimal *n, enum sl_dimension dimension)
{
	const struct sl_unit_facts *unit = find_unit(text);
	const char *shown, *units, *meant = sl_unit_elsewhere(text);
	bool bare = n->infinite || n->n_digits == 0; /* 0 and inf need no unit */

	if (unit && (unit->dimension == dimension || (*text == '\0' && bare)))
		return unit;
	shown = sl_shown(whole);
	units = list_units(dimension);
	if (dimension == SL_DIM_NUMBER && unit)
		sl_refuse("%s has a unit, but this number has none; remove %s", shown, text);
	else if (dimension == SL_DIM_NUMBER)
		sl_refuse("%s is not a number; write a plain number such as 0.5 or 1e-3", shown);
	else if (*text == '\0')
		sl_refuse("%s has no unit; add %s", shown, units);
	else if (unit)
		sl_refuse("%s has a unit of another dimension; use %s", shown, units);
	else
		sl_refuse("%s has an unknown unit; use %s", shown,
			meant && find_unit(meant)->dimension == dimension ? meant : units);
	return NULL;
}

/*
 * Multiplies *value by a power of the factor of a unit that is no power of ten; rounds each time.
 */
static void multiply(double *value, double factor, int power)
{
	for (; power > 0; power--)
		*value *= factor;
	for (; power < 0; power++)
		*value /= factor;
}

/*
 * A unit that is a power of ten times the internal unit shifts the decimal exponent, so that the
 * value is rounded once. Any other unit, such as deg, costs further roundings.
 */
bool sl_real_convert(const struct sl_decimal *n, const char *shown,
	const struct sl_unit_facts *unit, int power, double *value)
{
	int shift = power_of_ten(unit->factor) * power;
	bool fits;

	if (n->padded)
		return padded(shown);
	if (n->grouped)
		return sl_refuse(
			"%s contains _, which is allowed in counts only; remove it", shown);
	fits = sl_decimal_to_double(n, shift, value);
	if (fits && shift == 0) {
		multiply(value, unit->factor, power);
		fits = n->infinite || (isfinite(*value) && (*value != 0 || n->n_digits == 0));
	}
	if (!fits)
		return sl_refuse("%s is too %s for double precision; use %s", shown,
			*value == 0 ? "small" : "large",
			*value == 0 ? "0 or a larger number" : "a smaller number");
	return true;
}

/* The unit follows the number, with or without blanks. */
bool sl_real_parse(const char *text, enum sl_dimension dimension, double *value)
{
	const struct sl_unit_facts *unit;
	const char *after, *shown = sl_shown(text); /* after the number and blanks */
	struct sl_decimal n;

	if (!sl_decimal_scan(text, &n))
		return sl_refuse("%s is not a number; write a number such as %s%s%s", shown,
			dimension == SL_DIM_NUMBER ? "0.5 or 1e-3" : "1",
			dimension == SL_DIM_NUMBER ? "" : " ", sl_dimensions[dimension].unit);
	after = n.end + strspn(n.end, " ");
	unit = unit_of(text, *after ? after : n.end, &n, dimension);
	return unit && sl_real_convert(&n, shown, unit, 1, value);
}

/* A percent sign is cut off first, because sl_real_parse() would take it for a unit. */
bool sl_fraction_parse(const char *text, double *value)
{
	size_t n = strlen(text);
	bool percent = n > 0 && text[n - 1] == '%';
	const char *number;
	struct sl_decimal digits;

	n -= percent;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	number = sl_said("%.*s", (int)n, text);
	if (!sl_real_parse(number, SL_DIM_NUMBER, value))
		return false;
	/* shift the decimal point before rounding: dividing by 100 would round twice */
	if (percent && sl_decimal_scan(number, &digits))
		sl_decimal_to_double(&digits, -2, value);
	return true;
}
