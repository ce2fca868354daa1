/*
 * decimal_number.c - scanning, rounding and printing numbers.
 *
 * A number is kept by its decimal digits, so that whole ones are exact and a unit that is a power
 * of ten of another moves the exponent before rounding: 0.2 mm and 0.02 cm are the same bits.
 */
#include "pipeline/text/decimal_number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPONENT_MAX = 100000 }; /* far beyond any double; sums of a few stay in a long */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Adds a digit; zeros in front are worth nothing. */
static bool add_digit(struct sl_decimal *n, char digit)
{
	if (n->n_digits == 0 && digit == '0')
		return true;
	if (n->n_digits == SL_DIGITS_MAX)
		return false;
	n->digits[n->n_digits++] = digit;
	return true;
}

/* The digits before the point, perhaps in groups. */
static bool scan_integer(const char **at, struct sl_decimal *n)
{
	const char *p = *at;

	n->padded = p[0] == '0' && (is_digit(p[1]) || p[1] == '_');
	for (; is_digit(*p) || (*p == '_' && p > *at && is_digit(p[-1]) && is_digit(p[1])); p++) {
		if (*p == '_')
			n->grouped = true;
		else if (!add_digit(n, *p))
			return false;
	}
	*at = p;
	return true;
}

static bool scan_fraction(const char **at, struct sl_decimal *n)
{
	for (; is_digit(**at); ++*at) {
		n->scale--;
		if (!add_digit(n, **at))
			return false;
	}
	return true;
}

/* An e without digits behind it is no exponent: it may begin a unit, as in 5eV. */
static void scan_exponent(const char **at, struct sl_decimal *n)
{
	const char *p = *at;
	bool negative = false;
	long exponent = 0;

	if (*p != 'e' && *p != 'E')
		return;
	p++;
	if (*p == '+' || *p == '-')
		negative = *p++ == '-';
	if (!is_digit(*p))
		return;
	for (; is_digit(*p); p++)
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (*p - '0');
	n->scale += negative ? -exponent : exponent;
	*at = p;
}

bool sl_decimal_scan(const char *text, struct sl_decimal *n)
{
	const char *p = text;

	memset(n, 0, sizeof(*n));
	if (*p == '+' || *p == '-')
		n->negative = *p++ == '-';
	if (strncmp(p, "inf", 3) == 0) {
		n->infinite = true;
		n->end = p + 3;
		return true;
	}
	if (!is_digit(p[*p == '.']) || !scan_integer(&p, n))
		return false;
	if (*p == '.' && is_digit(p[1])) {
		p++;
		if (!scan_fraction(&p, n))
			return false;
	}
	scan_exponent(&p, n);
	n->end = p;
	return true;
}

enum sl_integer_result sl_decimal_to_integer(const struct sl_decimal *n, uint64_t *value)
{
	int digits = n->n_digits;
	long scale = n->scale;

	*value = 0;
	if (n->infinite)
		return SL_INTEGER_TOO_LARGE;
	if (digits == 0)
		return SL_INTEGER_OK;
	if (n->negative)
		return SL_INTEGER_NEGATIVE;
	for (; scale < 0 && n->digits[digits - 1] == '0'; scale++)
		digits--;
	if (scale < 0)
		return SL_INTEGER_FRACTION;
	for (long i = 0; i < digits + scale; i++) {
		unsigned digit = i < digits ? (unsigned)(n->digits[i] - '0') : 0;

		if (*value > (UINT64_MAX - digit) / 10)
			return SL_INTEGER_TOO_LARGE;
		*value = *value * 10 + digit;
	}
	return SL_INTEGER_OK;
}

bool sl_decimal_to_double(const struct sl_decimal *n, int shift, double *value)
{
	char text[SL_DIGITS_MAX + 32];

	if (n->infinite) {
		*value = n->negative ? -HUGE_VAL : HUGE_VAL;
		return true;
	}
	/* Without a point, so that no locale can have its own. */
	snprintf(text, sizeof(text), "%s%se%ld", n->negative ? "-" : "",
		n->n_digits ? n->digits : "0", n->scale + shift);
	*value = strtod(text, NULL);
	return isfinite(*value) && (*value != 0 || n->n_digits == 0);
}

void sl_double_print(double value, char *text, int size)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), was = uselocale(plain);
	char tried[32];

	/* More digits can be shorter: 10 is 1e+01 in one digit. 17 digits hold any double. */
	snprintf(text, (size_t)size, "%.17g", value);
	for (int digits = 16; digits > 0; digits--) {
		snprintf(tried, sizeof(tried), "%.*g", digits, value);
		if (strtod(tried, NULL) == value && strlen(tried) < strlen(text))
			snprintf(text, (size_t)size, "%s", tried);
	}
	uselocale(was);
	if (plain != (locale_t)0)
		freelocale(plain);
}
