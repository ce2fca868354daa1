/*
 * info_histograms.c - reads NAME.tallies and prints each histogram with its sums per fate.
 *
 * The file is HDF5 with a CRC-32 in its last bytes; pipeline/report/tallies/histogram_file.c describes its
 * layout. Names, sizes and types are checked as they are read, because the file can be any file of
 * that name. HDF5 runs in a child process (hdf5_child.h), which prints to memory.
 */
#include "pipeline/info/info_histograms.h"

#include <string.h>

#include "pipeline/report/tallies/histogram_file.h"
#include "primitives/device/device.h"
#include "primitives/files/read.h"
#include "stages/formats/common/crc_trailer.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "stages/formats/hdf5/hdf5_inspect.h"
#include "stages/selection/histogram.h"

/* Of a name in the file; of the printed text, more than any file of this program needs. */
enum { NAME_BYTES = 128, TEXT_BYTES = 1 << 20 };

/* Every problem of the file ends here: there is no way to print a part of it that could be trusted. */
static enum sl_status damaged(const char *problem)
{
	return sl_fail(SL_BAD_INPUT,
		"%s; the file is damaged or was not written by sluice; use sluice run --resume to "
		"write it again",
		problem);
}

/* Prints a member of a group; the group is that of a histogram of n_bins bins, or the root. */
typedef enum sl_status member_printer(
	struct sl_h5 *h, hid_t member, const char *name, uint64_t n_bins, FILE *out);

/* Calls print for each member of a group, in the order of their names. */
static enum sl_status each_member(
	struct sl_h5 *h, hid_t group, member_printer *print, uint64_t n_bins, FILE *out)
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
		s = member >= 0 ? print(h, member, name, n_bins, out)
		                : damaged("a member of a group cannot be opened");
		sl_h5_close(h, member);
		SL_TRY(s);
	}
	return SL_OK;
}

/*
 * Prints a line with the particles of a fate below, in and above the bins. The members "edges" and
 * "volume", which are datasets and no fates, are skipped.
 */
static enum sl_status print_fate(
	struct sl_h5 *h, hid_t fate, const char *name, uint64_t n_bins, FILE *out)
{
	uint64_t count[SL_HISTOGRAM_MOST], n = 0, inside = 0, under, over;

	if (strcmp(name, "edges") == 0 || strcmp(name, "volume") == 0)
		return SL_OK;
	if (!sl_h5_get_values(h, fate, "count", H5T_STD_U64LE, SL_HISTOGRAM_MOST, count, &n) ||
		n != n_bins || !sl_h5_get(h, fate, "under", H5T_STD_U64LE, &under) ||
		!sl_h5_get(h, fate, "over", H5T_STD_U64LE, &over))
		return damaged("the counts of a fate are missing or have the wrong size");
	for (uint64_t i = 0; i < n; i++)
		inside += count[i];
	fprintf(out, "  %-14s %14llu %14llu %14llu\n", name, (unsigned long long)under,
		(unsigned long long)inside, (unsigned long long)over);
	return SL_OK;
}

/* Prints the particles of a fate outside of a grid, and the number of cells. */
static enum sl_status print_cells(
	struct sl_h5 *h, hid_t fate, const char *name, uint64_t unused, FILE *out)
{
	uint64_t under, over;
	hid_t data;
	int64_t cells;

	(void)unused;
	if (strncmp(name, "edges_", strlen("edges_")) == 0 || strcmp(name, "volume") == 0)
		return SL_OK;
	data = sl_h5_member(h, fate, "count");
	cells = data >= 0 ? (int64_t)H5Dget_storage_size(data) / (int64_t)sizeof(uint64_t) : 0;
	sl_h5_close(h, data);
	if (cells == 0 || !sl_h5_get(h, fate, "under", H5T_STD_U64LE, &under) ||
		!sl_h5_get(h, fate, "over", H5T_STD_U64LE, &over))
		return damaged("the counts of a fate are missing or have the wrong size");
	fprintf(out, "  %-14s %14llu %14lld %14llu\n", name, (unsigned long long)under,
		(long long)cells, (unsigned long long)over);
	return SL_OK;
}

/* Prints a grid: its name says which columns its axes have. */
static enum sl_status print_grid(struct sl_h5 *h, hid_t group, const char *name, FILE *out)
{
	uint64_t particles;

	if (!sl_h5_get(h, group, "particles", H5T_STD_U64LE, &particles))
		return damaged("the particles of a grid are missing");
	fprintf(out, "%s: grid, %llu particles\n", name, (unsigned long long)particles);
	fprintf(out, "  %-14s %14s %14s %14s\n", "fate", "below", "cells", "above");
	return each_member(h, group, print_cells, 0, out);
}

/*
 * Prints a member of the root group: a group with attributes, "edges" and a group per fate; a text on
 * merged runs is skipped. Edges are in
 * the unit of the attribute; the counts are particles, also if the run has weights.
 */
static enum sl_status print_histogram(
	struct sl_h5 *h, hid_t group, const char *name, uint64_t unused, FILE *out)
{
	char column[NAME_BYTES], unit[NAME_BYTES];
	double edge[SL_HISTOGRAM_MOST + 1];
	uint64_t particles, n = 0;

	(void)unused;
	if (strcmp(name, SL_HISTOGRAMS_MERGED) == 0)
		return SL_OK;
	if (strchr(name, '('))
		return print_grid(h, group, name, out);
	if (!sl_h5_get_values(h, group, "edges", H5T_IEEE_F64LE, SL_HISTOGRAM_MOST + 1, edge, &n) ||
		n < 2 || !sl_h5_get_text(h, group, "column", column, sizeof(column)) ||
		!sl_h5_get_text(h, group, "unit", unit, sizeof(unit)) ||
		!sl_h5_get(h, group, "particles", H5T_STD_U64LE, &particles))
		return damaged("edges, column, unit or particles of a histogram are missing");
	fprintf(out, "%s: column %s, %llu bins from %.6g to %.6g%s%s, %llu particles\n", name,
		column, (unsigned long long)n - 1, edge[0], edge[n - 1], unit[0] ? " " : "", unit,
		(unsigned long long)particles);
	fprintf(out, "  %-14s %14s %14s %14s\n", "fate", "below", "in bins", "above");
	return each_member(h, group, print_fate, n - 1, out);
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
	s = each_member(&h, root, print_histogram, 0, out);
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

/* HDF5 reads the memory of the file in place, so the memory is freed after HDF5 has closed it. */
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
