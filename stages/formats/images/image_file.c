/* image_file.c - see images.h. */
#include "stages/formats/images/images.h"

#include <string.h>

#include "stages/formats/common/common.h"
#include "stages/formats/hdf5/hdf5.h"

/*
 * Groups and attributes need far less than 128 KiB in addition to the values and the configuration.
 */
size_t sl_image_bytes(const struct sl_image *p, const struct sl_file_facts *run)
{
	size_t pixels = sl_size_mul(p->width, p->height);

	return sl_size_add(sl_size_mul(pixels, 3 * sizeof(uint64_t)),
		strlen(run->config) + ((size_t)128 << 10) + SL_CRC_TRAILER_BYTES);
}

/* What the file contains. */
struct image_facts {
	const struct sl_file_facts *run;
	const struct sl_image_values *values;
};

static size_t make(struct sl_h5 *h, const void *from)
{
	const struct image_facts *f = (const struct image_facts *)from;
	const struct sl_image_values *v = f->values;
	const uint64_t size[] = {v->image->height, v->image->width};
	hid_t file = sl_h5_create_file(h);

	sl_h5_put_text(h, file, "software", "Sluice");
	sl_h5_put_text(h, file, "softwareVersion", f->run->software_version);
	sl_h5_put_u64(h, file, "sluiceSeed", f->run->seed);
	sl_h5_put_u64(h, file, "particles", v->particles);
	sl_h5_put_f64(h, file, "scale", v->image->scale);
	sl_h5_put_f64(h, file, "sumUnit", 0x1p-32);
	sl_h5_text(h, file, "sluiceConfig", f->run->config);
	sl_h5_close(h, sl_h5_grid(h, file, v->image->what, H5T_IEEE_F64LE, 2, size, v->value));
	sl_h5_close(h, sl_h5_grid(h, file, "sum", H5T_STD_U64LE, 2, size, v->sum));
	if (v->rays)
		sl_h5_close(h, sl_h5_grid(h, file, "rays", H5T_STD_U64LE, 2, size, v->rays));
	return sl_h5_finish_file(h, file);
}

enum sl_status sl_image_make(const struct sl_file_facts *run, const struct sl_image_values *v,
	void *file, size_t size, size_t *used)
{
	const struct image_facts facts = {run, v};
	struct sl_h5 h = {.image = (uint8_t *)file, .size = size - SL_CRC_TRAILER_BYTES};

	SL_TRY(sl_h5_fork_make(make, &facts, &h, used));
	sl_crc_trailer_add(file, *used);
	*used += SL_CRC_TRAILER_BYTES;
	return SL_OK;
}
