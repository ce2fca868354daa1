/* csv_text.h - a table as comma-separated text, for the formats csv and csv.gz. */
#ifndef SL_STAGES_FORMATS_TABLES_CSV_TEXT_H
#define SL_STAGES_FORMATS_TABLES_CSV_TEXT_H

#include "primitives/base/size.h"
#include "stages/particle/table.h"

/* Upper limit of the bytes of the text of a table. */
size_t sl_csv_text_bytes(const struct sl_table *t);

/* Prints all lines to text, which has sl_csv_text_bytes() bytes, and returns their bytes. */
size_t sl_csv_print(const struct sl_table *t, char *text);

#endif
