/* image_file.c - see image_file.h. */
#include "stages/formats/images/image_file.h"

#include <string.h>

#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/common/crc_trailer.h"

/* Groups and attributes need far less than 128 KiB beside the values and the configuration. */
size_t sl_image_bytes(const struct sl_image *p, const struct sl_file_facts *run)
{
	size_t pixels = sl_size_mul(p->width, p->height);

	return sl_size_add(sl_size_mul(pixels, 3 * sizeof(uint64_t)),
		strlen(run->config) + ((size_t)128 << 10) + SL_CRC_TRAILER_BYTES);
}

static void write_numbers(struct sl_h5 *h, hid_t file, const struct sl_image_values *v)
{
	const struct sl_image *p = v->image;

	sl_h5_close(h, sl_h5_grid(h, file, p->what, H5T_IEEE_F64LE, p->height, p->width, v->value));
	sl_h5_close(h, sl_h5_grid(h, file, "sum", H5T_STD_U64LE, p->height, p->width, v->sum));
	if (v->rays)
		sl_h5_close(h,
			sl_h5_grid(h, file, "rays", H5T_STD_U64LE, p->height, p->width, v->rays));
}

enum sl_status sl_image_make(const struct sl_file_facts *run, const struct sl_image_values *v,
	void *file, size_t size, size_t *used)
{
	struct sl_h5 h;
	size_t bytes;
	hid_t made;

	sl_h5_begin(&h, file, size - SL_CRC_TRAILER_BYTES);
	made = sl_h5_create_file(&h);
	sl_h5_put_text(&h, made, "software", "Sluice");
	sl_h5_put_text(&h, made, "softwareVersion", run->software_version);
	sl_h5_put_u64(&h, made, "sluiceSeed", run->seed);
	sl_h5_put_u64(&h, made, "particles", v->particles);
	sl_h5_put_f64(&h, made, "scale", v->image->scale);
	sl_h5_put_f64(&h, made, "sumUnit", 0x1p-32);
	sl_h5_text(&h, made, "sluiceConfig", run->config);
	write_numbers(&h, made, v);
	bytes = sl_h5_finish_file(&h, made);
	if (h.failed)
		return sl_fail(h.no_memory ? SL_HOST_MEMORY : SL_INTERNAL,
			"HDF5 cannot make the image file (%s); %s", h.why,
			h.no_memory ? "free some memory" : "please report it");
	sl_crc_trailer_add(file, bytes);
	*used = bytes + SL_CRC_TRAILER_BYTES;
	return SL_OK;
}
