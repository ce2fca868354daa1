/* image_file_read.c - see image_file_read.h. */
#include "stages/formats/images/image_file_read.h"

#include <string.h>

#include "primitives/base/size.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_inspect.h"

/* State of a file that is read. */
struct image_reading {
	struct sl_h5 h;
	const char *file;
	size_t bytes;
	hid_t root;
	struct sl_image_found *found;
};

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not an image of this program; inspect it with h5ls, "
		"or make it again",
		problem);
}

/* Sets *values to those of the dataset of that name. All datasets must have the same size. */
static enum sl_status read_grid(
	struct image_reading *r, const char *name, hid_t type, const void **values)
{
	hid_t grid = sl_h5_member(&r->h, r->root, name);
	uint64_t rows, columns, at;
	bool is_grid = grid >= 0 && sl_h5_is_grid(&r->h, grid, type, &rows, &columns, &at);
	size_t size;

	sl_h5_close(&r->h, grid);
	if (!is_grid)
		return damaged("a dataset of its pixels is missing or of another type or shape");
	size = sl_size_mul(sl_size_mul(rows, columns), sizeof(uint64_t));
	if (size == 0 || size > r->bytes || at > r->bytes - size)
		return damaged("it claims more pixels than the file holds");
	if (r->found->height > 0 && (rows != r->found->height || columns != r->found->width))
		return damaged(
			"its datasets differ in their pixels: width or height is not the same");
	r->found->height = rows;
	r->found->width = columns;
	*values = r->file + at;
	return SL_OK;
}

/* Sets found->what to the name of the only member whose name is not the same in all images. */
static bool find_what(struct image_reading *r, bool *rays)
{
	static const char *const known[] = {"rays", "sluiceConfig", "sum"};
	char name[sizeof(r->found->what)];
	H5G_info_t info;
	int found = 0;

	*rays = false;
	if (r->h.failed || !sl_h5_ok(&r->h, H5Gget_info(r->root, &info)))
		return false;
	for (uint64_t i = 0; i < info.nlinks && sl_h5_name(&r->h, r->root, i, name, sizeof(name));
		i++) {
		bool other = true;

		for (int k = 0; k < 3; k++)
			other = other && strcmp(name, known[k]) != 0;
		*rays = *rays || strcmp(name, known[0]) == 0;
		if (other)
			memcpy(r->found->what, name, sizeof(name));
		found += other;
	}
	return found == 1;
}

static enum sl_status read_root(struct image_reading *r)
{
	struct sl_image_found *found = r->found;
	bool rays;

	if (!find_what(r, &rays) ||
		!sl_h5_get(&r->h, r->root, "particles", H5T_STD_U64LE, &found->particles))
		return damaged("its pixels or its number of particles are missing");
	SL_TRY(read_grid(r, found->what, H5T_IEEE_F64LE, &found->value));
	SL_TRY(read_grid(r, "sum", H5T_STD_U64LE, &found->sum));
	return rays ? read_grid(r, "rays", H5T_STD_U64LE, &found->rays) : SL_OK;
}

enum sl_status sl_image_read(const void *file, size_t bytes, struct sl_image_found *found)
{
	struct image_reading r = {.file = (const char *)file, .found = found};
	enum sl_status s;

	*found = (struct sl_image_found){.value = NULL};
	if (!sl_crc_trailer_is_valid(file, bytes))
		return damaged("its checksum line is missing or wrong");
	r.bytes = bytes - SL_CRC_TRAILER_BYTES;
	sl_h5_begin(&r.h, (void *)(uintptr_t)file, r.bytes);
	r.root = sl_h5_open_file(&r.h);
	s = read_root(&r);
	sl_h5_close(&r.h, r.root);
	if (!r.h.failed)
		return s;
	return sl_fail(r.h.no_memory ? SL_HOST_MEMORY : SL_BAD_INPUT,
		"HDF5 cannot read the file (%s); %s", r.h.why,
		r.h.no_memory ? "free some memory"
			      : "this program did not write it; make it again");
}
