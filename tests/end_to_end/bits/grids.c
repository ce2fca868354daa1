/*
 * grids.c - grids of whole runs: equal bytes on the CPU and the emulated device, in both modes and with
 * any number of threads; rows compared with histograms; the datasets of NAME.tallies.
 */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/runs/reference_run.h"
#include "stages/formats/formats.h"

enum { BATCHES = 3, BINS_W = 16, BINS_Z = 8 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 2100}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm,\n"
	"  absorption: implicit}}\n"
	"keep: [transmitted, reflected]\n"
	"key: [w:16]\n"
	"tallies:\n"
	"  - w:16\n"
	"  - [w:16, z:8:0 cm..0.5 cm]\n"
	"  - [r:20:1 um..1 m:log, time:0 ps..10 ps..20 ps..1 ns, steps:4:0..64, reflected]\n";

/* The counters of batch k of a run, as bytes that the caller frees. */
static char *counters(const char *out, int k, size_t *bytes)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/t_%06d.bins", out, k);
	return folder_read(&folder, name, bytes);
}

/* Compares the counters of a run in "out" with those of the undisturbed run, and removes it. */
static void expect_equal_counters(void)
{
	for (int k = 0; k < BATCHES; k++) {
		size_t bytes, expected;
		char *is = counters("out", k, &bytes), *should = counters("whole", k, &expected);

		assert_int_equal(bytes, expected);
		assert_memory_equal(is, should, bytes);
		free(is);
		free(should);
	}
	remove_run(&folder, "out");
}

TEST(all_devices_and_modes_give_the_same_bits)
{
	static const char *const sets[][2] = {{"run.device=cpu", "run.threads=3"},
		{"run.device=emulated", "run.mode=staged"},
		{"run.device=emulated", "run.mode=fused"},
		{"run.device=emulated", "transport.schedule=rounds"}};

	for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", sets[k][0],
				"--set", sets[k][1]));
		expect_equal_counters();
	}
}

/* --- NAME.tallies ----------------------------------------------------------------------------- */

/* Reads a dataset of the file of tallies into values, and checks its size. */
static void read_data(
	hid_t file, const char *path, hid_t type, int rank, const hsize_t *size, void *values)
{
	hid_t data = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(data);
	hsize_t found[4] = {0};

	if (data < 0)
		fail_msg("%s is missing", path);
	assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
	H5Sget_simple_extent_dims(space, found, NULL);
	assert_memory_equal(found, size, (size_t)rank * sizeof(*size));
	assert_true(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Sclose(space);
	H5Dclose(data);
}

/* The sums over z of the grid (w,z) are the histogram of w. */
TEST(sums_over_an_axis_are_the_histogram)
{
	static const hsize_t size[] = {BINS_W, BINS_Z};
	static const char *const quantity[] = {"count", "weight", "mean"};
	char name[64], path[512];
	double grid[BINS_W][BINS_Z], row[BINS_W];
	hid_t file;

	snprintf(path, sizeof(path), "%s", folder_path(&folder, "whole/t.tallies"));
	file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	assert_true(file >= 0);
	for (int q = 0; q < 3; q++) {
		double all = 0;

		snprintf(name, sizeof(name), "/(w,z)/reflected/%s", quantity[q]);
		read_data(file, name, H5T_NATIVE_DOUBLE, 2, size, grid);
		snprintf(name, sizeof(name), "/w/reflected/%s", quantity[q]);
		read_data(file, name, H5T_NATIVE_DOUBLE, 1, size, row);
		for (int i = 0; i < BINS_W; i++) {
			for (int k = 0; k < BINS_Z; k++)
				row[i] -= grid[i][k];
			assert_true(fabs(row[i]) < 1e-9);
			all += grid[i][0]; /* reflected particles end at z = 0 */
		}
		assert_true(all > 0);
	}
	H5Fclose(file);
}

TEST(edges_and_squares_are_written)
{
	static const hsize_t times = 4, radii = 21, size[] = {20, 3, 4};
	static double edge[21], weight[240], square[240], count[240];
	hid_t file = H5Fopen(folder_path(&folder, "whole/t.tallies"), H5F_ACC_RDONLY, H5P_DEFAULT);
	double sum = 0;

	assert_true(file >= 0);
	read_data(file, "/(r,time,steps)/edges_time", H5T_NATIVE_DOUBLE, 1, &times, edge);
	assert_true(fabs(edge[0]) < 1e-15 && fabs(edge[1] - 0.01) < 1e-15 &&
		    fabs(edge[2] - 0.02) < 1e-15 && fabs(edge[3] - 1) < 1e-15);
	read_data(file, "/(r,time,steps)/edges_r", H5T_NATIVE_DOUBLE, 1, &radii, edge);
	for (int k = 0; k < 20; k++)
		assert_true(fabs(edge[k + 1] / edge[k] - pow(1e6, 0.05)) < 1e-9);
	read_data(file, "/(r,time,steps)/reflected/weight", H5T_NATIVE_DOUBLE, 3, size, weight);
	read_data(file, "/(r,time,steps)/reflected/weight_squared", H5T_NATIVE_DOUBLE, 3, size,
		square);
	read_data(file, "/(r,time,steps)/reflected/count", H5T_NATIVE_DOUBLE, 3, size, count);
	for (int k = 0; k < 240; k++) {
		/* weights are at most 1; the sum of squares is least if all are equal */
		assert_true(square[k] <= weight[k] + 1e-9);
		assert_true(square[k] * count[k] >= weight[k] * weight[k] * (1 - 1e-6));
		sum += count[k];
	}
	assert_true(sum > 100);
	H5Fclose(file);
}

/* Checks that info on the file of tallies of "out" prints a line. */
static void expect_info(const char *line)
{
	char *printed = output_of(&folder, WORDS("info", "out/t.tallies"));

	if (!strstr(printed, line))
		fail_msg("info prints\n%s and not %s", printed, line);
	free(printed);
}

/* The text of run.json after a key, up to the end of its line or list. */
static char *member(const char *out, const char *key)
{
	char name[64], *all, *from, *cut;
	size_t bytes;

	snprintf(name, sizeof(name), "%s/run.json", out);
	all = folder_read(&folder, name, &bytes);
	from = strstr(all, "\"(w,z)\"");
	assert_non_null(from);
	from = strstr(from, key);
	assert_non_null(from);
	cut = strndup(from, strcspn(from, "]"));
	free(all);
	return cut;
}

TEST(batch_size_does_not_change_counts)
{
	char *is, *should = member("whole", "\"counts\"");

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "run.batch=777"));
	is = member("out", "\"counts\"");
	assert_string_equal(is, should);
	free(is);
	free(should);
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	expect_info("(r,time,steps): grid, 6010 particles");
	remove_run(&folder, "out");
}

/* Runs in other formats have the file too, as grids can be too large for run.json. */
TEST(every_format_has_the_file)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", "output.format=npz"));
	expect_info("(w,z): grid, 6010 particles");
	expect(&folder, SL_OK, "", WORDS("verify", "out"));
	remove_run(&folder, "out");
}

TEST(damaged_counters_are_found)
{
	size_t bytes;
	char *file;

	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet"));
	file = counters("out", 1, &bytes);
	file[bytes - 1] ^= 1;
	folder_write(&folder, "out/t_000001.bins", file, bytes);
	free(file);
	expect(&folder, SL_CHECK_FAILED, "size or checksum", WORDS("verify", "out"));
	reference_run_resume();
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(text);
}
