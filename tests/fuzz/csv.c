/* csv.c - libFuzzer target: reads arbitrary text as a table in .csv. */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/tables/csv_read.h"

FUZZ_TABLES(sl_csv_read)
