/* mcpl_strings.h - the strings of a header of MCPL, and those that are statistics. */
#ifndef SL_STAGES_FORMATS_MCPL_MCPL_STRINGS_H
#define SL_STAGES_FORMATS_MCPL_MCPL_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string of a header, behind its length. */
struct sl_mcpl_string {
	const uint8_t *at;
	uint32_t length;
};

/* The string at *at, which moves on behind it. */
struct sl_mcpl_string sl_mcpl_next_string(const uint8_t **at);

bool sl_mcpl_is_same(const struct sl_mcpl_string *a, const struct sl_mcpl_string *b);

enum { SL_MCPL_VALUE_BYTES = 24 };

/*
 * Is it stat:sum:KEY:VALUE? Where its value begins, and the value. (MCPL 2.1: a key of letters,
 * digits and _, 64 at most; a value of 24 characters, -1 or not below 0.)
 */
bool sl_mcpl_is_sum(const struct sl_mcpl_string *s, size_t *value_at, double *value);

/* In 24 characters, with no more digits than read back to the same. */
void sl_mcpl_print_value(double value, char text[SL_MCPL_VALUE_BYTES + 1]);

#endif
