/* decimal_number.h - a decimal number as it is written, before it is rounded to anything. */
#ifndef SL_PIPELINE_TEXT_DECIMAL_NUMBER_H
#define SL_PIPELINE_TEXT_DECIMAL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_DIGITS_MAX = 400 };

/* The value is digits * 10^scale; without digits it is 0. */
struct sl_number {
	bool negative;
	bool infinite;
	bool grouped; /* with _ between digits: 1_000_000 */
	bool padded;  /* with a needless 0 in front: 0777 */
	int n_digits; /* no zeros in front */
	char digits[SL_DIGITS_MAX + 1];
	long scale;
	const char *end; /* of the number in the text */
};

/*
 * Scans the longest number at the head of text: [+-] digits [. digits] [e [+-] digits] or [+-] inf.
 * False when there is none, or one of more than SL_DIGITS_MAX digits.
 */
bool sl_number_scan(const char *text, struct sl_number *number);

enum sl_whole { SL_WHOLE, SL_WHOLE_NEGATIVE, SL_WHOLE_FRACTION, SL_WHOLE_TOO_LARGE };

/* The number as an exact whole one. */
enum sl_whole sl_number_whole(const struct sl_number *number, uint64_t *value);

/* The double nearest to number * 10^shift; false when it is out of reach: too large, or too small
 * to be told from 0. */
bool sl_number_round(const struct sl_number *number, int shift, double *value);

/* Writes the shortest text that reads back to the same bits; 32 bytes hold any. */
void sl_number_print(double value, char *text, int size);

#endif
