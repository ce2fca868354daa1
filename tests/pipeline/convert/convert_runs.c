/*
 * convert_runs.c - runs of one configuration with different seeds are merged in every format: seeds,
 * counts and histograms are kept and added, and ids stay unique.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/results/survivor_file.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/program/commands_check.h"
#include "tests/support/program/convert_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static const char text[] =
	"run: {name: t, seed: 7, particles: 9000, batch: 4000, threads: 2}\n"
	"model:\n"
	"  source_detector:\n"
	"    source:   {type: disk, radius: 0.4 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 6 cm}\n"
	"    energy:   {type: lines, lines: [26.3 keV, 59.5 keV], intensities: [2.4, 35.9]}\n"
	"keep: hit\n"
	"tallies: [energy:10:0 keV..60 keV]\n";

static const char *const formats[] = {"openpmd", "npz", "csv", "mcpl", "mcpl.gz"};
enum { TABLES = 3, FORMATS = sizeof(formats) / sizeof(*formats) };

/* Runs c.yaml with a seed and number of particles to a directory, in a format. */
static void run_to(const char *out, const char *format, const char *seed, const char *particles)
{
	char sets[3][64];

	snprintf(sets[0], sizeof(sets[0]), "output.format=%s", format);
	snprintf(sets[1], sizeof(sets[1]), "run.seed=%s", seed);
	snprintf(sets[2], sizeof(sets[2]), "run.particles=%s", particles);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--out", out, "--set", sets[0],
			"--set", sets[1], "--set", sets[2]));
}

/* Two runs in each format: a-FORMAT with seed 7, and b-FORMAT with seed 8 and fewer particles. */
BEFORE_TESTS()
{
	write_text(&folder, "c.yaml", text);
	for (int i = 0; i < FORMATS; i++) {
		char a[32], b[32];

		snprintf(a, sizeof(a), "a-%s", formats[i]);
		snprintf(b, sizeof(b), "b-%s", formats[i]);
		run_to(a, formats[i], "7", "9000");
		run_to(b, formats[i], "8", "5000");
	}
}

/* The file to which the runs in a format are merged, valid until the next call. */
static const char *merge(const char *from, const char *suffix)
{
	static char to[64];
	char a[32], b[32];

	snprintf(a, sizeof(a), "a-%s", from);
	snprintf(b, sizeof(b), "b-%s", from);
	snprintf(to, sizeof(to), "merged-%s%s", from, suffix);
	expect_output("merged: 2 runs of one simulation\n",
		WORDS("convert", a, b, "--to", to, "--force"));
	return to;
}

/* Expects the seeds, and the counts of the manifests of both runs and their sums, in a text. */
static void expect_counts(const char *bytes, size_t n)
{
	struct sl_manifest m[2];
	char expected[160];
	uint64_t hits[2] = {0};

	read_manifest(&folder, "a-npz", &m[0]);
	read_manifest(&folder, "b-npz", &m[1]);
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < m[k].n; i++)
			hits[k] += m[k].line[i].tally.count[SL_FATE_hit];
		sl_manifest_free(&m[k]);
	}
	snprintf(expected, sizeof(expected),
		"{\"runs\":[{\"run\":\"t\",\"seed\":7,\"first_id\":0,\"generated\":9000,"
		"\"survivors\":%d,\"fates\":{\"hit\":%d,",
		(int)hits[0], (int)hits[0]);
	expect_in(bytes, n, expected);
	snprintf(expected, sizeof(expected),
		"{\"run\":\"t\",\"seed\":8,\"first_id\":9000,\"generated\":5000,\"survivors\":%d,",
		(int)hits[1]);
	expect_in(bytes, n, expected);
	snprintf(expected, sizeof(expected),
		"],\"generated\":14000,\"survivors\":%d,\"fates\":{\"hit\":%d,",
		(int)(hits[0] + hits[1]), (int)(hits[0] + hits[1]));
	expect_in(bytes, n, expected);
}

/* Every format is merged to every format; those that have metadata have the seeds and counts. */
TEST(seeds_and_counts_are_kept_and_added)
{
	static const char *const suffixes[] = {".h5", ".npz", ".mcpl", ".mcpl.gz"};

	for (int from = 0; from < FORMATS; from++)
		for (int to = 0; to < 4; to++) {
			size_t n;
			char *bytes = inflated(merge(formats[from], suffixes[to]), &n);

			expect_counts(bytes, n);
			free(bytes);
		}
}

/* MCPL from tables and from lists is the same, and its sums are those of both runs. */
TEST(lists_are_merged)
{
	struct sl_mcpl_header h[2];

	expect_same_inflated(merge("mcpl", ".mcpl"), merge("mcpl", ".mcpl.gz"));
	for (int k = 0; k < 2; k++)
		free(particles_of(&folder, merge(k ? "npz" : "mcpl", ".mcpl"), &h[k]));
	assert_int_equal(h[0].particles, h[1].particles);
	expect_output("stat:sum:sluice_generated:                   14000\n",
		WORDS("info", "merged-mcpl.mcpl"));
	/* the result is a valid input */
	write_list_config(&folder, "merged-mcpl.mcpl", "", "listed", "output: {format: mcpl}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "again", "--quiet"));
	expect_output("Survivors of merged runs {", WORDS("info", "again/t_000000.mcpl"));
	write_text(&folder, "c.yaml", text);
}

/* The ids of the second run are 9000 or more; without the shift they are those of its files. */
TEST(ids_stay_unique)
{
	struct sl_survivors all, alone;
	const uint64_t *id, *of_run;
	uint32_t first;

	for (int from = 0; from < TABLES; from++) {
		char name[64];

		assert_ok(sl_survivors_read_path(
			folder_path(&folder, merge(formats[from], ".npz")), &all));
		snprintf(name, sizeof(name), "b-%s", formats[from]);
		expect(&folder, SL_OK, "",
			WORDS("convert", name, "--to", "alone.npz", "--force", "--quiet"));
		assert_ok(sl_survivors_read_path(folder_path(&folder, "alone.npz"), &alone));
		id = (const uint64_t *)sl_table_find(&all.table, SL_COLUMN_id)->data;
		of_run = (const uint64_t *)sl_table_find(&alone.table, SL_COLUMN_id)->data;
		first = all.table.n - alone.table.n;
		for (uint32_t i = 0; i < all.table.n; i++) {
			assert_true(i < first ? id[i] < 9000 : id[i] == 9000 + of_run[i - first]);
			assert_true(i == 0 || id[i] > id[i - 1]);
		}
		sl_survivors_free(&all);
		sl_survivors_free(&alone);
	}
}

/* The histograms of one run are the file of the run; those of two runs have the sums of both. */
TEST(histograms_are_added)
{
	static const char name[] = "energy: column energy, 10 bins from 0 to 60 keV, ";
	char *one, *other, *both;
	int in[3];

	expect(&folder, SL_OK, "", WORDS("convert", "a-openpmd", "--to", "one.tallies", "--quiet"));
	expect_same_inflated("one.tallies", "a-openpmd/t.tallies");
	expect(&folder, SL_OK, "", WORDS("convert", "b-npz", "--to", "other.tallies", "--quiet"));
	merge("mcpl", ".tallies");
	one = output_of(&folder, WORDS("info", "one.tallies"));
	other = output_of(&folder, WORDS("info", "other.tallies"));
	both = output_of(&folder, WORDS("info", "merged-mcpl.tallies"));
	assert_non_null(strstr(one, name));
	assert_non_null(strstr(strstr(both, name), " 14000 particles\n"));
	assert_int_equal(sscanf(strstr(one, "  hit "), "  hit 0 %d 0", &in[0]), 1);
	assert_int_equal(sscanf(strstr(other, "  hit "), "  hit 0 %d 0", &in[1]), 1);
	assert_int_equal(sscanf(strstr(both, "  hit "), "  hit 0 %d 0", &in[2]), 1);
	assert_int_equal(in[2], in[0] + in[1]);
	assert_true(in[0] > 0 && in[1] > 0);
	free(one);
	free(other);
	free(both);
}

/* Runs of different models are joined as before, or refused; the same seed is reported. */
TEST(different_runs_are_not_merged)
{
	char *out;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--out", "other", "--set",
			"model.source_detector.detector.distance=5 cm"));
	out = output_of(&folder, WORDS("convert", "a-openpmd", "other", "--to", "x.npz"));
	assert_non_null(strstr(out, "different: the runs in a-openpmd/ and other/ are not of one"));
	assert_non_null(strstr(out, "unknown: the run, its seed"));
	free(out);
	expect(&folder, SL_USAGE, "are not runs of one simulation",
		WORDS("convert", "a-openpmd", "other", "--to", "x.tallies"));
	expect(&folder, SL_USAGE, "is a file, but histograms are those of whole runs",
		WORDS("convert", "a-npz/t_000000.npz", "--to", "x.tallies"));
	expect(&folder, SL_USAGE, "has no effect",
		WORDS("convert", "a-npz", "--to", "x.tallies", "--set", "output.mcpl.pdg=11"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--out", "plain", "--set",
			"tallies=[]"));
	expect(&folder, SL_USAGE, "has no histograms",
		WORDS("convert", "plain", "--to", "x.tallies"));
	assert_false(folder_has(&folder, "x.tallies"));
	run_to("same", "npz", "7", "2000");
	expect_output("repeated: the runs in a-npz/ and same/ have the same seed",
		WORDS("convert", "a-npz", "same", "--to", "y.npz"));
}
