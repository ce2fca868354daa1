/*
 * quantity.h - parses counts, quantities with a unit, and fractions.
 *
 * A text is read as a whole or refused: "1e6" is a million or an error, never 1 with a rest.
 * Nothing depends on the locale. On failure the functions return false and write the message to
 * why.
 */
#ifndef SL_PIPELINE_CONFIG_QUANTITY_H
#define SL_PIPELINE_CONFIG_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/text/decimal_number.h"
#include "primitives/base/hd.h"
#include "stages/particle/units.h"

/* Bytes for a message about a value. */
enum { SL_WHY_BYTES = 512 };

/* Writes the message to why. Always returns false, for: return sl_refuse(why, "...", ...). */
bool sl_refuse(char why[SL_WHY_BYTES], const char *format, ...) SL_PRINTF(2, 3);

/* A number with a unit of the dimension; *value is in the internal unit of the dimension. */
bool sl_real_parse(
	const char *text, enum sl_dimension dimension, double *value, char why[SL_WHY_BYTES]);

/*
 * Converts a scanned number in a power of a unit, such as 3 cm^2, to the internal units; shown is
 * its text in messages.
 */
bool sl_real_convert(const struct sl_decimal *n, const char *shown,
	const struct sl_unit_facts *unit, int power, double *value, char why[SL_WHY_BYTES]);

/* A fraction: 0.007, or 0.7 %, which gives the same bits. */
bool sl_fraction_parse(const char *text, double *value, char why[SL_WHY_BYTES]);

/* An unsigned whole number, such as 1000, 1e3 or 1_000. */
bool sl_count_parse(const char *text, uint64_t *value, char why[SL_WHY_BYTES]);

#endif
