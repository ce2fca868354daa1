/*
 * decimal.h - numbers as text and back, without libm, without locale.
 *
 * A float is printed with the fewest digits that read back to it, also where the reader goes by way
 * of a double, as Python and JavaScript do: 0.1, 3.1415927, -1.5e-7, inf, nan. Of the texts with
 * that many digits it is the one nearest to the float.
 *
 * Both ways scale by a 64-bit power of ten (as Grisu does: Loitsch, Printing floating-point numbers
 * quickly and accurately with integers, 2010). Its error is 2^-57 of the value, halfway points
 * between floats are 2^-25 of it away: a text that is at such a point, or as good as at it, gets
 * another digit, and nine digits are always far from one.
 */
#ifndef SL_STAGES_FORMATS_COMMON_DECIMAL_H
#define SL_STAGES_FORMATS_COMMON_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest float ("-1.17549435e-38", "-0.000123456789"), the longest u64. */
enum { SL_F32_TEXT_BYTES = 15, SL_U64_TEXT_BYTES = 20 };

/* Printing 1.4e-45 takes 10^53; 3.4e38 is read from nine digits and 10^30, or one and 10^38. */
enum { SL_POWER_LEAST = -53, SL_POWER_MAX = 53 };

/* 10^k = power[k - SL_POWER_LEAST] * 2^(sl_power_exponent(k) - 63), power in 2^63 .. 2^64. */
struct sl_powers {
	uint64_t power[SL_POWER_MAX - SL_POWER_LEAST + 1];
};

void sl_powers_make(struct sl_powers *p);

/* Prints without NUL, at most so many bytes; returns how many. */
size_t sl_print_f32(const struct sl_powers *p, float v, char *text);
size_t sl_print_u64(uint64_t v, char *text);

/* Reads what the above print, in just that spelling; false for anything else. */
bool sl_parse_f32(const struct sl_powers *p, const char *text, size_t length, float *v);
bool sl_parse_u64(const char *text, size_t length, uint64_t *v);

#endif
