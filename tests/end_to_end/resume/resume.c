/*
 * resume.c - a folder with an existing run that is valid, damaged or of another configuration.
 *
 * --resume finishes the run with the bytes of an uninterrupted run, or reports why it cannot.
 * --force starts a new run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/results/manifest.h"
#include "tests/support/basic/check.h"
#include "tests/support/runs/reference_run.h"

enum { BATCHES = 60 };

static const char text[] = "run: {name: t, seed: 7, particles: 30000, batch: 500, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

/* --- damage -------------------------------------------------------------------------------- */

static void remove_file(void)
{
	assert_int_equal(unlink(folder_path(&folder, "out/t_000007.h5")), 0);
}

static void flip_byte(void)
{
	folder_flip(&folder, "out/t_000031.h5", 1, 2);
}

static void truncate_file(void)
{
	assert_int_equal(truncate(folder_path(&folder, "out/t_000000.h5"), 1000), 0);
}

static void swap_files(void)
{
	const char *a = folder_path(&folder, "out/t_000003.h5"),
		   *b = folder_path(&folder, "out/t_000004.h5"),
		   *between = folder_path(&folder, "out/between");

	assert_int_equal(rename(a, between) | rename(b, a) | rename(between, b), 0);
}

/* Rewrites the manifest line by line; edit may change a line, or remove it by making it empty. */
static void edit_manifest(void (*edit)(size_t number, char *line))
{
	size_t bytes, number = 0;
	char *whole = folder_read(&folder, "out/manifest.jsonl", &bytes);
	FILE *f = fopen(folder_path(&folder, "out/manifest.jsonl"), "w");

	assert_non_null(f);
	for (char *line = strtok(whole, "\n"); line; line = strtok(NULL, "\n")) {
		edit(number++, line);
		if (*line)
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	free(whole);
}

static void drop_middle(size_t number, char *line)
{
	if (number == 30)
		*line = '\0';
}

static void remove_middle_line(void)
{
	edit_manifest(drop_middle);
}

/* Changes a count; the checksum of the line stays. */
static void raise_count(size_t number, char *line)
{
	char *count = strstr(line, "\"survivors\":");

	assert_non_null(count);
	count += strlen("\"survivors\":");
	if (number == 12)
		*count = (char)(*count == '9' ? '8' : *count + 1);
}

static void edit_count(void)
{
	edit_manifest(raise_count);
}

static void tear_last_line(void)
{
	struct stat facts;
	const char *path = folder_path(&folder, "out/manifest.jsonl");

	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(truncate(path, facts.st_size - 20), 0);
}

static void remove_manifest(void)
{
	assert_int_equal(unlink(folder_path(&folder, "out/manifest.jsonl")), 0);
}

static void leave_parts(void)
{
	write_text(&folder, "out/t_000009.h5.part", "half");
	write_text(&folder, "out/t_000059.h5.part", "half");
	write_text(&folder, "out/run.json.part", "{");
	write_text(&folder, "out/manifest.jsonl.part", "{");
}

struct damage {
	const char *name;
	void (*make)(void);
	int code;         /* exit code of verify */
	const char *says; /* message of verify */
};

static const struct damage damages[] = {
	{"a file removed", remove_file, SL_DISK, "t_000007.h5"},
	{"a byte flipped", flip_byte, SL_CHECK_FAILED, "t_000031.h5"},
	{"a file truncated", truncate_file, SL_CHECK_FAILED, "t_000000.h5"},
	{"two files swapped", swap_files, SL_CHECK_FAILED, "t_000003.h5"},
	{"a line removed", remove_middle_line, SL_CHECK_FAILED, "59 of 60 batches"},
	{"a count edited", edit_count, SL_CHECK_FAILED, "1 damaged line"},
	{"the last line incomplete", tear_last_line, SL_CHECK_FAILED, "1 damaged line"},
	{"no manifest", remove_manifest, SL_CHECK_FAILED, "0 of 60 batches"},
	{"temporary files", leave_parts, SL_OK, ""},
};

TEST(any_damage_is_repaired_or_reported)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		const struct damage *d = &damages[i];

		copy_run(&folder, "whole", "out");
		d->make();
		if (hash_run(&folder, "out") == reference_hash)
			fail_msg("%s: nothing was damaged", d->name);
		expect(&folder, d->code, d->says, WORDS("verify", "out"));
		reference_run_resume();
	}
}

/* --- existing folders ---------------------------------------------------------------------- */

TEST(another_configuration_is_refused)
{
	static const char *const changes[][2] = {
		{"run.seed=8", "\"seed: 7\" there, \"seed: 8\" here"},
		{"run.batch=600", "\"batch: 500\" there, \"batch: 600\" here"},
		{"key=[w:17]", "w:16"},
		{"model.slab.g=0.5", "\"g: 0\" there, \"g: 0.5\" here"},
		{"output.level=2", "\"level: 1\" there, \"level: 2\" here"},
	};
	uint64_t before;

	copy_run(&folder, "whole", "out");
	before = folder_hash(folder_path(&folder, "out"), NULL);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		expect(&folder, SL_OUTPUT_IN_USE, changes[i][1],
			WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", changes[i][0]));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already",
		WORDS("run", "c.yaml", "--out", "out"));
	assert_int_equal(folder_hash(folder_path(&folder, "out"), NULL), before);
	/* options that do not change the output may change */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--threads", "1", "--compact",
			"cpu_scan"));
	reference_run_resume();
}

TEST(resume_without_a_run_starts_one)
{
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	reference_run_resume();
	reference_run_resume(); /* no folder */
}

/* Two configurations that differ only after 1100 characters of a line are different. */
TEST(long_configuration_lines_are_compared_completely)
{
	static const char *const last[] = {"0", "0.5"};
	static char keep[1400];
	static const char item[] =
		"\"transmitted and w > 0.0000000000000000000000000000000000000000000000001\", ";
	size_t n = (size_t)snprintf(keep, sizeof(keep), "keep=[");

	while (n < 1100)
		n += (size_t)snprintf(keep + n, sizeof(keep) - n, "%s", item);
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		snprintf(keep + n, sizeof(keep) - n, "\"transmitted and w > %s\"]", last[i]);
		expect(&folder, i == 0 ? SL_OK : SL_OUTPUT_IN_USE,
			i == 0 ? "" : "another configuration",
			WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", keep, "--set",
				"run.particles=1000", i == 0 ? "--quiet" : "--resume"));
	}
	remove_run(&folder, "out");
}

TEST(finished_run_is_left_unchanged)
{
	struct stat was, now;

	copy_run(&folder, "whole", "out");
	assert_int_equal(stat(folder_path(&folder, "out/t_000059.h5"), &was), 0);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume"));
	assert_int_equal(stat(folder_path(&folder, "out/t_000059.h5"), &now), 0);
	assert_int_equal(was.st_ino, now.st_ino);
	assert_int_equal(was.st_mtim.tv_nsec, now.st_mtim.tv_nsec);
	reference_run_resume();
}

TEST(force_replaces_the_run)
{
	static const char *const mine[] = {"out/notes.txt", "out/t_12.h5", "out/tt_000000.h5",
		"out/t_000000.h5.bak", "out/t_000060.h5", "out/u_000014.csv.gz"};

	copy_run(&folder, "whole", "out");
	leave_parts();
	for (int i = 0; i < 6; i++)
		write_text(&folder, mine[i], "mine");
	/* with another name and format, so no file of the existing run may stay */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--force", "--set", "run.name=u", "--set",
			"output.format=csv.gz", "--set", "run.particles=7000", "--quiet"));
	for (size_t i = 0; i < BATCHES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "out/t_%06zu.h5", i);
		assert_false(folder_has(&folder, name));
	}
	assert_false(folder_has(&folder, "out/t.xdmf"));
	assert_false(folder_has(&folder, "out/t_000009.h5.part"));
	assert_true(folder_has(&folder, "out/u_000001.csv.gz"));
	/* the first run again */
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--force", "--quiet"));
	assert_false(folder_has(&folder, "out/u_000001.csv.gz"));
	for (int i = 0; i < 6; i++) {
		expect_file(&folder, mine[i], "mine");
		assert_int_equal(unlink(folder_path(&folder, mine[i])), 0);
	}
	reference_run_resume();
}

/*
 * Files of batches that the run does not have are of a user, whatever their names. A file of a batch whose
 * line is missing is one that the run has written before it was killed.
 */
TEST(files_beyond_the_batches_are_kept)
{
	static const char *const mine[] = {"out/t_000060.h5", "out/t_000777.h5",
		"out/t_000777.order", "out/t_000777.h5.part", "out/t_000003.bins"};

	copy_run(&folder, "whole", "out");
	keep_batches(&folder, "out", BATCHES - 2);
	assert_int_equal(truncate(folder_path(&folder, "out/t_000059.h5"), 10), 0);
	for (int i = 0; i < 5; i++)
		write_text(&folder, mine[i], "mine");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"));
	/* an extended run needs the name of the first one */
	expect(&folder, SL_OUTPUT_IN_USE, "t_000060.h5: the file exists",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", "run.particles=31000"));
	for (int i = 0; i < 5; i++) {
		expect_file(&folder, mine[i], "mine");
		assert_int_equal(unlink(folder_path(&folder, mine[i])), 0);
	}
	reference_run_resume();
}

/* A manifest line can name any file; --force removes only files with names that the run gives. */
TEST(force_keeps_files_of_other_runs)
{
	char line[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest m;
	struct sl_dir dir;

	copy_run(&folder, "whole", "out");
	write_text(&folder, "out/thesis.tex", "mine");
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &dir));
	assert_ok(sl_manifest_read(&dir, &m));
	strcpy(m.line[3].file, "thesis.tex");
	folder_write(&folder, "out/manifest.jsonl", line, sl_manifest_print(&m.line[3], line));
	sl_manifest_free(&m);
	sl_dir_close(&dir);
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--force", "--quiet", "--set",
			"run.name=u"));
	expect_file(&folder, "out/thesis.tex", "mine");
	assert_false(folder_has(&folder, "out/t_000003.h5"));
	remove_run(&folder, "out");
}

/* A LOCK that sluice did not write is a user's file: the run is refused and the file kept. */
TEST(foreign_lock_is_kept)
{
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	write_text(&folder, "out/LOCK", "mine");
	expect(&folder, SL_OUTPUT_IN_USE, "LOCK was not made by sluice",
		WORDS("run", "c.yaml", "--out", "out", "--force"));
	expect_file(&folder, "out/LOCK", "mine");
	remove_run(&folder, "out");
}

/* A run that was killed before it wrote run.json leaves a part, which the next run replaces. */
TEST(part_of_a_killed_run_is_replaced)
{
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	write_text(&folder, "out/LOCK", "pid 4194304 host a start 2026-01-02T03:04:05Z\n");
	write_text(&folder, "out/run.json.part", "{");
	reference_run_resume();
}

/* A file that no run.json lists belongs to the user; it is detected before the first particle. */
TEST(foreign_files_with_names_of_the_run_are_kept)
{
	static const char *const taken[] = {"out/t_000050.h5", "out/t.xdmf", "out/run.json.part",
		"out/manifest.jsonl.part", "out/t.xdmf.part", "out/t_000050.h5.part"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
		write_text(&folder, taken[i], "mine");
		expect(&folder, SL_OUTPUT_IN_USE, taken[i] + 4,
			WORDS("run", "c.yaml", "--out", "out"));
		expect(&folder, SL_OUTPUT_IN_USE, taken[i] + 4,
			WORDS("run", "c.yaml", "--out", "out", "--resume"));
		assert_false(folder_has(&folder, "out/run.json"));
		expect_file(&folder, taken[i], "mine");
		remove_run(&folder, "out");
	}
}

/*
 * Thousands of batches: run.json is longer than the size limit of a configuration. Sanitizers would find
 * nothing here that they do not find in a run of few batches.
 */
TEST(very_many_batches_resume)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume",
		"--set", "run.particles=3000", "--set", "run.batch=1", "--set",
		"output.format=csv.gz");
	struct folder many;
	struct stat facts;

	if (is_quick())
		return;
	folder_make(&many);
	write_text(&many, "c.yaml", text);
	expect(&many, SL_OK, "", words);
	assert_int_equal(stat(folder_path(&many, "out/run.json"), &facts), 0);
	assert_true(facts.st_size > 1 << 20);
	assert_int_equal(unlink(folder_path(&many, "out/t_001234.csv.gz")), 0);
	expect(&many, SL_OK, "", words);
	expect(&many, SL_OK, "", WORDS("verify", "out", "--quiet"));
	folder_remove(&many);
}
