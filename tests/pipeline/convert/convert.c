/*
 * convert.c - sluice convert of runs: one file of each format, the joined file of a run, and
 * refused conversions.
 *
 * Output is checked by independent means: zlib inflates gzip data, and csv.gz text is concatenated
 * line by line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "stages/formats/formats.h"
#include "tests/support/program/convert_check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static const char text[] =
	"run: {name: t, seed: 7, particles: 9000, batch: 4000, threads: 2}\n"
	"model:\n"
	"  source_detector:\n"
	"    source:   {type: disk, radius: 0.4 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 6 cm, pixels: [8, 8]}\n"
	"    energy:   {type: lines, lines: [26.3 keV, 59.5 keV], intensities: [2.4, 35.9]}\n"
	"keep: hit\n"
	"key: [pixel:6]\n";

static const char slab[] = "run: {name: s, seed: 7, particles: 5000, batch: 3000}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n";

enum { BATCHES = 3 };

static const char *const formats[] = {"openpmd", "npz", "csv.gz", "csv", "mcpl", "mcpl.gz"};
enum { TABLES = 4, FORMATS = sizeof(formats) / sizeof(*formats) };

/*
 * Makes one run of c.yaml per format, in a folder named after the format. The MCPL runs also have a
 * joined file.
 */
BEFORE_TESTS()
{
	char set[64];

	write_text(&folder, "c.yaml", text);
	write_text(&folder, "s.yaml", slab);
	for (int i = 0; i < FORMATS; i++) {
		snprintf(set, sizeof(set), "output={format: %s, joined: %s}", formats[i],
			i < TABLES ? "false" : "true");
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--set", set, "--out",
				formats[i]));
	}
}

static const char *suffix_of(const char *format)
{
	return sl_format_find(format)->suffix;
}

/* --- runs ------------------------------------------------------------------------------------- */

/* Writes the lines of all batch files of the csv.gz run, with one header, to expected.csv.gz. */
static void write_expected(void)
{
	gzFile f = gzopen(folder_path(&folder, "expected.csv.gz"), "wb1");

	for (int i = 0; i < BATCHES; i++) {
		char name[64], *csv;
		size_t bytes;

		snprintf(name, sizeof(name), "csv.gz/t_%06d.csv.gz", i);
		csv = inflated(name, &bytes);
		gzputs(f, i == 0 ? csv : strchr(csv, '\n') + 1);
		free(csv);
	}
	assert_int_equal(gzclose(f), Z_OK);
}

/*
 * A run in each table format is converted to each table format; the text must be that of the csv.gz
 * run.
 */
TEST(runs_are_converted_to_one_table)
{
	write_expected();
	for (int from = 0; from < TABLES; from++)
		for (int to = 0; to < TABLES; to++) {
			char converted[64];

			snprintf(converted, sizeof(converted), "%s",
				convert(formats[from], suffix_of(formats[to])));
			expect_same_inflated(to >= 2 ? converted : convert(converted, ".csv.gz"),
				"expected.csv.gz");
		}
}

/* A run in any format is converted to the list that a run with output.format: mcpl merges. */
TEST(runs_are_converted_to_one_list)
{
	for (int from = 0; from < FORMATS; from++) {
		bool gz = strcmp(formats[from], "mcpl.gz") == 0, list = from >= TABLES;

		/* a converted list keeps its header, whose configuration names the format of the run */
		expect_same_inflated(
			convert(formats[from], ".mcpl"), gz ? "mcpl.gz/t.mcpl.gz" : "mcpl/t.mcpl");
		expect_same_inflated(convert(formats[from], ".mcpl.gz"),
			gz || !list ? "mcpl.gz/t.mcpl.gz" : "mcpl/t.mcpl");
	}
}

/* The records of twelve runs, which are links to one run, need more than one gzip member. */
TEST(lists_of_several_gzip_members_are_complete)
{
	const char *words[20] = {"sluice", "convert", "--quiet", "--to"};
	char names[12][8];
	size_t one, twelve;

	for (int i = 0; i < 12; i++) {
		snprintf(names[i], sizeof(names[i]), "run%d", i);
		assert_int_equal(symlink("mcpl", folder_path(&folder, names[i])), 0);
		words[5 + i] = names[i];
	}
	for (int gz = 0; gz < 2; gz++) {
		words[4] = gz ? "many.mcpl.gz" : "many.mcpl";
		expect(&folder, SL_OK, "", words);
	}
	expect_same_inflated("many.mcpl.gz", "many.mcpl");
	free(inflated("mcpl/t.mcpl", &one));
	free(inflated("many.mcpl.gz", &twelve));
	assert_true(twelve > 1 << 20 && twelve < 12 * one);
}

/* The joined file is a header with the counts of the whole run, then the records of all batches. */
TEST(merged_list_contains_all_batches)
{
	size_t bytes, used = 0;
	char *all = inflated("mcpl/t.mcpl", &bytes), *header = NULL;
	uint64_t particles, n_all = 0;

	for (int i = 0; i < BATCHES; i++) {
		char name[64], *batch;
		size_t has, begin_at;
		uint64_t n;

		snprintf(name, sizeof(name), "mcpl/t_%06d.mcpl", i);
		batch = inflated(name, &has);
		memcpy(&n, batch + 8, 8);
		n_all += n;
		begin_at = has - (size_t)n * 32; /* 7 floats and the user flags, 4 bytes each */
		used = i == 0 ? begin_at : used;
		assert_memory_equal(all + used, batch + begin_at, has - begin_at);
		used += has - begin_at;
		header = i == 0 ? batch : header;
		if (i > 0)
			free(batch);
	}
	assert_int_equal(used, bytes);
	memcpy(&particles, all + 8, 8);
	assert_int_equal(particles, n_all);
	expect_in(all, bytes, "stat:sum:sluice_generated:                    9000");
	expect_in(header, 300, "stat:sum:sluice_generated:                    4000");
	free(header);
	free(all);
	expect(&folder, SL_OK, "", WORDS("verify", "mcpl", "--quiet"));
	expect(&folder, SL_OK, "", WORDS("verify", "mcpl.gz", "--quiet"));
	assert_string_equal(run_json(&folder, "mcpl", "joined"), "t.mcpl");
}

TEST(damaged_merged_list_is_reported)
{
	char *list;
	size_t bytes;

	copy_run(&folder, "mcpl", "other");
	list = folder_read(&folder, "other/t.mcpl", &bytes);
	list[bytes - 1] ^= 1;
	folder_write(&folder, "other/t.mcpl", list, bytes);
	expect(&folder, SL_CHECK_FAILED, "differs from the list that the batch files give",
		WORDS("verify", "other"));
	folder_write(&folder, "other/t.mcpl", list, bytes - 1);
	expect(&folder, SL_CHECK_FAILED, "differs from the list that the batch files give",
		WORDS("verify", "other"));
	list[bytes - 1] ^= 1;
	list = (char *)realloc(list, bytes + 1);
	folder_write(&folder, "other/t.mcpl", list, bytes + 1);
	expect(&folder, SL_CHECK_FAILED, "differs from the list that the batch files give",
		WORDS("verify", "other"));
	free(list);
	assert_int_equal(unlink(folder_path(&folder, "other/t.mcpl")), 0);
	expect(&folder, SL_CHECK_FAILED, "t.mcpl: the file is missing", WORDS("verify", "other"));
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--set",
			"output={format: mcpl, joined: true}", "--out", "other", "--resume"));
	expect_same_inflated("other/t.mcpl", "mcpl/t.mcpl");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--out", "other", "--force"));
	assert_false(folder_has(&folder, "other/t.mcpl"));
	remove_run(&folder, "other");
}

/* Single files of a run, in another order: convert still finds the run that they belong to. */
TEST(files_of_a_run_are_recognised)
{
	char *csv, *list;
	size_t bytes;

	expect(&folder, SL_OK, "",
		WORDS("convert", "openpmd/t_000002.h5", "openpmd/t_000000.h5", "--to",
			"some.mcpl"));
	list = inflated("some.mcpl", &bytes);
	expect_in(list, bytes, "stat:sum:sluice_generated:                    5000");
	expect_in(list, bytes, "Survivors of run t, seed 7");
	free(list);
	expect(&folder, SL_OK, "", WORDS("convert", "some.mcpl", "--to", "some.csv.gz"));
	csv = inflated("some.csv.gz", &bytes);
	assert_memory_equal(csv, "x,y,z,u,v,w,energy,weight,time,pixel\n", 37);
	free(csv);
}

/* --- settings, refusals, unfinished runs ------------------------------------------------------- */

TEST(energy_option_sets_the_energy)
{
	char *out;

	expect(&folder, SL_OK, "",
		WORDS("run", "s.yaml", "--device", "cpu", "--quiet", "--out", "s"));
	expect(&folder, SL_USAGE, "output.mcpl.energy: is missing",
		WORDS("convert", "s", "--to", "s.mcpl"));
	out = output_of(&folder, WORDS("convert", "s", "--to", "s.mcpl", "--set",
					 "output.mcpl={energy: 2 eV, userflags: collisions}"));
	assert_non_null(strstr(out, "dropped: id, steps, fate"));
	free(out);
	out = output_of(&folder, WORDS("info", "s.mcpl"));
	assert_non_null(strstr(out, "User flags are the column collisions"));
	assert_non_null(strstr(out, "energy       keV          0.002         0.002 "));
	free(out);
	expect(&folder, SL_USAGE, "convert does not take this key",
		WORDS("convert", "s", "--to", "no.mcpl", "--set", "run.seed=3"));
	expect(&folder, SL_USAGE, "has no effect",
		WORDS("convert", "s", "--to", "no.npz", "--set", "output.mcpl.pdg=11"));
	expect(&folder, SL_USAGE, "has no effect",
		WORDS("convert", "mcpl", "--to", "no.mcpl", "--set", "output.mcpl.pdg=11"));
}

TEST(impossible_conversions_are_refused)
{
	expect(&folder, SL_USAGE, "convert needs --to FILE", WORDS("convert", "mcpl"));
	expect(&folder, SL_USAGE, "convert needs IN...; see sluice help convert",
		WORDS("convert", "--to", "no.mcpl"));
	expect(&folder, SL_USAGE, "no format has this suffix",
		WORDS("convert", "mcpl", "--to", "no.txt"));
	expect(&folder, SL_USAGE, "not a run directory",
		WORDS("convert", "c.yaml", "--to", "no.mcpl"));
	expect(&folder, SL_BAD_INPUT, "the directory has no committed batches",
		WORDS("convert", ".", "--to", "no.mcpl"));
	expect(&folder, SL_USAGE,
		"npz/t_000000.npz: the file is not a list, the files before it are lists",
		WORDS("convert", "mcpl", "npz", "--to", "no.mcpl"));
	expect(&folder, SL_USAGE,
		"t_000000.mcpl: the file is a list, the files before it are not (all",
		WORDS("convert", "npz", "mcpl", "--to", "no.mcpl"));
	expect(&folder, SL_DISK, "cannot open none.mcpl",
		WORDS("convert", "none.mcpl", "--to", "no.mcpl"));
	expect(&folder, SL_DISK, "cannot open the folder none",
		WORDS("convert", "mcpl", "--to", "none/no.mcpl"));
	expect(&folder, SL_BAD_INPUT, "the file has no steps, collisions",
		WORDS("convert", "s/s_000000.h5", "openpmd/t_000000.h5", "--to", "no.h5"));
	expect(&folder, SL_BAD_INPUT, "the file has no energy, pixel",
		WORDS("convert", "openpmd/t_000000.h5", "s/s_000000.h5", "--to", "no.h5"));
	write_text(&folder, "few.csv.gz", "");
	expect(&folder, SL_BAD_INPUT, "few.csv.gz",
		WORDS("convert", "few.csv.gz", "--to", "no.h5"));
	assert_false(folder_has(&folder, "no.mcpl"));
	assert_false(folder_has(&folder, "no.h5"));
}

TEST(missing_columns_are_reported)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--quiet", "--set",
			"output.columns=[id, x, y, z, energy, weight]", "--out", "few"));
	expect(&folder, SL_BAD_INPUT, "they lack u, v, w, time, which MCPL needs",
		WORDS("convert", "few", "--to", "no.mcpl"));
	/* the energy alone suffices for files in the directory of their run */
	expect(&folder, SL_OK, "",
		WORDS("run", "s.yaml", "--device", "cpu", "--quiet", "--out", "stated"));
	expect(&folder, SL_OK, "", WORDS("convert", "stated", "--to", "away.npz"));
	expect(&folder, SL_BAD_INPUT,
		"use files in the directory of their run and --set output.mcpl",
		WORDS("convert", "away.npz", "--to", "no.mcpl"));
	expect(&folder, SL_OK, "",
		WORDS("convert", "stated", "--to", "stated.mcpl", "--set",
			"output.mcpl.energy=2 eV"));
	assert_false(folder_has(&folder, "no.mcpl"));
}

/* Neither a complete file nor the .part file of another process is overwritten. */
TEST(existing_files_are_not_overwritten)
{
	write_text(&folder, "mine.mcpl", "mine");
	write_text(&folder, "half.npz.part", "half");
	expect(&folder, SL_OUTPUT_IN_USE, "or replace it with --force",
		WORDS("convert", "mcpl", "--to", "mine.mcpl"));
	expect(&folder, SL_OUTPUT_IN_USE, "half.npz.part",
		WORDS("convert", "npz", "--to", "half.npz"));
	assert_false(folder_has(&folder, "half.npz"));
	expect_file(&folder, "mine.mcpl", "mine");
	expect_file(&folder, "half.npz.part", "half");
}

/* With --force an existing file is replaced, but no input is, under whatever name it is given. */
TEST(force_replaces_files_but_no_input)
{
	for (int i = 0; i < FORMATS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "old%s", suffix_of(formats[i]));
		write_text(&folder, name, "old");
		expect(&folder, SL_OUTPUT_IN_USE, "--force",
			WORDS("convert", formats[i], "--to", name));
		expect(&folder, SL_OK, "",
			WORDS("convert", formats[i], "--to", name, "--force", "--quiet"));
		expect_same_inflated(convert(formats[i], suffix_of(formats[i])), name);
		expect(&folder, SL_USAGE, "which --force does not replace",
			WORDS("convert", name, "--to", name, "--force"));
	}
	assert_int_equal(symlink("old.npz", folder_path(&folder, "link.npz")), 0);
	expect(&folder, SL_USAGE, "the file is the input old.npz",
		WORDS("convert", "old.npz", "--to", "link.npz", "--force"));
	expect(&folder, SL_USAGE, "--force has no effect on info",
		WORDS("info", "old.npz", "--force"));
	expect(&folder, SL_OK, "",
		WORDS("convert", "csv", "--to", "new.csv", "--force", "--quiet"));
	expect_same_inflated("new.csv", "old.csv");
}

/* Conversion of an incomplete run reports the missing batches. */
TEST(unfinished_runs_are_converted)
{
	static const char done[] = "\"state\": \"done\"";
	char *run, *at, *out;
	size_t bytes;

	out = output_of(&folder, WORDS("convert", "npz", "--to", "ended.csv.gz"));
	assert_null(strstr(out, "not all"));
	free(out);
	copy_run(&folder, "npz", "early");
	run = folder_read(&folder, "early/run.json", &bytes);
	at = strstr(run, done);
	assert_non_null(at);
	memcpy(strstr(at, "done"), "half", 4);
	folder_write(&folder, "early/run.json", run, bytes);
	free(run);
	out = output_of(&folder, WORDS("convert", "early", "--to", "early.csv.gz"));
	assert_non_null(strstr(out,
		"incomplete: the run in early has not ended (state half); 3 batches are "
		"committed\n"));
	free(out);
}
