/* openpmd.c - libFuzzer target: reads an openPMD file in which HDF5 found arbitrary columns and chunks. */
#include "tests/fuzz/hdf5_found.h"

#include "stages/formats/openpmd/openpmd_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes;
	uint8_t *file = fuzz_split(data, size, &bytes);

	if (file)
		fuzz_read_table(sl_openpmd_read, file, bytes);
	free(file);
	return 0;
}
