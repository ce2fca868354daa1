/*
 * info_histograms.c - reads NAME.tallies: each histogram with its sums per fate.
 *
 * The file is HDF5 with a CRC-32 in its last bytes; pipeline/report/tallies/tallies.h
 * describes its layout. Names, sizes and types are checked as they are read, because the file can
 * be any file of that name. HDF5 runs in a child process (hdf5.h), which writes to memory.
 */
#include "pipeline/info/info.h"

#include <string.h>

#include "pipeline/report/tallies/tallies.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/formats/common/common.h"
#include "stages/formats/hdf5/hdf5.h"
#include "stages/formats/hdf5/hdf5_child.h"

/* Of a name in the file; of the text, more than any file of this program needs. */
enum { NAME_BYTES = 128, TEXT_BYTES = 1 << 20 };

/*
 * Every problem of the file ends here: there is no way to print a part of it that could be trusted.
 */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s; the file is damaged or was not written by sluice; use sluice run --resume to "
		"write it again",
		problem);
}

/* Writes a member of a group; the group is that of a histogram of n_bins bins, or the root. */
typedef enum sl_status member_writer(
	struct sl_h5 *h, hid_t member, const char *name, uint64_t n_bins, struct sl_json *j);

/* Calls write for each member of a group, in the order of their names. */
static enum sl_status each_member(
	struct sl_h5 *h, hid_t group, member_writer *write, uint64_t n_bins, struct sl_json *j)
{
	char name[NAME_BYTES];
	H5G_info_t info;

	if (group < 0 || !sl_h5_ok(h, H5Gget_info(group, &info)))
		return damaged("a group cannot be listed");
	for (uint64_t i = 0; i < info.nlinks; i++) {
		enum sl_status s;
		hid_t member;

		if (!sl_h5_name(h, group, i, name, sizeof(name)))
			return damaged("a member of a group has no valid name");
		member = sl_h5_member(h, group, name);
		s = member >= 0 ? write(h, member, name, n_bins, j)
		                : damaged("a member of a group cannot be opened");
		sl_h5_close(h, member);
		SL_TRY(s);
	}
	return SL_OK;
}

/* The cells of a grid, whose counts are not read. */
static uint64_t cells_of(struct sl_h5 *h, hid_t fate)
{
	hid_t data = sl_h5_member(h, fate, "count");
	hsize_t bytes = data >= 0 ? H5Dget_storage_size(data) : 0;

	sl_h5_close(h, data);
	return bytes / sizeof(uint64_t);
}

/*
 * The particles of a fate below, in and above the bins; of a grid, which has n_bins 0, the cells
 * instead of those in bins. Members that are no fates, edges and volumes, are skipped.
 */
static enum sl_status write_fate(
	struct sl_h5 *h, hid_t fate, const char *name, uint64_t n_bins, struct sl_json *j)
{
	uint64_t count[SL_GRID_LISTED_MAX], n = 0, inside = 0, under, over;

	if (strncmp(name, "edges", strlen("edges")) == 0 || strcmp(name, "volume") == 0)
		return SL_OK;
	if (n_bins == 0)
		inside = cells_of(h, fate);
	else if (!sl_h5_get_values(
			 h, fate, "count", H5T_STD_U64LE, SL_GRID_LISTED_MAX, count, &n) ||
		 n != n_bins)
		return damaged("the counts of a fate are missing or have the wrong size");
	if ((n_bins == 0 && inside == 0) || !sl_h5_get(h, fate, "under", H5T_STD_U64LE, &under) ||
		!sl_h5_get(h, fate, "over", H5T_STD_U64LE, &over))
		return damaged("the counts of a fate are missing or have the wrong size");
	for (uint64_t i = 0; i < n; i++)
		inside += count[i];
	sl_json_add(j, "{ fate %s below %lu %s %lu above %lu }", name, under,
		n_bins == 0 ? "cells" : "inside", inside, over);
	return SL_OK;
}

/*
 * Writes a member of the root group: a group with attributes, "edges" and a group per fate, or a
 * grid, whose name says which columns its axes have; a text on merged runs is skipped. Edges are in
 * the unit of the attribute; the counts are particles, also if the run has weights.
 */
static enum sl_status write_histogram(
	struct sl_h5 *h, hid_t group, const char *name, uint64_t unused, struct sl_json *j)
{
	char column[NAME_BYTES], unit[NAME_BYTES];
	double edge[SL_GRID_LISTED_MAX + 1];
	uint64_t particles, n = 0;
	bool grid = strchr(name, '(') != NULL;

	(void)unused;
	if (strcmp(name, SL_TALLIES_MERGED) == 0)
		return SL_OK;
	if (!sl_h5_get(h, group, "particles", H5T_STD_U64LE, &particles) ||
		(!grid && (!sl_h5_get_values(h, group, "edges", H5T_IEEE_F64LE,
				   SL_GRID_LISTED_MAX + 1, edge, &n) ||
				  n < 2 ||
				  !sl_h5_get_text(h, group, "column", column, sizeof(column)) ||
				  !sl_h5_get_text(h, group, "unit", unit, sizeof(unit)))))
		return damaged("edges, column, unit or particles of a histogram are missing");
	sl_json_add(j, "{ name %s", name);
	if (!grid)
		sl_json_add(j, "column %s bins %lu from %g to %g unit %s", column, n - 1, edge[0],
			edge[n - 1], unit);
	sl_json_add(j, "particles %lu fates [", particles);
	SL_TRY(each_member(h, group, write_fate, grid ? 0 : n - 1, j));
	sl_json_add(j, "] }");
	return SL_OK;
}

/* Writes the members of the root group as an array. */
static enum sl_status write_root(struct sl_h5 *h, hid_t root, void *json)
{
	struct sl_json *j = (struct sl_json *)json;
	enum sl_status s;

	sl_json_array(j, NULL);
	s = each_member(h, root, write_histogram, 0, j);
	sl_json_close(j);
	return j->used < j->size || s != SL_OK
	               ? s
	               : damaged("it has more histograms than any file of this program");
}

/* Writes a text of size bytes, 0 included. It runs in a child process. */
static enum sl_status write_file(const void *file, size_t bytes, void *text, size_t size)
{
	struct sl_json j = sl_json_start((char *)text, size, false);

	return sl_h5_read_root(file, bytes, write_root, &j);
}

/* HDF5 gets the file without its CRC trailer. */
static enum sl_status write_checked(const char *file, size_t bytes, struct sl_json *j)
{
	void *text;

	if (!sl_crc_trailer_is_valid(file, bytes))
		return damaged("the checksum at the end of the file is missing or wrong");
	SL_TRY(sl_h5_in_child(write_file, file, bytes - SL_CRC_TRAILER_BYTES, TEXT_BYTES, &text));
	((char *)text)[TEXT_BYTES - 1] = '\0'; /* a crafted file may have put any bytes there */
	sl_json_formatted(j, "histograms", (const char *)text);
	sl_h5_child_free(text, TEXT_BYTES);
	return SL_OK;
}

/* HDF5 reads the memory of the file in place, so the memory is freed after HDF5 has closed it. */
enum sl_status sl_info_histograms(const char *path, struct sl_json *j)
{
	SL_CLOSED_BY(sl_host_give) char *file = NULL;
	size_t bytes;

	SL_TRY(sl_path_read(path, SIZE_MAX, &file, &bytes));
	sl_json_u64(j, "bytes", bytes);
	return sl_add_context(write_checked(file, bytes, j), "%s", path);
}
