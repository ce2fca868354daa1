/*
 * damage.c - files of a run that are damaged, replaced or removed, before or while the program uses
 * them; and files of the user with names of a run.
 *
 * verify reports each damage, --resume repairs it with the bytes of an undisturbed run, and no file
 * of the user is changed. The run is small and has every kind of side file that its format allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/results/results.h"
#include "pipeline/verify/verify.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/trial.h"

#define OUT "run tiny.yaml --quiet --device cpu --threads 2 --set run.particles=1200 --out "
#define RUN OUT "out"
#define H5 \
	" --set tallies=[w:2] --set output.image=true --set output.columns=[id,x,energy,pixel,weight]"
#define RESUME " --resume"
#define VERIFY "verify out"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

/* Runs a command, which ends with this code and text; "" for any. */
static void expect_line(const char *what, const char *line, int code, const char *text)
{
	struct ending e;

	trial_run(line, NULL, &e);
	if (e.code != code || !strstr(e.err, text))
		fail_msg("%s: %s: exit code %d (signal %d), expected %d and \"%s\": %s", what, line,
			e.code, e.signal, code, text, e.err);
	process_free(&e);
}

/* The run is that of the trial, which has no damage. Restores all files. */
static void expect_repair(const char *what, const char *line)
{
	expect_line(what, line, SL_OK, "");
	trial_read();
	if (!trial_is_finished())
		fail_msg("%s: %s does not give the undisturbed files", what, line);
	assert_string_equal(run_json(&trial.f, "out", "state"), "done");
	trial_restore();
}

static const char *path_of(const char *name)
{
	return folder_path(&trial.f, name);
}

/* --- damage before a command ------------------------------------------------------------------ */

/* Ways to damage a file; a and b are their numbers. */
enum how {
	REMOVE,
	FLIP,       /* a bit at a of b (folder_flip()) */
	CUT,        /* to a bytes, or if a is negative, by -a bytes */
	COPY,       /* another file in its place */
	DROP_LINE,  /* line a */
	RAISE_COUNT /* of the survivors in line a, whose checksum stays */
};

struct damage {
	enum how how;
	const char *file, *other;
	long a, b;
	int code; /* of verify */
	const char *text;
};

/* Rewrites the manifest line by line; edits line `number`. */
static void edit_manifest(long number, bool drop)
{
	size_t bytes;
	char *whole = folder_read(&trial.f, "out/manifest.jsonl", &bytes);
	FILE *f = fopen(path_of("out/manifest.jsonl"), "w");

	assert_non_null(f);
	for (char *line = strtok(whole, "\n"); line; line = strtok(NULL, "\n"), number--) {
		char *count = strstr(line, "\"survivors\":") + strlen("\"survivors\":");

		if (number == 0 && !drop)
			*count = (char)(*count == '9' ? '8' : *count + 1);
		if (number != 0 || !drop)
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	free(whole);
}

static void make_damage(const struct damage *d)
{
	const struct tree_file *file =
		tree_find(&trial.before, d->how == COPY ? d->other : d->file);

	assert_non_null(file);
	if (d->how == REMOVE)
		assert_int_equal(unlink(path_of(d->file)), 0);
	else if (d->how == FLIP)
		folder_flip(&trial.f, d->file, (size_t)d->a, (size_t)d->b);
	else if (d->how == CUT)
		assert_int_equal(
			truncate(path_of(d->file), d->a < 0 ? (off_t)file->size + d->a : d->a), 0);
	else if (d->how == COPY)
		folder_write(&trial.f, d->file, file->bytes, file->size);
	else
		edit_manifest(d->a, d->how == DROP_LINE);
}

#define IMAGE "out/tiny.image.h5"
#define PNG   "out/tiny.png"
#define BATCH "out/tiny_000003.h5"
#define LINES "out/manifest.jsonl"

/* That a flipped byte is noticed is tested below. */
static const struct damage damages[] = {
	{REMOVE, BATCH, NULL, 0, 0, SL_DISK, "tiny_000003.h5"},
	{FLIP, BATCH, NULL, 1, 2, SL_CHECK_FAILED, "tiny_000003.h5"},
	{CUT, BATCH, NULL, 1000, 0, SL_CHECK_FAILED, "tiny_000003.h5"},
	{COPY, BATCH, "out/tiny_000004.h5", 0, 0, SL_CHECK_FAILED, "tiny_000003.h5"},
	{DROP_LINE, LINES, NULL, 3, 0, SL_CHECK_FAILED, "5 of 6 batches"},
	{RAISE_COUNT, LINES, NULL, 2, 0, SL_CHECK_FAILED, "1 damaged line"},
	{CUT, LINES, NULL, -20, 0, SL_CHECK_FAILED, "1 damaged line"},
	{REMOVE, LINES, NULL, 0, 0, SL_CHECK_FAILED, "0 of 6 batches"},
	{FLIP, IMAGE, NULL, 3, 5, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{FLIP, PNG, NULL, 3, 5, SL_CHECK_FAILED, "png: the picture differs"},
	{CUT, IMAGE, NULL, 7, 0, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{CUT, PNG, NULL, 0, 0, SL_CHECK_FAILED, "png: the picture differs"},
	{REMOVE, IMAGE, NULL, 0, 0, SL_CHECK_FAILED, "image.h5: the file is missing"},
	{REMOVE, PNG, NULL, 0, 0, SL_CHECK_FAILED, "png: the file is missing"},
	{COPY, IMAGE, "seed/tiny.image.h5", 0, 0, SL_CHECK_FAILED, "image.h5: the pixels differ"},
	{COPY, PNG, "seed/tiny.png", 0, 0, SL_CHECK_FAILED, "png: the picture differs"},
};

/* A share of them is repaired. */
TEST(any_damage_is_reported_and_repaired)
{
	static const struct scenario s = {
		"damage", RUN H5 ";" OUT "seed --set run.seed=8" H5, VERIFY, NULL, NULL, 0};
	const struct sl_sampled some = sl_sampling_share(COUNT(damages));

	trial_begin(&s);
	for (size_t i = 0; i < COUNT(damages); i++) {
		char what[64];

		if (is_quick() && i % 4 != some.first % 4)
			continue;
		snprintf(what, sizeof(what), "damage %d of %s", (int)damages[i].how,
			damages[i].file);
		make_damage(&damages[i]);
		expect_line(what, VERIFY, damages[i].code, damages[i].text);
		if (i % some.step == some.first)
			expect_repair(what, RUN H5 RESUME);
		else
			trial_restore();
	}
	trial_end();
}

/* --- flipped bits ----------------------------------------------------------------------------- */

static uint32_t step =
	97; /* between flipped bytes; a prime, so that each bit of a byte is flipped */

/* LOCK contains no results. */
static void flip_file(const struct tree_file *f)
{
	for (size_t at = 0; f->bytes && !strstr(f->name, "/LOCK") && at < f->size;
		at += sl_sampling_step(step)) {
		FILE *file = fopen(path_of(f->name), "r+");
		enum sl_status s;

		assert_true(file && fseek(file, (long)at, SEEK_SET) == 0);
		fputc((unsigned char)f->bytes[at] ^ 1 << at % 8, file);
		fclose(file);
		s = sl_verify(path_of("out"), false, true, stdout);
		if (s != SL_CHECK_FAILED && s != SL_BAD_INPUT)
			fail_msg("%s: bit %d of byte %zu of %s was flipped, and verify returned %s",
				trial.s->name, (int)(at % 8), at, f->name, sl_status_name(s));
		folder_write(&trial.f, f->name, f->bytes, f->size);
	}
}

TEST(flipped_bits_are_noticed)
{
	static const struct scenario formats[] = {
		{"openPMD", RUN " --set run.batch=600" H5, VERIFY, NULL, NULL, 0},
		{"npz", RUN " --set run.batch=600 --set output.format=npz", VERIFY, NULL, NULL, 0},
		{"csv.gz", RUN " --set run.batch=600 --set output.format=csv.gz", VERIFY, NULL,
			NULL, 0},
		{"mcpl",
			RUN
			" --set run.batch=600 --set output.format=mcpl --set output.columns=[] --set output.joined=true",
			VERIFY, NULL, NULL, 0}};

	for (size_t i = 0; i < COUNT(formats); i++) {
		trial_begin(&formats[i]);
		assert_true(trial.before.n >= (i == 0 ? 12 : 7));
		for (size_t k = 0; k < trial.before.n; k++)
			if (strncmp(trial.before.file[k].name, "out/", 4) == 0)
				flip_file(&trial.before.file[k]);
		assert_ok(sl_verify(path_of("out"), false, true, stdout));
		trial_end();
	}
}

/* --- other configurations, and files of the user ---------------------------------------------- */

/* Files of the user, then a command with its ending. */
struct row {
	const char *mine; /* separated by spaces */
	const char *line;
	int code;
	const char *text; /* NULL: the file of the user */
	const char *gone; /* files that the command removes, or "" */
};

static void for_each_word(const char *words, void (*body)(const char *name))
{
	char text[512];

	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		body(word);
}

static void write_mine(const char *name)
{
	write_text(&trial.f, name, "mine");
}

static void expect_mine(const char *name)
{
	expect_file(&trial.f, name, "mine");
	assert_int_equal(unlink(path_of(name)), 0);
}

static void expect_gone(const char *name)
{
	if (folder_has(&trial.f, name))
		fail_msg("%s is left", name);
}

/* A refused command changes no file, and makes none but LOCK. */
static void check_row(const struct row *r)
{
	struct tree was;

	for_each_word(r->mine, write_mine);
	tree_read(&trial.f, &was);
	expect_line(r->mine, r->line, r->code, r->text ? r->text : strrchr(r->mine, '/') + 1);
	trial_read();
	for (size_t i = 0; r->code != SL_OK && i < trial.now.n; i++) {
		const struct tree_file *now = &trial.now.file[i];

		if (!strstr(now->name, "/LOCK") && !tree_same(now, tree_find(&was, now->name)))
			fail_msg("%s: %s has changed %s", r->mine, r->line, now->name);
	}
	for_each_word(r->mine, expect_mine);
	for_each_word(r->gone, expect_gone);
	tree_free(&was);
}

#define MINE \
	"out/notes.txt out/tiny_12.h5 out/ttiny_000000.h5 out/tiny_000000.h5.bak out/tiny_000006.h5 out/u_000014.csv.gz"
#define LATER \
	"out/tiny_000006.h5 out/tiny_000777.h5 out/tiny_000777.order out/tiny_000777.h5.part out/tiny_000003.bins"
#define PARTS \
	"out/tiny_000002.h5.part out/tiny_000005.h5.part out/run.json.part out/manifest.jsonl.part"
/* Two configurations that differ only after 1100 characters of a line. */
#define ITEM  "w>0.00000000000000000000000000000000000000000000000000000000000000000001,"
#define ITEMS ITEM ITEM ITEM ITEM
#define LONG  ITEMS ITEMS ITEMS ITEMS
#define OTHER RUN " --force --set run.name=u --set output.format=csv.gz --set run.particles=400"

TEST(other_configurations_and_files_of_the_user_are_kept)
{
	static const struct scenario s = {"existing run",
		RUN ";" OUT "long --set keep=[" LONG "w>0.0]", VERIFY, NULL, NULL, 0};
	static const struct row rows[] = {
		{"", RUN " --set model.source_detector.source.radius=5mm" RESUME, SL_OUTPUT_IN_USE,
			"another configuration", ""},
		{"", RUN " --set output.level=2" RESUME, SL_OUTPUT_IN_USE,
			"\"level: 1\" there, \"level: 2\" here", ""},
		{"", OUT "long --set keep=[" LONG "w>0.1]" RESUME, SL_OUTPUT_IN_USE,
			"another configuration", ""},
		/* options that do not change the output may change */
		{"", RUN " --compact cpu_scan" RESUME, SL_OK, "", ""},
		{PARTS, VERIFY, SL_OK, "", ""},
		/*
		 * files of batches that the run does not have; an extended run needs the name of
		 * the first one
		 */
		{LATER, RUN RESUME, SL_OK, "", ""},
		{LATER, RUN " --set run.particles=1400" RESUME, SL_OUTPUT_IN_USE,
			"tiny_000006.h5: the file exists", ""},
		/* with another name and format, so no file of the existing run may stay */
		{MINE, OTHER, SL_OK, "",
			"out/tiny_000000.h5 out/tiny_000005.h5 out/tiny.xdmf out/tiny_000002.h5.part"},
		{MINE, RUN " --force", SL_OK, "", "out/u_000000.csv.gz out/u_000001.csv.gz"},
	};

	trial_begin(&s);
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(&rows[i]);
	expect_repair("rows", RUN RESUME);
	trial_end();
}

/* A file that no run.json lists belongs to the user; it is detected before the first particle. */
TEST(foreign_files_with_names_of_the_run_are_kept)
{
	static const struct scenario s = {"no run", "", "list", NULL, NULL, 0};
	static const char *const taken[] = {"out/tiny_000003.h5", "out/tiny.xdmf",
		"out/run.json.part", "out/manifest.jsonl.part", "out/tiny.xdmf.part",
		"out/tiny_000003.h5.part"};
	const struct row lock = {
		"out/LOCK", RUN " --force", SL_OUTPUT_IN_USE, "LOCK was not made by sluice", ""};

	trial_begin(&s);
	assert_int_equal(mkdir(path_of("out"), 0777), 0);
	for (size_t i = 0; i < COUNT(taken); i++)
		for (int k = 0; k < 2; k++)
			check_row(&(struct row){
				taken[i], k ? RUN RESUME : RUN, SL_OUTPUT_IN_USE, NULL, ""});
	unlink(path_of("out/LOCK"));
	check_row(&lock);
	trial_end();
}

/* A manifest line can name any file; --force removes only files with names that the run gives. */
TEST(force_keeps_files_of_other_runs)
{
	static const struct scenario s = {"thesis", RUN, VERIFY, NULL, NULL, 0};
	char line[SL_MANIFEST_LINE_BYTES];
	struct sl_manifest m;

	trial_begin(&s);
	read_manifest(&trial.f, "out", &m);
	strcpy(m.line[3].file.name, "thesis.tex");
	folder_write(&trial.f, "out/manifest.jsonl", line, sl_manifest_print(&m.line[3], line));
	sl_manifest_free(&m);
	check_row(&(struct row){"out/thesis.tex", RUN " --force --set run.name=u", SL_OK, "",
		"out/tiny_000003.h5"});
	trial_end();
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}

TEST_FILE(argc, argv)
{
	if (argc == 2)
		step = (uint32_t)strtoul(argv[1], NULL, 10);
	return step == 0 ? 1 : run_test_file(argv[0]);
}
