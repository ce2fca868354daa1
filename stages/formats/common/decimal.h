/*
 * decimal.h - numbers as decimal text and back.
 *
 * A float is printed with the fewest digits that read back to the same float, even if the reader
 * first converts to double, as Python and JavaScript do: 0.1, 3.1415927, -1.5e-7, inf, nan. Among
 * the texts with that many digits it is the nearest to the float.
 *
 * Printing multiplies by a 64-bit approximation of a power of ten, as Grisu does (Loitsch, Printing
 * floating-point numbers quickly and accurately with integers, 2010). The relative error is 2^-57,
 * while the midpoint between neighbouring floats is 2^-25 away. A text within that error of a
 * midpoint gets one more digit; nine digits are always far enough from a midpoint. The C library
 * has no function that finds the fewest digits. std::to_chars (libstdc++ 12) is not used, because
 * 0.41 % of random floats would get other digits: it accepts a text that is exactly a midpoint
 * (3.543263e7 for 35432632), and of two texts that are equally near it takes the even one.
 *
 * A text is read, and then printed again: it is accepted only if the result is the same.
 */
#ifndef SL_STAGES_FORMATS_COMMON_DECIMAL_H
#define SL_STAGES_FORMATS_COMMON_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest float ("-1.17549435e-38", "-0.000123456789") and the longest u64. */
enum { SL_F32_TEXT_BYTES = 15, SL_U64_TEXT_BYTES = 20 };

/*
 * The powers of ten in use: printing 1.4e-45 multiplies by 10^53, and printing 3e38 by 10^-31
 * first, because its number of digits is only estimated.
 */
enum { SL_POWER_LEAST = -31, SL_POWER_MAX = 53 };

/* 10^k is about power[k - SL_POWER_LEAST] * 2^(e - 63), e = floor(log2(10^k)); bit 63 is set. */
struct sl_powers {
	uint64_t power[SL_POWER_MAX - SL_POWER_LEAST + 1];
};

/*
 * Fills the table. It is the same for all calls; a thread that prints many numbers makes it once.
 */
void sl_powers_make(struct sl_powers *p);

/* Print without a terminator at most as many bytes as stated above; return how many. */
size_t sl_print_f32(const struct sl_powers *p, float v, char *text);
size_t sl_print_u64(uint64_t v, char *text);

/* Read what these functions print, in exactly that spelling; false for any other text. */
bool sl_parse_f32(const struct sl_powers *p, const char *text, size_t length, float *v);
bool sl_parse_u64(const char *text, size_t length, uint64_t *v);

#endif
