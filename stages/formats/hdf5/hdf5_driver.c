/*
 * hdf5_driver.c - see hdf5.h.
 *
 *	file    | head: the superblock | data | rest: groups, attributes, B-trees |
 *	image   | head                 | rest                                     |
 *
 * HDF5 requests addresses from a driver and passes it the bytes for them. The compressed chunks are
 * one block of memory that becomes the middle of the file unchanged: a chunk gets the address that
 * follows from its offset in the block, and is not copied. The head and the rest, some kilobytes,
 * are contiguous in the image. Without data, and when a file is read, the image is the whole file.
 */
#include "stages/formats/hdf5/hdf5.h"

#include <string.h>

/* An open file. HDF5's part must come first. */
struct open_file {
	H5FD_t hdf5;
	struct sl_h5 *h5;
};

static struct sl_h5 *h5_of(const H5FD_t *file)
{
	return ((const struct open_file *)(const void *)file)->h5;
}

/* --- opening ------------------------------------------------------------------------------- */

/* Memory from HDF5: HDF5 reads it even after it failed to close the file. */
static H5FD_t *file_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
	struct sl_h5 *const *info = (struct sl_h5 *const *)H5Pget_driver_info(access);
	struct open_file *file;

	(void)name, (void)flags, (void)most;
	if (!info)
		return NULL;
	file = (struct open_file *)H5allocate_memory(sizeof(*file), true);
	(*info)->no_memory = !file;
	if (!file)
		return NULL;
	file->h5 = *info;
	return &file->hdf5;
}

static herr_t file_close(H5FD_t *file)
{
	return H5free_memory(file);
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
	(void)file;
	*flags = 0; /* no aggregation: each object gets its final address at once */
	return 0;
}

/* --- addresses ----------------------------------------------------------------------------- */

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return h5_of(file)->end;
}

static haddr_t get_size(const H5FD_t *file, H5FD_mem_t type)
{
	return h5_of(file)->reads ? h5_of(file)->size : get_end(file, type);
}

static herr_t set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
	(void)type;
	h5_of(file)->end = end;
	return 0;
}

/*
 * The place in the image of an address in the file. NULL if the address is in the data, or if the
 * image is too small. Until the head exists, all addresses are before the data.
 */
static uint8_t *place_of(struct sl_h5 *h, haddr_t at, size_t bytes)
{
	if (h->head > 0 && at >= h->head) {
		if (at - h->head < h->data_bytes)
			return NULL;
		at -= h->data_bytes;
	}
	if (at > h->size || bytes > h->size - at) {
		h->full = true;
		return NULL;
	}
	return h->image + at;
}

/*
 * The first request is the superblock at address 0; the data follow it. A chunk has its address
 * already. All else is appended to the rest and cleared, because HDF5 does not write every byte
 * that it requests.
 */
static haddr_t allocate(H5FD_t *file, H5FD_mem_t type, hid_t transfer, hsize_t bytes)
{
	struct sl_h5 *h = h5_of(file);
	haddr_t at = h->end;
	uint8_t *place;

	(void)transfer;
	if (type == H5FD_MEM_DRAW && h->chunk)
		return h->head + (haddr_t)(h->chunk - h->data);
	place = place_of(h, at, bytes);
	if (!place)
		return HADDR_UNDEF;
	memset(place, 0, bytes);
	h->end += bytes;
	if (at == 0) {
		h->head = bytes;
		h->end += h->data_bytes;
	}
	return at;
}

/* --- bytes --------------------------------------------------------------------------------- */

static herr_t file_write(
	H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *from)
{
	struct sl_h5 *h = h5_of(file);
	uint8_t *to;

	(void)type, (void)transfer;
	if (at >= h->head && at - h->head < h->data_bytes &&
		bytes <= h->data_bytes - (at - h->head) && h->data + (at - h->head) == from)
		return 0; /* it is a chunk in the data, which is in place already */
	to = place_of(h, at, bytes);
	if (!to)
		return -1;
	memcpy(to, from, bytes);
	return 0;
}

/* Of a file that is created, HDF5 reads back its own objects, never a chunk. */
static herr_t file_read(
	H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *to)
{
	const uint8_t *from = place_of(h5_of(file), at, bytes);

	(void)type, (void)transfer;
	if (!from)
		return -1;
	memcpy(to, from, bytes);
	return 0;
}

/* --- use ----------------------------------------------------------------------------------- */

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION /* since HDF5 1.14 */
	.version = H5FD_CLASS_VERSION,
	.value = 511, /* 256 to 511 are for unregistered drivers (H5FDpublic.h) */
#endif
	.name = "sluice",
	.maxaddr = (haddr_t)1 << 62,
	.fc_degree = H5F_CLOSE_STRONG,
	.fapl_size = sizeof(struct sl_h5 *),
	.open = file_open,
	.close = file_close,
	.query = query,
	.alloc = allocate,
	.get_eoa = get_end,
	.set_eoa = set_end,
	.get_eof = get_size,
	.read = file_read,
	.write = file_write,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

/*
 * The driver is registered once and never unregistered, because HDF5 uses the registration until it
 * has closed the last file.
 */
void sl_h5_set_driver(struct sl_h5 *h, hid_t access)
{
	static hid_t id;

	if (id <= 0 && !h->failed)
		id = sl_h5_id(h, H5FDregister(&driver));
	if (!h->failed)
		sl_h5_ok(h, H5Pset_driver(access, id, &h));
}

void sl_h5_chunk(struct sl_h5 *h, hid_t dataset, uint32_t skipped, uint64_t first,
	const uint8_t *chunk, size_t bytes)
{
	hsize_t offset = first;

	if (h->failed)
		return;
	h->chunk = chunk;
	sl_h5_ok(h, H5Dwrite_chunk(dataset, H5P_DEFAULT, skipped, &offset, bytes, chunk));
	h->chunk = NULL;
}
