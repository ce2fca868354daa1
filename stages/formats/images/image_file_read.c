/*
 * image_file_read.c - see images.h.
 *
 * HDF5 locates the datasets in a child process (hdf5_child.h); the offsets that it returns are
 * checked here.
 */
#include "stages/formats/images/images.h"

#include <string.h>

#include "primitives/base/size.h"
#include "stages/formats/common/common.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/hdf5/hdf5_child.h"

/* A dataset of pixels, as the file states it. */
struct image_grid {
	uint64_t rows, columns;
	uint64_t at; /* offset of the values in the file */
};

/* The block that the child fills. */
struct image_located {
	char what[32]; /* name of the values, "radiance" */
	uint64_t particles;
	uint8_t has_rays; /* 0: no; not bool, as a crash may leave any byte */
	struct image_grid value, sum, rays;
};

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is damaged, or is not an image of this program; inspect it with h5ls, "
		"or make it again",
		problem);
}

/* --- in the child --------------------------------------------------------------------------- */

static enum sl_status locate_grid(
	struct sl_h5 *h, hid_t root, const char *name, hid_t type, struct image_grid *g)
{
	hid_t grid = sl_h5_member(h, root, name);
	bool is_grid = grid >= 0 && sl_h5_is_grid(h, grid, type, &g->rows, &g->columns, &g->at);

	sl_h5_close(h, grid);
	return is_grid ? SL_OK
	               : damaged("a dataset of its pixels is missing or of another type or shape");
}

/* Sets what to the name of the only member whose name is not the same in all images. */
static bool find_what(struct sl_h5 *h, hid_t root, struct image_located *l)
{
	static const char *const known[] = {"rays", "sluiceConfig", "sum"};
	char name[sizeof(l->what)];
	H5G_info_t info;
	int found = 0;

	if (h->failed || !sl_h5_ok(h, H5Gget_info(root, &info)))
		return false;
	for (uint64_t i = 0; i < info.nlinks && sl_h5_name(h, root, i, name, sizeof(name)); i++) {
		bool other = true;

		for (int k = 0; k < 3; k++)
			other = other && strcmp(name, known[k]) != 0;
		l->has_rays = l->has_rays || strcmp(name, known[0]) == 0;
		if (other)
			memcpy(l->what, name, sizeof(name));
		found += other;
	}
	return found == 1;
}

static enum sl_status locate_root(struct sl_h5 *h, hid_t root, void *found)
{
	struct image_located *l = (struct image_located *)found;

	if (!find_what(h, root, l) ||
		!sl_h5_get(h, root, "particles", H5T_STD_U64LE, &l->particles))
		return damaged("its pixels or its number of particles are missing");
	SL_TRY(locate_grid(h, root, l->what, H5T_IEEE_F64LE, &l->value));
	SL_TRY(locate_grid(h, root, "sum", H5T_STD_U64LE, &l->sum));
	return l->has_rays ? locate_grid(h, root, "rays", H5T_STD_U64LE, &l->rays) : SL_OK;
}

static enum sl_status locate(const void *file, size_t bytes, void *found, size_t size)
{
	(void)size;
	return sl_h5_read_root(file, bytes, locate_root, found);
}

/* --- in the caller's process ----------------------------------------------------------------- */

/* Sets *values to those of a dataset. All datasets must have the size of the image. */
static enum sl_status check_grid(const char *file, size_t bytes, const struct image_grid *g,
	const struct sl_image_found *found, const void **values)
{
	size_t size = sl_size_mul(sl_size_mul(g->rows, g->columns), sizeof(uint64_t));

	if (size == 0 || size > bytes || g->at > bytes - size)
		return damaged("it claims more pixels than the file holds");
	if (g->rows != found->height || g->columns != found->width)
		return damaged(
			"its datasets differ in their pixels: width or height is not the same");
	*values = file + g->at;
	return SL_OK;
}

enum sl_status sl_image_read(const void *file, size_t bytes, struct sl_image_found *found)
{
	struct image_located l;
	size_t size = bytes - SL_CRC_TRAILER_BYTES;
	void *block;

	*found = (struct sl_image_found){.value = NULL};
	if (!sl_crc_trailer_is_valid(file, bytes))
		return damaged("its checksum line is missing or wrong");
	SL_TRY(sl_h5_in_child(locate, file, size, sizeof(l), &block));
	memcpy(&l, block, sizeof(l));
	sl_h5_child_free(block, sizeof(l));
	memcpy(found->what, l.what, sizeof(l.what) - 1);
	found->particles = l.particles;
	found->height = l.value.rows;
	found->width = l.value.columns;
	SL_TRY(check_grid((const char *)file, size, &l.value, found, &found->value));
	SL_TRY(check_grid((const char *)file, size, &l.sum, found, &found->sum));
	return l.has_rays ? check_grid((const char *)file, size, &l.rays, found, &found->rays)
	                  : SL_OK;
}
