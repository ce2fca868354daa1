/*
 * decimal_number.c - scans numbers into decimal digits, rounds them once, prints doubles.
 *
 * With the decimal digits kept, integers are exact, and a change to a unit that differs by a power
 * of ten only changes the exponent before the one rounding: 0.2 mm and 0.02 cm give the same bits.
 */
#include "pipeline/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPONENT_MAX = 100000 }; /* beyond any double; sums of a few fit in a long */

/* isdigit() depends on the locale and is undefined for negative char. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Appends a digit, except leading zeros; false when there is no space. */
static bool add_digit(struct sl_decimal *n, char digit)
{
	if (n->n_digits == 0 && digit == '0')
		return true;
	if (n->n_digits == SL_DIGITS_MAX)
		return false;
	n->digits[n->n_digits++] = digit;
	return true;
}

/* Scans the digits before the point; _ is allowed between two digits. */
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

/* Scans the digits after the point; each lowers the exponent by one. */
static bool scan_fraction(const char **at, struct sl_decimal *n)
{
	for (; is_digit(**at); ++*at) {
		n->scale--;
		if (!add_digit(n, **at))
			return false;
	}
	return true;
}

/* Scans an exponent. An e without digits after it is none: it can start a unit, as in 5eV. */
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

/* strtod() is not used: it accepts hexadecimal and "nan", and rounds before the unit is known. */
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
	/* a point must be followed by a digit: "1." and "." are not numbers */
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

/*
 * Multiplies digit by digit, so that every integer of 64 bits is exact. The loop ends early: at
 * most 20 digits fit before the overflow check stops it.
 */
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
	/* trailing zeros cancel a negative scale: 100e-2 is 1 */
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
	snprintf(text, sizeof(text), "%s%se%ld", n->negative ? "-" : "",
		n->n_digits ? n->digits : "0", n->scale + shift);
	*value = strtod(text, NULL);
	return isfinite(*value) && (*value != 0 || n->n_digits == 0);
}

const char *sl_double_text(double value)
{
	char tried[32], *text = sl_message_part();

	/* 17 digits identify any double. Fewer digits can be longer: 10 in one digit is 1e+01. */
	snprintf(text, sizeof(tried), "%.17g", value);
	for (int digits = 16; digits > 0; digits--) {
		snprintf(tried, sizeof(tried), "%.*g", digits, value);
		if (strtod(tried, NULL) == value && strlen(tried) < strlen(text))
			strcpy(text, tried);
	}
	return text;
}
