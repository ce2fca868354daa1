/* csv_text.h - a table as comma-separated text, for the formats csv and csv.gz. */
#ifndef SL_STAGES_FORMATS_TABLES_CSV_TEXT_H
#define SL_STAGES_FORMATS_TABLES_CSV_TEXT_H

#include "primitives/base/size.h"
#include "stages/particle/table.h"

/* Upper limit of the bytes of the text of a table. */
size_t sl_csv_text_bytes(const struct sl_table *t);

/* Prints all lines to text, which has sl_csv_text_bytes() bytes, and returns their bytes. */
size_t sl_csv_print(const struct sl_table *t, char *text);

/* The parts of it: the first line, and those of n rows from row from on. */
size_t sl_csv_print_header(const struct sl_table *t, char *text);
size_t sl_csv_print_rows(const struct sl_table *t, uint32_t from, uint32_t n, char *text);

/* A file of the whole run is printed in pieces of so many rows. */
static inline uint32_t sl_csv_join_rows(uint32_t left)
{
	const uint32_t most = 1 << 14;

	return left < most ? left : most;
}

/* Upper limit of the bytes of the first line or of such a piece. */
static inline size_t sl_csv_join_bytes(const struct sl_table *columns)
{
	struct sl_table piece = *columns;

	piece.n = sl_csv_join_rows(UINT32_MAX);
	return sl_csv_text_bytes(&piece);
}

#endif
