/*
 * derived.c - runs whose keep, key, tallies and files use derived columns: equal files from all levels of
 * the processor, devices, modes and schedules, after a resume, and after --print-config; files of
 * each format are verified and converted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "primitives/files/crc32.h"
#include "tests/support/runs/reference_run.h"

static const char text[] =
	"run: {name: t, seed: 7, particles: 3000, batch: 1000, threads: 2}\n"
	"model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.3 cm}}\n"
	"columns:\n"
	"  half: hypot(x - 1 mm, y) / 2\n"
	"  lost: pow(exp(-time / (10 ps)), log(2))\n"
	"  phi: atan2(y, x)\n"
	"keep: transmitted and theta < 60 deg and half < r\n"
	"key: [rho:16:0 cm..1 cm, -lost:float, phi_log:8]\n"
	"tallies: [half:8:0 mm..2 mm, lost:4:0..1:absorbed, theta:6:0 deg..90 deg]\n"
	"output: {columns: [id, r, rho, phi, u, v, x, y, lost, half], format: csv}\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

/* Runs c.yaml with a setting, and compares its files with those of the reference. */
static void expect_same(const char *level, const char *device, const char *set)
{
	const char *const env[] = {level, NULL};
	struct ending e;

	call(&folder, level ? env : NULL,
		WORDS("run", "c.yaml", "--device", device, "--out", "out", "--quiet", "--set", set),
		&e);
	expect_ending(&e, SL_OK, "", WORDS("run"));
	if (hash_run(&folder, "out") != reference_hash)
		fail_msg("%s, %s: other files", device, set);
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

TEST(files_are_equal_everywhere)
{
	expect_same("SL_LEVEL=baseline", "cpu", "run.threads=1");
	expect_same(NULL, "cpu", "run.threads=3");
	expect_same(NULL, "cpu",
		"transport={schedule: rounds, compact: every, sort: every 2, key: [z:8]}");
	expect_same(NULL, "emulated", "run.mode=staged");
	expect_same(NULL, "emulated", "run.mode=fused");
	expect_same(NULL, "emulated",
		"transport={schedule: rounds, steps_per_launch: 2, compact: every}");
}

/* Survivors meet the condition, and the derived columns are those of their columns. */
TEST(files_have_the_values)
{
	FILE *f = fopen(folder_path(&folder, "whole/t_000000.csv"), "r");
	char line[512];
	int n = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		double x, y, u, v, r, rho, phi, lost, half, id;

		if (n < 0)
			assert_string_equal(line, "id,x,y,u,v,r,rho,phi,lost,half\n");
		n++;
		if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &id, &x, &y, &u, &v, &r,
			    &rho, &phi, &lost, &half) != 10)
			continue;
		assert_true(fabs(half - hypot(x - 0.1, y) / 2) < 1e-7 && half < r);
		assert_true(lost > 0 && lost < 1);
		assert_true(u * u + v * v < 0.75 + 1e-6);
		assert_true(r > 0 && rho > 0.3 && fabs(rho * rho - r * r - 0.09) < 1e-6);
		assert_true(fabs(phi) <= 3.1415928);
	}
	fclose(f);
	assert_true(n > 100);
}

TEST(run_is_resumed)
{
	copy_run(&folder, "whole", "out");
	keep_batches(&folder, "out", 1);
	reference_run_resume();
}

/* Another definition is another run. */
TEST(other_definitions_are_refused_by_resume)
{
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run of another configuration (\"columns: ",
		WORDS("run", "c.yaml", "--out", "whole", "--resume", "--set",
			"columns={half: r, lost: exp(w), phi: atan2(y, 2*x)}"));
}

TEST(printed_configuration_reads_back)
{
	char *printed = output_of(&folder, WORDS("run", "c.yaml", "--print-config")), *again;

	write_text(&folder, "printed.yaml", printed);
	again = output_of(&folder, WORDS("run", "printed.yaml", "--print-config"));
	assert_string_equal(again, printed);
	assert_non_null(strstr(printed, "columns: {half: \"hypot(x - 1 mm, y) / 2\", lost: \""));
	free(printed);
	free(again);
}

/* The names of the configuration are in the plan and in the reports. */
TEST(names_are_reported)
{
	char *plan = output_of(&folder, WORDS("plan", "c.yaml"));
	char *help = output_of(&folder, WORDS("help", "columns"));
	struct sl_yaml *report = report_of(&folder, "whole");
	sl_node tallies = sl_yaml_get(report, sl_yaml_root(report), "tallies");
	sl_node first = sl_yaml_item(report, sl_yaml_get(report, tallies, "histograms"), 0, NULL);

	assert_string_equal(
		sl_yaml_text(report, sl_yaml_get(report, first, "column"), NULL), "half");
	assert_string_equal(sl_yaml_text(report, sl_yaml_get(report, first, "unit"), NULL), "cm");
	sl_yaml_free(report);
	assert_non_null(strstr(plan, "key         rho:16, -lost:float, phi_log:8 (56 bits)"));
	assert_non_null(strstr(plan, "tallies     half:8, lost:4, theta:6"));
	assert_non_null(strstr(help, "hypot(x - 1 cm, y)"));
	free(plan);
	free(help);
}

/* Expects the line of a column in what `info` prints: with its unit, if the format records units. */
static void expect_column(const char *info, const char *name, const char *unit)
{
	char start[64];

	snprintf(start, sizeof(start), "\n%-12s f32  %-4s ", name, unit);
	if (!strstr(info, start))
		fail_msg("'%s' is not in: %s", start + 1, info);
}

/* Files of each format with derived columns are verified, shown and converted to others. */
TEST(files_of_each_format_are_read)
{
	static const char *const formats[] = {"openpmd", "npz", "csv", "csv.gz"};
	static const char *const names[] = {
		"out/t_000001.h5", "out/t_000001.npz", "out/t_000001.csv", "out/t_000001.csv.gz"};
	char *first = NULL;

	for (int i = 0; i < 4; i++) {
		char set[64], *info;

		snprintf(set, sizeof(set), "output.format=%s", formats[i]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		info = output_of(&folder, WORDS("info", names[i], "--head", "3"));
		assert_non_null(strstr(info, "rho"));
		expect_column(info, "half", i < 2 ? "cm" : "");
		expect_column(info, "lost", "");
		free(info);
		info = output_of(&folder, WORDS("info", "out"));
		expect_column(info, "half", i < 2 ? "cm" : "");
		free(info);
		expect(&folder, SL_OK, "",
			WORDS("convert", "out", "--to", "all.h5", "--force", "--quiet"));
		expect(&folder, SL_OK, "",
			WORDS("convert", "all.h5", "--to", "all.npz", "--force", "--quiet"));
		info = output_of(&folder, WORDS("info", "all.npz"));
		expect_column(info, "half", i < 2 ? "cm" : "");
		expect_column(info, "lost", "");
		free(info);
		expect(&folder, SL_OK, "",
			WORDS("convert", names[i], "--to", "all.csv", "--force", "--quiet"));
		info = output_of(&folder, WORDS("info", "all.csv", "--head", "20"));
		if (first)
			assert_string_equal(strstr(info, "rho"), strstr(first, "rho"));
		free(first);
		first = info;
		remove_run(&folder, "out");
	}
	free(first);
}

/* A file of columns with other names is not joined with the first one, and a changed name is found. */
TEST(other_names_are_refused)
{
	char *line;
	size_t bytes;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set",
			"columns={half: r, more: exp(w), phi: atan2(y, x)}", "--set",
			"output.columns=[id, r, rho, phi, u, v, x, y, more, half]", "--set",
			"keep=transmitted", "--set", "key=[]", "--set", "tallies=[]"));
	expect(&folder, SL_BAD_INPUT,
		"out/t_000000.csv: the file has a column more (), and the first file a column lost ()",
		WORDS("convert", "whole/t_000000.csv", "out/t_000000.csv", "--to", "no.npz"));
	assert_false(folder_has(&folder, "no.npz"));
	remove_run(&folder, "out");
	copy_run(&folder, "whole", "out");
	line = folder_read(&folder, "out/t_000000.csv", &bytes);
	memcpy(strstr(line, "half"), "hulf", 4);
	folder_write(&folder, "out/t_000000.csv", line, bytes);
	expect(&folder, SL_CHECK_FAILED, "t_000000.csv", WORDS("verify", "out", "--quiet"));
	free(line);
	remove_run(&folder, "out");
}

/* A checksum of the survivors in the files of `out`. */
static uint64_t hash_survivors(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++) {
		char name[64], *file;
		size_t bytes;

		snprintf(name, sizeof(name), "out/t_00000%d.csv", i);
		file = folder_read(&folder, name, &bytes);
		assert_true(bytes > 1000);
		sum = sum << 16 ^ sl_crc32(file, bytes);
		free(file);
	}
	return sum;
}

/* A function in keep is a derived column without a name: the survivors are those of a named one. */
TEST(functions_are_called_in_keep)
{
	static const char *const set[] = {
		"keep=transmitted and atan2(hypot(u, v), w) < 60 deg and hypot(x - 1 mm, y)/2 < "
		"hypot(x, y) and hypot(x - 1 mm, y) < 2 mm",
		"keep=transmitted and theta < 60 deg and half < r and half < 1 mm"};
	static const char *const devices[] = {"cpu", "emulated"};
	uint64_t hash = 0;

	for (int i = 0; i < 3; i++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set[i == 2],
				"--set", "tallies=[]", "--set",
				"columns={half: \"hypot(x - 1 mm, y) / 2\"}", "--set",
				"key=[half:float]", "--set", "output.columns=[id, half, u, v, x]",
				"--device", devices[i % 2]));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		if (i == 0)
			hash = hash_survivors();
		assert_int_equal(hash_survivors(), hash);
		remove_run(&folder, "out");
	}
}

/* The joined file of the run has the columns too. */
TEST(joined_files_have_the_columns)
{
	static const char *const formats[] = {"openpmd", "npz", "csv.gz"}, *const names[] = {
										   "out/t.h5",
										   "out/t.npz",
										   "out/t.csv.gz"};

	for (int i = 0; i < 3; i++) {
		char set[64], *info;

		snprintf(set, sizeof(set), "output.format=%s", formats[i]);
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", set, "--set",
				"output.order=run"));
		expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
		info = output_of(&folder, WORDS("info", names[i]));
		expect_column(info, "half", i < 2 ? "cm" : "");
		free(info);
		remove_run(&folder, "out");
	}
}

/* The history of a survivor ends with the key of its row. */
TEST(particle_is_replayed)
{
	char *replay = output_of(&folder, WORDS("replay", "c.yaml", "--id", "3"));

	assert_non_null(strstr(replay, "\nfate "));
	free(replay);
}
