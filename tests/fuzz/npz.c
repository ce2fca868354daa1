/* npz.c - libFuzzer target: reads arbitrary bytes as a table in .npz. */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/tables/npz_read.h"

FUZZ_TABLES(sl_npz_read)
