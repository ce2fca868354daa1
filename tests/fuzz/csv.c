/* csv.c - libFuzzer target: reads arbitrary text as a table in .csv. */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/tables/csv_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read_table(sl_csv_read, data, size);
	return 0;
}
