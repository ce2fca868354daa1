/* decimal_number.h - scans a decimal number without rounding it, and converts it. */
#ifndef SL_PIPELINE_TEXT_DECIMAL_NUMBER_H
#define SL_PIPELINE_TEXT_DECIMAL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_DIGITS_MAX = 400 };

/* The value is digits * 10^scale; with n_digits = 0 it is 0. */
struct sl_decimal {
	bool negative;
	bool infinite;
	bool grouped; /* has _ between digits: 1_000_000 */
	bool padded;  /* has a leading 0 before other digits: 0777 */
	int n_digits; /* without leading zeros */
	char digits[SL_DIGITS_MAX + 1];
	long scale;
	const char *end; /* first byte after the number */
};

/*
 * Scans the longest number at the start of text: [+-] digits [. digits] [e [+-] digits] or [+-]
 * inf. False when there is none, or when it has more than SL_DIGITS_MAX significant digits.
 */
bool sl_decimal_scan(const char *text, struct sl_decimal *number);

enum sl_integer_result {
	SL_INTEGER_OK,
	SL_INTEGER_NEGATIVE,
	SL_INTEGER_FRACTION,
	SL_INTEGER_TOO_LARGE
};

/* Converts to an integer exactly. */
enum sl_integer_result sl_decimal_to_integer(const struct sl_decimal *number, uint64_t *value);

/* The double nearest to number * 10^shift; false when that overflows, or underflows to 0. */
bool sl_decimal_to_double(const struct sl_decimal *number, int shift, double *value);

/* Writes the shortest text that reads back to the same bits; 32 bytes suffice. */
void sl_double_print(double value, char *text, int size);

#endif
