/* hdf5_inspect.c - see hdf5.h. */
#include "stages/formats/hdf5/hdf5.h"

#include <string.h>

#include "primitives/files/files.h"

/* No name that this program writes is as long. */
enum { NAME_BYTES = 256 };

/* A truth value of HDF5: a negative one is a failure and counts as false. */
static bool is_true(struct sl_h5 *h, int64_t answer)
{
	return sl_h5_ok(h, answer) && answer > 0;
}

hid_t sl_h5_member(struct sl_h5 *h, hid_t at, const char *name)
{
	if (h->failed || at < 0 || !is_true(h, H5Lexists(at, name, H5P_DEFAULT)))
		return H5I_INVALID_HID;
	return sl_h5_id(h, H5Oopen(at, name, H5P_DEFAULT));
}

bool sl_h5_name(struct sl_h5 *h, hid_t at, uint64_t i, char *name, size_t size)
{
	return !h->failed && sl_h5_ok(h, H5Lget_name_by_idx(at, ".", H5_INDEX_NAME, H5_ITER_INC, i,
						 name, size, H5P_DEFAULT));
}

hid_t sl_h5_only_group(struct sl_h5 *h, hid_t at)
{
	char name[NAME_BYTES];
	H5G_info_t info;
	hid_t found;

	if (h->failed || at < 0 || H5Iget_type(at) != H5I_GROUP ||
		!sl_h5_ok(h, H5Gget_info(at, &info)) || info.nlinks != 1 ||
		!sl_h5_name(h, at, 0, name, sizeof(name)))
		return H5I_INVALID_HID;
	found = sl_h5_member(h, at, name);
	if (found >= 0 && H5Iget_type(found) == H5I_GROUP)
		return found;
	sl_h5_close(h, found);
	return H5I_INVALID_HID;
}

/* An open attribute and its type in the file. */
struct attribute {
	struct sl_h5 *h;
	hid_t id, type;
};

/*
 * Opens an attribute that has exactly n values. HDF5 writes as many values as the file claims, so
 * every read of an attribute begins here.
 */
static bool open_attribute(
	struct sl_h5 *h, hid_t at, const char *name, uint64_t n, struct attribute *a)
{
	hid_t space;
	bool fits;

	*a = (struct attribute){h, H5I_INVALID_HID, H5I_INVALID_HID};
	if (h->failed || at < 0 || !is_true(h, H5Aexists(at, name)))
		return false;
	a->id = sl_h5_id(h, H5Aopen(at, name, H5P_DEFAULT));
	a->type = h->failed ? H5I_INVALID_HID : sl_h5_id(h, H5Aget_type(a->id));
	space = h->failed ? H5I_INVALID_HID : sl_h5_id(h, H5Aget_space(a->id));
	fits = !h->failed && H5Sget_simple_extent_npoints(space) == (hssize_t)n;
	sl_h5_close(h, space);
	return fits;
}

static void close_attribute(struct attribute *a)
{
	sl_h5_close(a->h, a->type);
	sl_h5_close(a->h, a->id);
}

bool sl_h5_get(struct sl_h5 *h, hid_t at, const char *name, hid_t type, void *value)
{
	SL_CLOSED_BY(close_attribute) struct attribute a;

	return open_attribute(h, at, name, 1, &a) && is_true(h, H5Tequal(a.type, type)) &&
	       sl_h5_ok(h, H5Aread(a.id, type, value));
}

bool sl_h5_get_integers(struct sl_h5 *h, hid_t at, const char *name, uint64_t n, int value[])
{
	SL_CLOSED_BY(close_attribute) struct attribute a;

	return open_attribute(h, at, name, n, &a) && H5Tget_class(a.type) == H5T_INTEGER &&
	       sl_h5_ok(h, H5Aread(a.id, H5T_NATIVE_INT, value));
}

/* Reads a text of variable length; HDF5 allocates it, at most as much as the child process may. */
static bool read_variable(struct sl_h5 *h, const struct attribute *a, char *text, size_t size)
{
	char *whole = NULL;
	bool got = sl_h5_ok(h, H5Aread(a->id, a->type, &whole)) && whole && strlen(whole) < size;

	if (got)
		strcpy(text, whole);
	if (whole)
		H5free_memory(whole);
	return got;
}

/* Reads a text of fixed length without what pads it. */
static bool read_fixed(struct sl_h5 *h, const struct attribute *a, char *text, size_t size)
{
	hid_t type = H5Tget_size(a->type) < size ? sl_h5_id(h, H5Tcopy(a->type)) : H5I_INVALID_HID;
	bool got = type >= 0 && sl_h5_ok(h, H5Tset_size(type, size)) &&
	           sl_h5_ok(h, H5Tset_strpad(type, H5T_STR_NULLTERM)) &&
	           sl_h5_ok(h, H5Aread(a->id, type, text));

	sl_h5_close(h, type);
	return got;
}

bool sl_h5_get_text(struct sl_h5 *h, hid_t at, const char *name, char *text, size_t size)
{
	SL_CLOSED_BY(close_attribute) struct attribute a;

	memset(text, 0, size);
	return open_attribute(h, at, name, 1, &a) && H5Tget_class(a.type) == H5T_STRING &&
	       (is_true(h, H5Tis_variable_str(a.type)) ? read_variable(h, &a, text, size)
						       : read_fixed(h, &a, text, size));
}

/* Sets the sizes of a dataset; false if it does not have this type and so many dimensions. */
static bool sizes_of(struct sl_h5 *h, hid_t dataset, hid_t type, int dimensions, hsize_t *size)
{
	hid_t found = h->failed ? H5I_INVALID_HID : sl_h5_id(h, H5Dget_type(dataset));
	hid_t space = h->failed ? H5I_INVALID_HID : sl_h5_id(h, H5Dget_space(dataset));
	bool got = !h->failed && is_true(h, H5Tequal(found, type)) &&
	           H5Sget_simple_extent_ndims(space) == dimensions &&
	           sl_h5_ok(h, H5Sget_simple_extent_dims(space, size, NULL));

	sl_h5_close(h, space);
	sl_h5_close(h, found);
	return got;
}

bool sl_h5_rows(struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *n)
{
	hsize_t size = 0;
	bool got = sizes_of(h, dataset, type, 1, &size);

	*n = size;
	return got;
}

bool sl_h5_get_values(struct sl_h5 *h, hid_t at, const char *name, hid_t type, uint64_t most,
	void *values, uint64_t *n)
{
	hid_t data = sl_h5_member(h, at, name);
	bool ok = data >= 0 && sl_h5_rows(h, data, type, n) && *n <= most &&
	          sl_h5_ok(h, H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));

	sl_h5_close(h, data);
	return ok;
}

bool sl_h5_is_grid(
	struct sl_h5 *h, hid_t dataset, hid_t type, uint64_t *rows, uint64_t *columns, uint64_t *at)
{
	hsize_t size[2] = {0, 0};

	/* the offset is undefined until HDF5 has allocated the data, and for data in chunks */
	*at = sizes_of(h, dataset, type, 2, size) ? H5Dget_offset(dataset) : HADDR_UNDEF;
	*rows = size[0];
	*columns = size[1];
	return *at != HADDR_UNDEF;
}

/* Whether filter i in a dataset creation property list is this one. */
static bool is_filter(struct sl_h5 *h, hid_t how, unsigned i, H5Z_filter_t filter)
{
	size_t n_values = 0;
	unsigned flags, config;
	H5Z_filter_t found = H5Pget_filter2(how, i, &flags, &n_values, NULL, 0, NULL, &config);

	return sl_h5_ok(h, found) && found == filter;
}

bool sl_h5_is_chunked(struct sl_h5 *h, hid_t dataset, uint64_t chunk, bool shuffle)
{
	hid_t how = h->failed ? H5I_INVALID_HID : sl_h5_id(h, H5Dget_create_plist(dataset));
	hsize_t size = 0;
	bool is = !h->failed && H5Pget_layout(how) == H5D_CHUNKED &&
	          sl_h5_ok(h, H5Pget_chunk(how, 1, &size)) && size == chunk &&
	          H5Pget_nfilters(how) == 1 + shuffle &&
	          (!shuffle || is_filter(h, how, 0, H5Z_FILTER_SHUFFLE)) &&
	          is_filter(h, how, shuffle, H5Z_FILTER_DEFLATE);

	sl_h5_close(h, how);
	return is;
}

enum sl_status sl_h5_read_root(
	const void *file, size_t bytes, sl_h5_root_reader *read, void *context)
{
	enum sl_status status;
	struct sl_h5 h;
	hid_t root;

	sl_h5_begin(&h, (void *)(uintptr_t)file, bytes);
	root = sl_h5_open_file(&h);
	status = read(&h, root, context);
	sl_h5_close(&h, root);
	if (!h.failed)
		return status;
	if (h.no_memory)
		return sl_fail(SL_HOST_MEMORY,
			"HDF5 could not allocate memory (%s); close other programs", h.why);
	return sl_fail(SL_BAD_INPUT,
		"HDF5 cannot read the file (%s): the file is damaged, or this program did not write it; "
		"make it again",
		h.why);
}
