/* openmc.c - libFuzzer target: reads a source file of OpenMC in which HDF5 found arbitrary places. */
#include "tests/fuzz/hdf5_found.h"

#include "stages/formats/phase_space/openmc.h"

static void read_items(const struct sl_openmc *o, const uint8_t *file, size_t bytes)
{
	fuzz_expect(o->at <= bytes && o->particles <= (bytes - o->at) / o->item_bytes);
	for (uint64_t i = 0; i < o->particles && i < FUZZ_ROWS_MOST; i++) {
		struct sl_mcpl_particle p;

		fuzz_check(sl_openmc_particle(o, file + o->at + i * o->item_bytes, &p));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes;
	uint8_t *file = fuzz_split(data, size, &bytes);
	struct sl_openmc o;
	enum sl_status s;

	if (!file)
		return 0;
	s = sl_openmc_open(file, bytes, &o);
	fuzz_check(s);
	if (s == SL_OK)
		read_items(&o, file, bytes);
	free(file);
	return 0;
}
