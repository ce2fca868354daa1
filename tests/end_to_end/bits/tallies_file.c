/* tallies_file.c - the HDF5 file of histograms and grids has the numbers of run.json, and the edges of the configuration. */
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>

#include "pipeline/text/yaml.h"
#include "stages/formats/formats.h"
#include "tests/support/runs/reference_run.h"

enum { CELLS_MOST = 240 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 6010, batch: 2100}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, n: 1.4, thickness: 0.5 cm,\n"
	"  absorption: implicit}}\n"
	"keep: [transmitted, reflected]\n"
	"tallies:\n"
	"  - z:8:0 cm..2.5 mm:transmitted+reflected\n"
	"  - [r:20:1 um..1 m:log, time:0 ps..10 ps..20 ps..1 ns, steps:4:0..64, reflected]\n";

/* Reads all values of a dataset, whose number is known. */
static void read_data(hid_t file, const char *path, size_t n, double values[CELLS_MOST])
{
	hid_t data = H5Dopen2(file, path, H5P_DEFAULT), space;

	if (data < 0)
		fail_msg("%s is missing", path);
	space = H5Dget_space(data);
	assert_int_equal(H5Sget_simple_extent_npoints(space), n);
	assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Sclose(space);
	H5Dclose(data);
}

/* A list of the row `reflected` of the first histogram or grid in run.json. */
static sl_node list_of(const struct sl_yaml *tree, const char *kind, const char *key)
{
	sl_node all = sl_yaml_get(tree, sl_yaml_root(tree), "tallies");
	sl_node first = sl_yaml_item(tree, sl_yaml_get(tree, all, kind), 0, NULL);
	sl_node row = sl_yaml_get(tree, sl_yaml_get(tree, first, "fates"), "reflected");

	return sl_yaml_get(tree, row, key);
}

TEST(numbers_are_those_of_run_json)
{
	static const struct {
		const char *path, *kind, *key;
	} rows[] = {{"/z/reflected/count", "histograms", "counts"},
		{"/z/reflected/weight", "histograms", "weights"},
		{"/z/reflected/mean", "histograms", "mean_over_batches"},
		{"/z/reflected/standard_error", "histograms", "standard_error_over_batches"},
		{"/(r,time,steps)/reflected/count", "grids", "counts"},
		{"/(r,time,steps)/reflected/weight", "grids", "weights"},
		{"/(r,time,steps)/reflected/weight_squared", "grids", "weights_squared"},
		{"/(r,time,steps)/reflected/mean", "grids", "mean_over_batches"},
		{"/(r,time,steps)/reflected/standard_error", "grids",
			"standard_error_over_batches"}};
	hid_t file = H5Fopen(folder_path(&folder, "whole/t.tallies"), H5F_ACC_RDONLY, H5P_DEFAULT);
	struct sl_yaml *tree = report_of(&folder, "whole");

	assert_true(file >= 0);
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		sl_node list = list_of(tree, rows[k].kind, rows[k].key);
		size_t n = sl_yaml_size(tree, list);
		double value[CELLS_MOST], sum = 0;

		assert_int_equal(n, rows[k].path[1] == 'z' ? 8 : CELLS_MOST);
		read_data(file, rows[k].path, n, value);
		for (size_t i = 0; i < n; i++) {
			const char *digits =
				sl_yaml_text(tree, sl_yaml_item(tree, list, i, NULL), NULL);

			if (value[i] != strtod(digits, NULL))
				fail_msg("%s, cell %zu: %.17g and not %s", rows[k].path, i,
					value[i], digits);
			sum += value[i];
		}
		assert_true(sum > 0);
	}
	sl_yaml_free(tree);
	H5Fclose(file);
}

TEST(edges_are_those_of_the_configuration)
{
	static const double times[] = {0, 0.01, 0.02, 1}; /* ns */
	hid_t file = H5Fopen(folder_path(&folder, "whole/t.tallies"), H5F_ACC_RDONLY, H5P_DEFAULT);
	double edge[CELLS_MOST];

	assert_true(file >= 0);
	read_data(file, "/z/edges", 9, edge);
	for (int k = 0; k < 9; k++)
		assert_true(edge[k] == k * 0.25 / 8);
	read_data(file, "/(r,time,steps)/edges_time", 4, edge);
	for (int k = 0; k < 4; k++)
		assert_true(fabs(edge[k] - times[k]) < 1e-15);
	read_data(file, "/(r,time,steps)/edges_r", 21, edge);
	assert_true(fabs(edge[0] - 1e-4) < 1e-12); /* cm */
	for (int k = 0; k < 20; k++)
		assert_true(fabs(edge[k + 1] / edge[k] - pow(1e6, 0.05)) < 1e-9);
	H5Fclose(file);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(text);
}
