/* info_histograms.c - reads NAME.tallies and prints each histogram with its sums per fate. */
#include "pipeline/inspect/info_histograms.h"

#include <string.h>

#include "primitives/device/device.h"
#include "primitives/files/read.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_file.h"
#include "stages/formats/hdf5/hdf5_inspect.h"
#include "stages/selection/histogram.h"

enum { NAME_BYTES = 64 };

static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s: the file is not a histogram file of sluice, or it is damaged; inspect it with "
		"h5ls or make it again",
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

/* The sum of the counts of a fate, its counters below and above the range included. */
static bool read_counts(struct sl_h5 *h, hid_t fate, uint64_t n_bins, uint64_t *inside,
	uint64_t *under, uint64_t *over)
{
	uint64_t count[SL_HISTOGRAM_MOST], n = 0;
	hid_t data = sl_h5_member(h, fate, "count");
	bool ok = data >= 0 && sl_h5_rows(h, data, H5T_STD_U64LE, &n) && n == n_bins &&
	          n <= SL_HISTOGRAM_MOST &&
	          sl_h5_ok(h, H5Dread(data, H5T_STD_U64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, count));

	sl_h5_close(h, data);
	*inside = 0;
	for (uint64_t i = 0; ok && i < n; i++)
		*inside += count[i];
	return ok && sl_h5_get(h, fate, "under", H5T_STD_U64LE, under) &&
	       sl_h5_get(h, fate, "over", H5T_STD_U64LE, over);
}

static enum sl_status print_fates(struct sl_h5 *h, hid_t group, uint64_t n_bins, FILE *out)
{
	char name[NAME_BYTES];
	H5G_info_t info;

	if (!sl_h5_ok(h, H5Gget_info(group, &info)))
		return damaged("a histogram cannot be listed");
	for (uint64_t i = 0; i < info.nlinks; i++) {
		uint64_t inside, under, over;
		hid_t fate;
		bool ok;

		if (!sl_h5_name(h, group, i, name, sizeof(name)))
			return damaged("a member of a histogram has no valid name");
		if (strcmp(name, "edges") == 0)
			continue;
		fate = sl_h5_member(h, group, name);
		ok = fate >= 0 && read_counts(h, fate, n_bins, &inside, &under, &over);
		sl_h5_close(h, fate);
		if (!ok)
			return damaged("the counts of a fate are missing or have the wrong size");
		fprintf(out, "  %-14s %14llu %14llu %14llu\n", name, (unsigned long long)under,
			(unsigned long long)inside, (unsigned long long)over);
	}
	return SL_OK;
}

static enum sl_status print_histogram(struct sl_h5 *h, hid_t group, const char *name, FILE *out)
{
	char column[NAME_BYTES], unit[NAME_BYTES];
	double edge[SL_HISTOGRAM_MOST + 1];
	uint64_t particles, n = 0;
	hid_t edges = sl_h5_member(h, group, "edges");
	bool ok = edges >= 0 && sl_h5_rows(h, edges, H5T_IEEE_F64LE, &n) && n >= 2 &&
	          n <= SL_HISTOGRAM_MOST + 1 &&
	          sl_h5_ok(h, H5Dread(edges, H5T_IEEE_F64LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, edge));

	sl_h5_close(h, edges);
	if (!ok || !read_text(h, group, "column", column, sizeof(column)) ||
		!read_text(h, group, "unit", unit, sizeof(unit)) ||
		!sl_h5_get(h, group, "particles", H5T_STD_U64LE, &particles))
		return damaged("edges, column, unit or particles of a histogram are missing");
	fprintf(out, "%s: column %s, %llu bins from %.6g to %.6g%s%s, %llu particles\n", name,
		column, (unsigned long long)n - 1, edge[0], edge[n - 1], unit[0] ? " " : "", unit,
		(unsigned long long)particles);
	fprintf(out, "  %-14s %14s %14s %14s\n", "fate", "below", "in bins", "above");
	return print_fates(h, group, n - 1, out);
}

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

static enum sl_status print_file(const char *file, size_t bytes, FILE *out)
{
	struct sl_h5 h;
	enum sl_status s;
	hid_t root;

	if (!sl_crc_trailer_is_valid(file, bytes))
		return damaged("the checksum at its end is missing or wrong");
	sl_h5_begin(&h, (void *)(uintptr_t)file, bytes - SL_CRC_TRAILER_BYTES);
	root = sl_h5_open_file(&h);
	s = print_all(&h, root, out);
	sl_h5_close(&h, root);
	if (!h.failed)
		return s;
	return h.no_memory ? sl_fail(SL_HOST_MEMORY, "HDF5 has no memory (%s); free some", h.why)
	                   : damaged(h.why);
}

enum sl_status sl_info_histograms(const char *path, FILE *out)
{
	enum sl_status s;
	size_t bytes;
	char *file;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	fprintf(out, "%s: histograms, %zu bytes\n", path, bytes);
	s = sl_add_context(print_file(file, bytes, out), "%s", path);
	sl_memory_give(SL_HOST, file);
	return s;
}
