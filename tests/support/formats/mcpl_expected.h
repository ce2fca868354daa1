/*
 * mcpl_expected.h - decodes an MCPL file as the MCPL paper specifies, and compares it with the table from
 * which it was written. The expected values have the units and the packed directions of MCPL.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H
#define SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H

#include "stages/formats/common/format.h"

/* Inflates a gzip file; the caller frees the result. *first is the number of bytes in the first member. */
uint8_t *inflate_members(
	const uint8_t *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members);

/* Returns the value of a float column in a row, or NaN if the table lacks the column. */
double float_at(const struct sl_table *t, enum sl_column column, uint32_t row);

/* Checks the header and every record. Returns the bytes of the header. */
size_t check_mcpl_file(const uint8_t *file, size_t bytes, const struct sl_file_facts *run,
	const struct sl_batch_facts *b, const struct sl_table *t);

#endif
