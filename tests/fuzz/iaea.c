/*
 * iaea.c - libFuzzer target: reads arbitrary bytes as an IAEA phase space: the length of the header (two
 * bytes), the header, and the records.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "stages/formats/phase_space/iaea.h"

/* A copy of exactly so many bytes, so that AddressSanitizer sees a byte that is read after them. */
static uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)malloc(size + (size == 0));

	fuzz_expect(copy != NULL);
	memcpy(copy, data, size);
	return copy;
}

static void read_records(const struct sl_iaea *h, const uint8_t *records, size_t size)
{
	fuzz_expect(h->particles * h->record_bytes == size);
	for (uint64_t i = 0; i < h->particles; i++) {
		struct sl_mcpl_particle p;

		fuzz_check(sl_iaea_particle(h, records + i * h->record_bytes, &p));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = size < 2 ? 0 : data[0] | (size_t)data[1] << 8;
	uint8_t *header, *records;
	enum sl_status s;
	struct sl_iaea h;

	if (size < 2)
		return 0;
	length = length < size - 2 ? length : size - 2;
	header = copy_of(data + 2, length);
	records = copy_of(data + 2 + length, size - 2 - length);
	s = sl_iaea_open((const char *)header, length, size - 2 - length, &h);
	fuzz_check(s);
	if (s == SL_OK)
		read_records(&h, records, size - 2 - length);
	free(records);
	free(header);
	return 0;
}
