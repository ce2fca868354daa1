/*
 * mcpl_expected.h - decodes an MCPL file as the MCPL paper specifies, and compares it with the
 * table from which it was written, after conversion of units and packing of directions.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H
#define SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H

#include "stages/formats/common/format.h"

/* Inflates a gzip file; the caller frees the result. *first: bytes of the first member. */
uint8_t *inflate_members(
	const uint8_t *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members);

/* Returns a float column of a row, or NaN if the table lacks the column.
 */
double row_of(const struct sl_table *t, enum sl_column column, uint32_t row);

/* Checks the header and every record. Returns the bytes of the header. */
size_t check_by_hand(const uint8_t *file, size_t bytes, const struct sl_file_facts *run,
	const struct sl_batch_facts *b, const struct sl_table *t);

#endif
