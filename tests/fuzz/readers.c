/*
 * readers.c - fuzz targets: arbitrary bytes as tables, phase spaces and images; for HDF5, what it
 * finds in the file.
 */
#include "stages/formats/common/common.h"
#include "stages/formats/images/images.h"
#include "stages/formats/openpmd/openpmd.h"
#include "stages/formats/phase_space/phase_space.h"
#include "stages/formats/tables/tables.h"
#include "stages/inputs/volume.h"
#include "tests/fuzz/fuzz.h"

FUZZ(csv)
{
	fuzz_read_table(sl_csv_read, data, size);
}

FUZZ(csv_gz)
{
	fuzz_read_table(sl_csv_gz_read, data, size);
}

FUZZ(npz)
{
	fuzz_read_table(sl_npz_read, data, size);
}

FUZZ(any_csv)
{
	sl_csv_is_any(data, size);
	fuzz_read_table(sl_csv_read_any, data, size);
}

FUZZ(any_npz)
{
	sl_npz_is_any(data, size);
	fuzz_read_table(sl_npz_read_any, data, size);
}

static void read_volume(const char *name, const uint8_t *data, size_t size)
{
	const struct sl_volume_request raw = {{(uint32_t)size, 1, 1}, "u1", false},
				       none = {{0}, NULL, false};
	struct sl_volume v;
	uint32_t largest = 0;

	if (fuzz_check(sl_volume_parse(name, data, size, *name == '.' ? &raw : &none, &v)))
		for (size_t i = (size_t)v.size[0] * v.size[1] * v.size[2]; i-- > 0;)
			largest = v.labels[i] > largest ? v.labels[i] : largest;
	fuzz_expect(v.largest == largest);
	sl_volume_free(&v);
}

FUZZ(volume)
{
	read_volume("", data, size);
	read_volume(".raw", data, size);
}

/* The header and the records. */
FUZZ(iaea)
{
	size_t length;
	uint8_t *header = fuzz_split(&data, &size, &length);
	char *text = header ? strndup((const char *)header, length) : NULL;
	struct sl_mcpl_particle p;
	struct sl_iaea h;

	if (text && fuzz_check(sl_iaea_open(text, size, &h))) {
		fuzz_expect(h.particles * h.record_bytes == size);
		for (uint64_t i = 0; i < h.particles; i++)
			fuzz_check(sl_iaea_particle(&h, data + i * h.record_bytes, &p));
	}
	free(text);
	free(header);
}

FUZZ(topas)
{
	size_t length;
	uint8_t *header = fuzz_split(&data, &size, &length);
	char *text = header ? strndup((const char *)header, length) : NULL;
	struct sl_mcpl_particle p;
	struct sl_topas t = {.block = NULL};

	if (text && fuzz_check(sl_topas_open(text, data, size, &t)))
		for (uint64_t i = 0; i < t.particles && i < FUZZ_ROWS_MOST; i++)
			fuzz_check(sl_topas_particle(&t, i, &p));
	sl_memory_give(SL_HOST, t.block);
	free(text);
	free(header);
}

/* What HDF5 found and the file. Reads the file with its checksum line. */
static void read_found(
	const uint8_t *data, size_t size, void (*read)(const uint8_t *file, size_t bytes))
{
	uint8_t *found = fuzz_split(&data, &size, &fuzz_found_bytes), *file;

	if (!found)
		return;
	file = (uint8_t *)malloc(size + SL_CRC_TRAILER_BYTES);
	fuzz_expect(file != NULL);
	memcpy(file, data, size);
	sl_crc_trailer_add(file, size);
	fuzz_found = found;
	read(file, size + SL_CRC_TRAILER_BYTES);
	fuzz_found = NULL;
	fuzz_found_bytes = 0;
	free(file);
	free(found);
}

static void read_openpmd(const uint8_t *file, size_t bytes)
{
	fuzz_read_table(sl_openpmd_read, file, bytes);
}

FUZZ(openpmd)
{
	read_found(data, size, read_openpmd);
}

static void read_openmc(const uint8_t *file, size_t bytes)
{
	struct sl_mcpl_particle p;
	struct sl_openmc o;

	if (!fuzz_check(sl_openmc_open(file, bytes, &o)))
		return;
	fuzz_expect(o.at <= bytes && o.particles <= (bytes - o.at) / o.item_bytes);
	for (uint64_t i = 0; i < o.particles && i < FUZZ_ROWS_MOST; i++)
		fuzz_check(sl_openmc_particle(&o, file + o.at + i * o.item_bytes, &p));
}

FUZZ(openmc)
{
	read_found(data, size, read_openmc);
}

/*
 * Reads the pixels that the file claims to have; AddressSanitizer reports any outside of its
 * memory.
 */
static void read_image(const uint8_t *file, size_t bytes)
{
	struct sl_image_found found;

	if (!fuzz_check(sl_image_read(file, bytes, &found)))
		return;
	bytes = (size_t)(found.width * found.height) * sizeof(uint64_t);
	free(fuzz_copy(found.value, bytes));
	free(fuzz_copy(found.sum, bytes));
	fuzz_expect(strlen(found.what) < sizeof(found.what));
}

FUZZ(image)
{
	read_found(data, size, read_image);
}
