/* hdf5_file.c - see hdf5.h. */
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/hdf5/hdf5_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A path below a device file exists on no machine, so HDF5 finds no file of that name. */
static const char no_file[] = "/dev/null/image";

bool sl_h5_has_memory(void)
{
#ifdef SL_SANITIZED
	/*
	 * Not malloc(): AddressSanitizer would mark all bytes of the block twice, which takes most
	 * of a verification.
	 */
	void *p =
		mmap(NULL, SL_H5_NEEDS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED && munmap(p, SL_H5_NEEDS) == 0;
#else
	void *volatile p = malloc(SL_H5_NEEDS);

	free(p);
	return p != NULL;
#endif
}

static bool initialise(void)
{
	struct sl_h5 h;

	if (H5dont_atexit() < 0 || H5open() < 0)
		return false;
	sl_h5_begin(&h, NULL, 0); /* allocates what HDF5 needs once for each thread */
	return true;
}

static enum sl_status try_to_initialise(const void *file, size_t bytes, void *found, size_t size)
{
	(void)file, (void)bytes, (void)found, (void)size;
	return initialise() ? SL_OK : SL_HOST_MEMORY;
}

/*
 * HDF5 is initialised in a child process first, because it crashes when some of the allocations of its
 * initialisation fail. The parent then makes the same calls, so it does not crash.
 */
enum sl_status sl_h5_start(void)
{
	bool starts;
	void *found;

	if (!sl_h5_has_memory())
		return sl_fail(SL_HOST_MEMORY,
			"host memory: %d bytes requested to start HDF5, and fewer are free; close other "
			"programs, or raise the limit (ulimit -v)",
			SL_H5_NEEDS);
	starts = sl_h5_in_free_child(try_to_initialise, NULL, 0, 1, &found) == SL_OK;
	if (starts)
		sl_h5_child_free(found, 1);
	if (!starts || !initialise())
		return sl_fail(SL_HOST_MEMORY,
			"HDF5 cannot be initialised: it lacks memory, or its library is damaged; close "
			"other programs, or reinstall HDF5");
	return SL_OK;
}

/* A call of HDF5 that is not made after a failure; ID(): one that returns an id. */
#define CALL(h, call)                      \
	do {                               \
		if (!(h)->failed)          \
			sl_h5_ok(h, call); \
	} while (0)
#define ID(h, call) ((h)->failed ? H5I_INVALID_HID : sl_h5_id(h, call))

/* --- failures --------------------------------------------------------------------------------- */

void sl_h5_begin(struct sl_h5 *h, void *image, size_t size)
{
	*h = (struct sl_h5){.image = (uint8_t *)image, .size = size};
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Appends one frame of HDF5's error stack to h->why. */
static herr_t add_frame(unsigned n, const H5E_error2_t *error, void *ctx)
{
	struct sl_h5 *h = (struct sl_h5 *)ctx;
	size_t used = strlen(h->why);

	h->no_memory |= error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC;
	snprintf(h->why + used, sizeof(h->why) - used, "%s%s: %s", n ? ", in " : "",
		error->func_name, error->desc);
	return 0;
}

bool sl_h5_ok(struct sl_h5 *h, int64_t answer)
{
	if (answer < 0 && !h->failed) {
		h->failed = true;
		H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add_frame, h);
		if (h->why[0] == '\0') { /* HDF5 had no memory for an error stack */
			h->no_memory = true;
			snprintf(h->why, sizeof(h->why), "no error stack");
		}
	}
	return !h->failed;
}

/*
 * A new id must be in HDF5's table of ids. HDF5 1.14 returns an id even if it had no memory to
 * add the id to the table. Such an id works only while it is the last one that HDF5 looked up, and
 * cannot be closed. A look-up of the next id, which does not exist yet, ends that state.
 */
hid_t sl_h5_id(struct sl_h5 *h, hid_t id)
{
	if (!sl_h5_ok(h, id))
		return id;
	if (H5Iis_valid(id + 1) >= 0 && H5Iis_valid(id) > 0)
		return id;
	h->failed = true;
	h->no_memory = true;
	snprintf(h->why, sizeof(h->why), "no memory to add an id to its table");
	return H5I_INVALID_HID;
}

void sl_h5_close(struct sl_h5 *h, hid_t id)
{
	if (id >= 0)
		sl_h5_ok(h, H5Idec_ref(id));
}

/* --- files in memory -------------------------------------------------------------------------- */

/* Creates or opens the file in the image. Closing it closes all objects that are open in it. */
static hid_t in_image(struct sl_h5 *h, bool create)
{
	hid_t access = sl_h5_id(h, H5Pcreate(H5P_FILE_ACCESS)), file;

	CALL(h, H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
	sl_h5_set_driver(h, access);
	file = ID(h, create ? H5Fcreate(no_file, H5F_ACC_TRUNC, H5P_DEFAULT, access)
			    : H5Fopen(no_file, H5F_ACC_RDONLY, access));
	sl_h5_close(h, access);
	return file;
}

hid_t sl_h5_create_file(struct sl_h5 *h)
{
	return in_image(h, true);
}

hid_t sl_h5_open_file(struct sl_h5 *h)
{
	h->reads = true;
	return in_image(h, false);
}

size_t sl_h5_finish_file(struct sl_h5 *h, hid_t file)
{
	ssize_t bytes = 0;

	CALL(h, H5Fflush(file, H5F_SCOPE_GLOBAL));
	if (!h->failed) {
		bytes = H5Fget_file_image(file, NULL, 0);
		sl_h5_ok(h, bytes);
	}
	sl_h5_close(h, file);
	return h->failed ? 0 : (size_t)bytes;
}

/* --- groups and datasets ---------------------------------------------------------------------- */

/* Properties of a new group or dataset without times, so that bytes depend on content only. */
static hid_t timeless(struct sl_h5 *h, hid_t kind)
{
	hid_t made = ID(h, H5Pcreate(kind));

	CALL(h, H5Pset_obj_track_times(made, false));
	return made;
}

hid_t sl_h5_group(struct sl_h5 *h, hid_t at, const char *name)
{
	hid_t how = timeless(h, H5P_GROUP_CREATE);
	hid_t group = ID(h, H5Gcreate2(at, name, H5P_DEFAULT, how, H5P_DEFAULT));

	sl_h5_close(h, how);
	return group;
}

/* A dataspace of so many dimensions; of none: a scalar. */
static hid_t space_of(struct sl_h5 *h, int rank, const uint64_t size[])
{
	_Static_assert(sizeof(hsize_t) == sizeof(*size), "sizes are passed on");
	return ID(h, H5Screate_simple(rank, (const hsize_t *)(const void *)size, NULL));
}

hid_t sl_h5_dataset(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n,
	uint64_t chunk, bool shuffle)
{
	hid_t how = timeless(h, H5P_DATASET_CREATE);
	hid_t space = space_of(h, 1, &n);
	hsize_t size = chunk;
	hid_t made;

	if (chunk)
		CALL(h, H5Pset_chunk(how, 1, &size));
	if (chunk && shuffle)
		CALL(h, H5Pset_shuffle(how));
	/*
	 * The level only matters to programs that add chunks later: these are compressed already.
	 */
	if (chunk)
		CALL(h, H5Pset_deflate(how, 6));
	made = ID(h, H5Dcreate2(at, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT));
	sl_h5_close(h, space);
	sl_h5_close(h, how);
	return made;
}

hid_t sl_h5_values(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values)
{
	return sl_h5_grid(h, at, name, type, 1, &n, values);
}

hid_t sl_h5_grid(struct sl_h5 *h, hid_t at, const char *name, hid_t type, int rank,
	const uint64_t size[], const void *values)
{
	hid_t how = timeless(h, H5P_DATASET_CREATE);
	hid_t space = space_of(h, rank, size);
	hid_t made = ID(h, H5Dcreate2(at, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT));

	CALL(h, H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
	sl_h5_close(h, space);
	sl_h5_close(h, how);
	return made;
}

/* --- attributes and text ---------------------------------------------------------------------- */

static void put(struct sl_h5 *h, hid_t at, const char *name, hid_t type, int rank, uint64_t n,
	const void *values)
{
	hid_t space = space_of(h, rank, &n);
	hid_t made = ID(h, H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT));

	CALL(h, H5Awrite(made, type, values));
	sl_h5_close(h, made);
	sl_h5_close(h, space);
}

void sl_h5_put(struct sl_h5 *h, hid_t at, const char *name, hid_t type, const void *value)
{
	put(h, at, name, type, 0, 1, value);
}

void sl_h5_put_list(
	struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t n, const void *values)
{
	put(h, at, name, type, 1, n, values);
}

void sl_h5_put_u32(struct sl_h5 *h, hid_t at, const char *name, uint32_t value)
{
	sl_h5_put(h, at, name, H5T_STD_U32LE, &value);
}

void sl_h5_put_u64(struct sl_h5 *h, hid_t at, const char *name, uint64_t value)
{
	sl_h5_put(h, at, name, H5T_STD_U64LE, &value);
}

void sl_h5_put_f64(struct sl_h5 *h, hid_t at, const char *name, double value)
{
	sl_h5_put(h, at, name, H5T_IEEE_F64LE, &value);
}

/*
 * The type of a text of fixed length, because some openPMD readers fail on strings of variable
 * length. HDF5 has no type of length 0: an empty text is one NUL.
 */
static hid_t text_type(struct sl_h5 *h, const char *text)
{
	size_t length = strlen(text);
	hid_t type = ID(h, H5Tcopy(H5T_C_S1));

	CALL(h, H5Tset_size(type, length ? length : 1));
	CALL(h, H5Tset_strpad(type, H5T_STR_NULLPAD));
	return type;
}

void sl_h5_put_text(struct sl_h5 *h, hid_t at, const char *name, const char *text)
{
	hid_t type = text_type(h, text);

	sl_h5_put(h, at, name, type, text);
	sl_h5_close(h, type);
}

void sl_h5_text(struct sl_h5 *h, hid_t at, const char *name, const char *text)
{
	hid_t type = text_type(h, text);

	sl_h5_close(h, sl_h5_grid(h, at, name, type, 0, NULL, text));
	sl_h5_close(h, type);
}
