/*
 * info_histograms.c - reads NAME.tallies and prints each histogram with its sums per fate.
 *
 * The file is HDF5 with a CRC-32 in its last bytes; pipeline/report/histogram_file.c describes its
 * layout. Names, sizes and types are checked as they are read, because the file can be any file of
 * that name. HDF5 runs in a child process (hdf5_child.h), which prints to memory.
 */
#include "pipeline/info/info_histograms.h"

#include <string.h>

#include "primitives/device/device.h"
#include "primitives/files/read.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/hdf5/hdf5_inspect.h"
#include "stages/selection/histogram.h"

/* Of a name in the file; of the printed text, more than any file of this program needs. */
enum { NAME_BYTES = 64, TEXT_BYTES = 1 << 20 };

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s; the file is damaged or was not written by sluice; use sluice run --resume to "
		"write it again",
		problem);
}

/* Text attribute of at least one byte; cut to size. */
static bool read_text(struct sl_h5 *h, hid_t at, const char *name, char *text, size_t size)
{
	char value[NAME_BYTES * 4] = "";
	hid_t attribute = sl_h5_id(h, H5Aopen(at, name, H5P_DEFAULT)), type;
	bool fits;

	if (attribute < 0)
		return false;
	type = sl_h5_id(h, H5Aget_type(attribute));
	fits = type >= 0 && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) &&
	       H5Tget_size(type) < sizeof(value) &&
	       H5Aget_storage_size(attribute) < sizeof(value) &&
	       sl_h5_ok(h, H5Aread(attribute, type, value));
	sl_h5_close(h, type);
	sl_h5_ok(h, H5Aclose(attribute));
	snprintf(text, size, "%s", value);
	return fits;
}

/* Reads a dataset of one dimension and at most `most` values; *n is their number. */
static bool read_values(struct sl_h5 *h, hid_t group, const char *name, hid_t type, uint64_t most,
	void *values, uint64_t *n)
{
	hid_t data = sl_h5_member(h, group, name);
	bool ok = data >= 0 && sl_h5_rows(h, data, type, n) && *n <= most &&
	          sl_h5_ok(h, H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));

	sl_h5_close(h, data);
	return ok;
}

/* Prints a line with the particles of a fate below, in and above the bins; false if it is damaged. */
static bool print_counts(struct sl_h5 *h, hid_t fate, const char *name, uint64_t n_bins, FILE *out)
{
	uint64_t count[SL_HISTOGRAM_MOST], n = 0, inside = 0, under, over;

	if (!read_values(h, fate, "count", H5T_STD_U64LE, SL_HISTOGRAM_MOST, count, &n) ||
		n != n_bins || !sl_h5_get(h, fate, "under", H5T_STD_U64LE, &under) ||
		!sl_h5_get(h, fate, "over", H5T_STD_U64LE, &over))
		return false;
	for (uint64_t i = 0; i < n; i++)
		inside += count[i];
	fprintf(out, "  %-14s %14llu %14llu %14llu\n", name, (unsigned long long)under,
		(unsigned long long)inside, (unsigned long long)over);
	return true;
}

/* A histogram group has the dataset "edges" and a group per fate. */
static enum sl_status print_fates(struct sl_h5 *h, hid_t group, uint64_t n_bins, FILE *out)
{
	char name[NAME_BYTES];
	H5G_info_t info;

	if (!sl_h5_ok(h, H5Gget_info(group, &info)))
		return damaged("a histogram cannot be listed");
	for (uint64_t i = 0; i < info.nlinks; i++) {
		hid_t fate;
		bool ok;

		if (!sl_h5_name(h, group, i, name, sizeof(name)))
			return damaged("a member of a histogram has no valid name");
		if (strcmp(name, "edges") == 0)
			continue;
		fate = sl_h5_member(h, group, name);
		ok = fate >= 0 && print_counts(h, fate, name, n_bins, out);
		sl_h5_close(h, fate);
		if (!ok)
			return damaged("the counts of a fate are missing or have the wrong size");
	}
	return SL_OK;
}

static enum sl_status print_histogram(struct sl_h5 *h, hid_t group, const char *name, FILE *out)
{
	char column[NAME_BYTES], unit[NAME_BYTES];
	double edge[SL_HISTOGRAM_MOST + 1];
	uint64_t particles, n = 0;

	if (!read_values(h, group, "edges", H5T_IEEE_F64LE, SL_HISTOGRAM_MOST + 1, edge, &n) ||
		n < 2 || !read_text(h, group, "column", column, sizeof(column)) ||
		!read_text(h, group, "unit", unit, sizeof(unit)) ||
		!sl_h5_get(h, group, "particles", H5T_STD_U64LE, &particles))
		return damaged("edges, column, unit or particles of a histogram are missing");
	fprintf(out, "%s: column %s, %llu bins from %.6g to %.6g%s%s, %llu particles\n", name,
		column, (unsigned long long)n - 1, edge[0], edge[n - 1], unit[0] ? " " : "", unit,
		(unsigned long long)particles);
	fprintf(out, "  %-14s %14s %14s %14s\n", "fate", "below", "in bins", "above");
	return print_fates(h, group, n - 1, out);
}

/* The root group has a group per histogram. */
static enum sl_status print_all(struct sl_h5 *h, hid_t root, FILE *out)
{
	char name[NAME_BYTES];
	H5G_info_t info;

	if (root < 0 || !sl_h5_ok(h, H5Gget_info(root, &info)))
		return damaged("the root group cannot be listed");
	for (uint64_t i = 0; i < info.nlinks; i++) {
		enum sl_status s;
		hid_t group;

		if (!sl_h5_name(h, root, i, name, sizeof(name)))
			return damaged("a histogram has no valid name");
		group = sl_h5_member(h, root, name);
		s = group >= 0 ? print_histogram(h, group, name, out)
		               : damaged("a member of the file is not a histogram");
		sl_h5_close(h, group);
		SL_TRY(s);
	}
	return SL_OK;
}

/* Prints to a text of size bytes, 0 included. It runs in a child process. */
static enum sl_status print_file(const void *file, size_t bytes, void *text, size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	struct sl_h5 h;
	enum sl_status s;
	hid_t root;

	if (!out)
		return sl_fail(SL_HOST_MEMORY,
			"host memory: there is none for a stream; close other "
			"programs");
	sl_h5_begin(&h, (void *)(uintptr_t)file, bytes);
	root = sl_h5_open_file(&h);
	s = print_all(&h, root, out);
	sl_h5_close(&h, root);
	if (fclose(out) != 0 && s == SL_OK)
		s = damaged("it has more histograms than any file of this program");
	return sl_h5_read_status(&h, s);
}

/* HDF5 gets the file without its CRC trailer. */
static enum sl_status print_checked(const char *file, size_t bytes, FILE *out)
{
	void *text;

	if (!sl_crc_trailer_is_valid(file, bytes))
		return damaged("the checksum at the end of the file is missing or wrong");
	SL_TRY(sl_h5_in_child(print_file, file, bytes - SL_CRC_TRAILER_BYTES, TEXT_BYTES, &text));
	fprintf(out, "%.*s", TEXT_BYTES - 1, (const char *)text);
	sl_h5_child_free(text, TEXT_BYTES);
	return SL_OK;
}

enum sl_status sl_info_histograms(const char *path, FILE *out)
{
	enum sl_status s;
	size_t bytes;
	char *file;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	fprintf(out, "%s: histograms, %zu bytes\n", path, bytes);
	s = sl_add_context(print_checked(file, bytes, out), "%s", path);
	sl_memory_give(SL_HOST, file);
	return s;
}
