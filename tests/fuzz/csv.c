/*
 * csv.c - libFuzzer target: reads arbitrary text as the contents of a .csv.gz file, packed in a stored gzip
 * member, because libFuzzer rarely makes a valid one.
 */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/common/gzip_stored.h"
#include "stages/formats/tables/csv_gz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = (uint8_t *)malloc(sl_gzip_stored_bytes(size));

	if (file)
		fuzz_read_table(sl_csv_gz_read, file, sl_gzip_store(data, size, file));
	free(file);
	return 0;
}
