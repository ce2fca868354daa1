/* npz.c - libFuzzer target: reads arbitrary bytes as a table in .npz. */
#include "tests/fuzz/fuzz.h"

#include "stages/formats/tables/npz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_read_table(sl_npz_read, data, size);
	return 0;
}
