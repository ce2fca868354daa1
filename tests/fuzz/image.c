/* image.c - libFuzzer target: reads an image file in which HDF5 found arbitrary datasets. */
#include "tests/fuzz/hdf5_found.h"

#include "stages/formats/images/image_file_read.h"

/* Reads the pixels that the file claims to have; AddressSanitizer reports any outside of its memory. */
static uint64_t add_up(const void *values, size_t n)
{
	uint64_t sum = 0, value;

	for (size_t i = 0; i < n; i++) {
		memcpy(&value, (const char *)values + i * sizeof(value), sizeof(value));
		sum += value;
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile uint64_t sum;
	struct sl_image_found found;
	enum sl_status s;
	size_t bytes;
	uint8_t *file = fuzz_split(data, size, &bytes);

	if (!file)
		return 0;
	s = sl_image_read(file, bytes, &found);
	fuzz_check(s);
	if (s == SL_OK) {
		sum += add_up(found.value, (size_t)(found.width * found.height));
		sum += add_up(found.sum, (size_t)(found.width * found.height));
		fuzz_expect(strlen(found.what) < sizeof(found.what));
	}
	free(file);
	return 0;
}
