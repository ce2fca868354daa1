/* csv_gz.c - libFuzzer target: reads arbitrary bytes as a table in .csv.gz. */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/tables/csv_read.h"

FUZZ_TABLES(sl_csv_gz_read)
