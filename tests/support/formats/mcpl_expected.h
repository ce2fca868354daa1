/*
 * mcpl_expected.h - decodes an MCPL file as the MCPL paper specifies, and compares it with the
 * table from which it was written, after conversion of units and packing of directions.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H
#define SL_TESTS_SUPPORT_FORMATS_MCPL_EXPECTED_H

#include "stages/formats/common/format.h"

/* A file as it is before gzip, to be freed; *first: the bytes of its first member. */
uint8_t *inflate_members(
	const uint8_t *file, size_t bytes, size_t *plain_bytes, size_t *first, unsigned *members);

/* The number of a column of single precision in that row; NaN when the table has not that column.
 */
double row_of(const struct sl_table *t, enum sl_column column, uint32_t row);

/* Header and every record are what they must be; returns the bytes of the header. */
size_t check_by_hand(const uint8_t *file, size_t bytes, const struct sl_file_facts *run,
	const struct sl_batch_facts *b, const struct sl_table *t);

#endif
