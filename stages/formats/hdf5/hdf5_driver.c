/*
 * hdf5_driver.c - a file that HDF5 makes in memory, around data that stay where they are.
 *
 *	| head: the superblock | data | all else that HDF5 makes |
 *
 * HDF5 asks a driver for addresses and hands it what belongs there. Chunks that are compressed
 * already are one block of memory, which is the middle of the file as it is: a chunk gets the
 * address that follows from its place in it, and nothing is copied. Head and rest, some kilobytes,
 * stand one behind the other in the image. Without data the image is the whole file.
 */
#include "stages/formats/hdf5/hdf5_driver.h"

#include <pthread.h>
#include <string.h>

/* What HDF5 holds of a file: its own part comes first. */
struct held {
	H5FD_t hdf5;
	struct sl_h5 *words;
};

static struct sl_h5 *words_of(const H5FD_t *file)
{
	return ((const struct held *)(const void *)file)->words;
}

/* --- opening ------------------------------------------------------------------------------- */

/* HDF5's memory, as it looks at it as long as it has not been able to close the file. */
static H5FD_t *file_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
	struct sl_h5 *const *info = (struct sl_h5 *const *)H5Pget_driver_info(access);
	struct held *file;

	(void)name, (void)flags, (void)most;
	if (!info)
		return NULL;
	file = (struct held *)H5allocate_memory(sizeof(*file), true);
	(*info)->no_memory = !file;
	if (!file)
		return NULL;
	file->words = *info;
	return &file->hdf5;
}

static herr_t file_close(H5FD_t *file)
{
	return H5free_memory(file);
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
	(void)file;
	*flags = 0; /* every object by itself, where it is put at once */
	return 0;
}

/* --- addresses ----------------------------------------------------------------------------- */

static haddr_t get_end(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return words_of(file)->end;
}

static haddr_t get_size(const H5FD_t *file, H5FD_mem_t type)
{
	return get_end(file, type);
}

static herr_t set_end(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
	(void)type;
	words_of(file)->end = end;
	return 0;
}

/*
 * Where address at is in the image; NULL if it is among the data, or there is no room. As long as
 * there is no head, all is before the data.
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
 * The first is the superblock, at 0; behind it are the data. A chunk is where it is; all else goes
 * to the end, cleared, as HDF5 does not write to every byte that it asks for.
 */
static haddr_t allocate(H5FD_t *file, H5FD_mem_t type, hid_t transfer, hsize_t bytes)
{
	struct sl_h5 *h = words_of(file);
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

/* Is it a chunk that is where it belongs? */
static bool is_there(const struct sl_h5 *h, haddr_t at, size_t bytes, const void *from)
{
	return at >= h->head && at - h->head < h->data_bytes &&
	       bytes <= h->data_bytes - (at - h->head) && h->data + (at - h->head) == from;
}

static herr_t file_write(
	H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *from)
{
	struct sl_h5 *h = words_of(file);
	uint8_t *to;

	(void)type, (void)transfer;
	if (is_there(h, at, bytes, from))
		return 0;
	to = place_of(h, at, bytes);
	if (!to)
		return -1;
	memcpy(to, from, bytes);
	return 0;
}

/* HDF5 reads back what it has made, never a chunk. */
static herr_t file_read(
	H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *to)
{
	const uint8_t *from = place_of(words_of(file), at, bytes);

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
	.value = 511, /* 256 to 511 are nobody's (H5FDpublic.h) */
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
 * The driver's number, the same for all files: HDF5 still looks into what it has registered while
 * it closes the last one.
 */
static hid_t driver_id(struct sl_h5 *h)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static hid_t id;
	hid_t found;

	pthread_mutex_lock(&lock);
	if (id <= 0)
		id = sl_h5_id(h, H5FDregister(&driver));
	found = id;
	pthread_mutex_unlock(&lock);
	return found;
}

void sl_h5_set_driver(struct sl_h5 *h, hid_t access)
{
	hid_t id = h->failed ? H5I_INVALID_HID : driver_id(h);

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
