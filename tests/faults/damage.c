/*
 * damage.c - files of a run that are damaged, replaced or removed, before or while the program uses them; and files of the
 * user with names of a run.
 *
 * verify reports each damage, --resume repairs it with the bytes of an undisturbed run, and no file of the user is
 * changed. The run is small and has every kind of side file that its format allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/results/manifest.h"
#include "pipeline/verify/verify.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/trial.h"

enum { BATCHES = 6 };

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

	trial_run(line, strlen(line), NULL, &e);
	if (e.code != code || !strstr(e.err, text))
		fail_msg("%s: %s: exit code %d (signal %d), expected %d and \"%s\": %s", what, line,
			e.code, e.signal, code, text, e.err);
	process_free(&e);
}

/* The run is that of the trial, which has no damage. Restores all files. */
static void expect_repair(const char *what, const char *line)
{
	struct tree now;

	expect_line(what, line, SL_OK, "");
	tree_read(&trial.f, &now);
	if (!trial_is_finished(&now))
		fail_msg("%s: %s does not give the undisturbed files", what, line);
	assert_string_equal(run_json(&trial.f, "out", "state"), "done");
	expect_line(what, VERIFY, SL_OK, "");
	tree_restore(&trial.f, &now, &trial.before);
	tree_free(&now);
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
	SWAP,       /* with batch a */
	COPY,       /* the file of the same name in the directory of another run */
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

static void copy_file(const char *from, const char *to)
{
	const struct tree_file *file = tree_find(&trial.before, from);

	assert_non_null(file);
	folder_write(&trial.f, to, file->bytes, file->size);
}

static void make_damage(const struct damage *d)
{
	const struct tree_file *file = tree_find(&trial.before, d->file);
	char from[64];

	assert_non_null(file);
	if (d->how == REMOVE)
		assert_int_equal(unlink(path_of(d->file)), 0);
	else if (d->how == FLIP)
		folder_flip(&trial.f, d->file, (size_t)d->a, (size_t)d->b);
	else if (d->how == CUT)
		assert_int_equal(
			truncate(path_of(d->file), d->a < 0 ? (off_t)file->size + d->a : d->a), 0);
	else if (d->how == DROP_LINE || d->how == RAISE_COUNT)
		edit_manifest(d->a, d->how == DROP_LINE);
	snprintf(from, sizeof(from), "%s/%s", d->other ? d->other : "", strchr(d->file, '/') + 1);
	if (d->how == COPY)
		copy_file(from, d->file);
	if (d->how == SWAP) {
		copy_file(d->file, d->other);
		copy_file(d->other, d->file);
	}
}

#define IMAGE "out/tiny.image.h5"
#define PNG   "out/tiny.png"
#define BATCH "out/tiny_000003.h5"
#define LINES "out/manifest.jsonl"

static const struct damage damages[] = {
	{REMOVE, BATCH, NULL, 0, 0, SL_DISK, "tiny_000003.h5"},
	{FLIP, BATCH, NULL, 1, 2, SL_CHECK_FAILED, "tiny_000003.h5"},
	{CUT, BATCH, NULL, 1000, 0, SL_CHECK_FAILED, "tiny_000003.h5"},
	{SWAP, BATCH, "out/tiny_000004.h5", 0, 0, SL_CHECK_FAILED, "tiny_000003.h5"},
	{DROP_LINE, LINES, NULL, 3, 0, SL_CHECK_FAILED, "5 of 6 batches"},
	{RAISE_COUNT, LINES, NULL, 2, 0, SL_CHECK_FAILED, "1 damaged line"},
	{CUT, LINES, NULL, -20, 0, SL_CHECK_FAILED, "1 damaged line"},
	{REMOVE, LINES, NULL, 0, 0, SL_CHECK_FAILED, "0 of 6 batches"},
	{FLIP, IMAGE, NULL, 0, 5, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{FLIP, IMAGE, NULL, 3, 5, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{FLIP, IMAGE, NULL, 5, 5, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{FLIP, PNG, NULL, 0, 5, SL_CHECK_FAILED, "png: the picture differs"},
	{FLIP, PNG, NULL, 3, 5, SL_CHECK_FAILED, "png: the picture differs"},
	{FLIP, PNG, NULL, 5, 5, SL_CHECK_FAILED, "png: the picture differs"},
	{CUT, IMAGE, NULL, 7, 0, SL_CHECK_FAILED, "image.h5: the checksum is wrong"},
	{CUT, PNG, NULL, 0, 0, SL_CHECK_FAILED, "png: the picture differs"},
	{REMOVE, IMAGE, NULL, 0, 0, SL_CHECK_FAILED, "image.h5: the file is missing"},
	{REMOVE, PNG, NULL, 0, 0, SL_CHECK_FAILED, "png: the file is missing"},
	{COPY, IMAGE, "seed", 0, 0, SL_CHECK_FAILED, "image.h5: the pixels differ"},
	{COPY, PNG, "seed", 0, 0, SL_CHECK_FAILED, "png: the picture differs"},
};

TEST(any_damage_is_reported_and_repaired)
{
	static const struct scenario s = {
		"damage", RUN H5 ";" OUT "seed --set run.seed=8" H5, VERIFY, NULL, NULL, 0};

	trial_begin(&s);
	for (size_t i = 0; i < COUNT(damages); i++) {
		char what[64];

		snprintf(what, sizeof(what), "damage %d of %s", (int)damages[i].how,
			damages[i].file);
		make_damage(&damages[i]);
		expect_line(what, VERIFY, damages[i].code, damages[i].text);
		expect_repair(what, RUN H5 RESUME);
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

/* --- other configurations, and files of the user ------------------------------------------------ */

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
	struct tree was, now;

	for_each_word(r->mine, write_mine);
	tree_read(&trial.f, &was);
	expect_line(r->mine, r->line, r->code, r->text ? r->text : strrchr(r->mine, '/') + 1);
	tree_read(&trial.f, &now);
	for (size_t i = 0; r->code != SL_OK && i < now.n; i++)
		if (!strstr(now.file[i].name, "/LOCK") &&
			!tree_same(&now.file[i], tree_find(&was, now.file[i].name)))
			fail_msg("%s: %s has changed %s", r->mine, r->line, now.file[i].name);
	for_each_word(r->mine, expect_mine);
	for_each_word(r->gone, expect_gone);
	tree_free(&was);
	tree_free(&now);
}

#define MINE \
	"out/notes.txt out/tiny_12.h5 out/ttiny_000000.h5 out/tiny_000000.h5.bak out/tiny_000006.h5 out/u_000014.csv.gz"
#define LATER \
	"out/tiny_000006.h5 out/tiny_000777.h5 out/tiny_000777.order out/tiny_000777.h5.part out/tiny_000003.bins"
#define OTHER RUN " --force --set run.name=u --set output.format=csv.gz --set run.particles=400"

TEST(other_configurations_and_files_of_the_user_are_kept)
{
	static const struct scenario s = {"existing run", RUN, VERIFY, NULL, NULL, 0};
	static const struct row rows[] = {
		{"", RUN " --set run.seed=8" RESUME, SL_OUTPUT_IN_USE,
			"\"seed: 7\" there, \"seed: 8\" here", ""},
		{"", RUN " --set run.batch=300" RESUME, SL_OUTPUT_IN_USE,
			"\"batch: 200\" there, \"batch: 300\" here", ""},
		{"", RUN " --set key=[energy:9]" RESUME, SL_OUTPUT_IN_USE, "energy:8", ""},
		{"", RUN " --set model.source_detector.source.radius=5mm" RESUME, SL_OUTPUT_IN_USE,
			"another configuration", ""},
		{"", RUN " --set output.level=2" RESUME, SL_OUTPUT_IN_USE,
			"\"level: 1\" there, \"level: 2\" here", ""},
		{"", RUN, SL_OUTPUT_IN_USE, "holds a run already", ""},
		/* options that do not change the output may change */
		{"", RUN " --compact cpu_scan" RESUME, SL_OK, "", ""},
		/* files of batches that the run does not have; an extended run needs the name of the first one */
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

/* What a killed run may leave, all together: files without a line, incomplete ones and temporary files. */
TEST(leftovers_are_replaced)
{
	static const struct scenario s = {"leftovers", RUN, VERIFY, NULL, NULL, 0};
	static const char *const parts[] = {"out/tiny_000002.h5.part", "out/tiny_000005.h5.part",
		"out/run.json.part", "out/manifest.jsonl.part"};
	static const char old_lock[] = "pid 4194304 host a start 2026-01-02T03:04:05Z\n";
	struct tree now;

	trial_begin(&s);
	for (size_t i = 0; i < COUNT(parts); i++)
		write_text(&trial.f, parts[i], "half");
	expect_line("temporary files", VERIFY, SL_OK, "");
	keep_batches(&trial.f, "out", BATCHES - 2);
	assert_int_equal(truncate(path_of("out/tiny_000005.h5"), 10), 0);
	expect_repair("leftovers", RUN RESUME);
	tree_read(&trial.f, &now);
	for (size_t i = now.n; i-- > 0;) /* an empty directory, and then one without a run.json */
		if (strncmp(now.file[i].name, "out/", 4) == 0)
			assert_int_equal(unlink(path_of(now.file[i].name)), 0);
	tree_free(&now);
	expect_line("an empty directory", RUN RESUME, SL_OK, "");
	remove_run(&trial.f, "out");
	assert_int_equal(mkdir(path_of("out"), 0777), 0);
	write_text(&trial.f, "out/LOCK", old_lock);
	write_text(&trial.f, "out/run.json.part", "{");
	expect_repair("a run that was killed early", RUN RESUME);
	trial_end();
}

TEST(finished_run_is_left_unchanged)
{
	static const struct scenario s = {"finished", RUN, VERIFY, NULL, NULL, 0};
	struct stat was, now;

	trial_begin(&s);
	assert_int_equal(stat(path_of("out/tiny_000005.h5"), &was), 0);
	expect_line("finished", RUN RESUME, SL_OK, "");
	assert_int_equal(stat(path_of("out/tiny_000005.h5"), &now), 0);
	assert_int_equal(was.st_ino, now.st_ino);
	assert_int_equal(was.st_mtim.tv_nsec, now.st_mtim.tv_nsec);
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
	strcpy(m.line[3].file, "thesis.tex");
	folder_write(&trial.f, "out/manifest.jsonl", line, sl_manifest_print(&m.line[3], line));
	sl_manifest_free(&m);
	check_row(&(struct row){"out/thesis.tex", RUN " --force --set run.name=u", SL_OK, "",
		"out/tiny_000003.h5"});
	trial_end();
}

/* Two configurations that differ only after 1100 characters of a line are different. */
TEST(long_configuration_lines_are_compared_completely)
{
	static const struct scenario s = {"long lines", "", "list", NULL, NULL, 0};
	static const char item[] =
		"hit and w > 0.00000000000000000000000000000000000000000000000000000000000000001, ";
	static char yaml[4096];

	trial_begin(&s);
	for (int i = 0; i < 2; i++) {
		size_t n;

		snprintf(yaml, sizeof(yaml), "%s", tree_find(&trial.before, "tiny.yaml")->bytes);
		n = (size_t)(strstr(yaml, "keep: hit") - yaml);
		n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "keep: [");
		for (int k = 0; k < 14; k++)
			n += (size_t)snprintf(yaml + n, sizeof(yaml) - n, "%s", item);
		snprintf(yaml + n, sizeof(yaml) - n, "hit and w > 0.%d]\n", i);
		write_text(&trial.f, "tiny.yaml", yaml);
		expect_line("long lines", i ? RUN RESUME : RUN, i ? SL_OUTPUT_IN_USE : SL_OK,
			i ? "another configuration" : "");
	}
	trial_end();
}

/* --- changes during a run --------------------------------------------------------------------- */

static void remove_manifest(void)
{
	assert_int_equal(unlink(path_of("out/manifest.jsonl")), 0);
}

static void append_to_manifest(void)
{
	FILE *f = fopen(path_of("out/manifest.jsonl"), "a");

	assert_non_null(f);
	fputs("mine\n", f);
	fclose(f);
}

static void truncate_manifest(void)
{
	assert_int_equal(truncate(path_of("out/manifest.jsonl"), 10), 0);
}

/* Another file with as many bytes. */
static void replace_manifest(void)
{
	size_t bytes;
	char *lines = folder_read(&trial.f, "out/manifest.jsonl", &bytes);

	memset(lines, 'x', bytes);
	remove_manifest();
	folder_write(&trial.f, "out/manifest.jsonl", lines, bytes);
	free(lines);
}

static void remove_report(void)
{
	assert_int_equal(unlink(path_of("out/run.json")), 0);
}

static void replace_report(void)
{
	remove_report();
	write_text(&trial.f, "out/run.json", "mine");
}

static void remove_lock(void)
{
	assert_int_equal(unlink(path_of("out/LOCK")), 0);
}

static void replace_lock(void)
{
	remove_lock();
	write_text(&trial.f, "out/LOCK", "");
}

static void rename_folder(void)
{
	assert_int_equal(rename(path_of("out"), path_of("moved")), 0);
}

static void remove_folder(void)
{
	remove_run(&trial.f, "out");
}

#define MANIFEST_CHANGED "manifest.jsonl was changed by another program"
#define REPORT_CHANGED   "run.json was changed or removed by another program"

/* At the first and the last commit, and twice at another call: the run ends with exit code 10, and can be resumed. */
TEST(changes_during_a_run_are_noticed)
{
	static const struct scenario s = {
		"changes", "", RUN " --set output.durable=end", NULL, NULL, THREADS};
	static const struct {
		void (*change)(void);
		const char *text;
		const char *calls;
	} rows[] = {
		{remove_manifest, MANIFEST_CHANGED, "file_append:1 file_append:6 file_rename:8"},
		{append_to_manifest, MANIFEST_CHANGED, "file_append:1 file_append:6"},
		{truncate_manifest, MANIFEST_CHANGED, "file_append:2 file_append:6"},
		{replace_manifest, MANIFEST_CHANGED, "file_append:2 file_append:6"},
		{remove_report, REPORT_CHANGED, "file_append:1 file_append:6"},
		{replace_report, REPORT_CHANGED, "file_append:1 file_append:6"},
		{remove_lock, "LOCK was removed or replaced", "file_append:1 file_append:6"},
		{remove_lock, "batch 3, writing: out/LOCK was removed", "file_append:3"},
		{replace_lock, "LOCK was removed or replaced", "file_append:1 file_append:6"},
		{rename_folder, "out was renamed or removed", "file_append:1 file_append:6"},
		{remove_folder, "out was renamed or removed", "file_append:1 file_append:6"},
	};

	trial_begin(&s);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (const char *call = rows[i].calls; *call; call += strspn(call, " ")) {
			struct fault fault = {.env = {fault.text, NULL}, .at_stop = rows[i].change};
			const size_t bytes = strcspn(call, " ");
			struct ending e;
			struct tree now;

			snprintf(fault.text, sizeof(fault.text), "SL_FAULT=%.*s:stop", (int)bytes,
				call);
			call += bytes;
			trial_run_changed(&fault, NULL, &e);
			if (e.code != SL_OUTPUT_IN_USE || !strstr(e.err, rows[i].text))
				fail_fault(
					&fault, "change %zu: exit code %d: %s", i, e.code, e.err);
			process_free(&e);
			if (folder_has(&trial.f, "moved"))
				assert_int_equal(rename(path_of("moved"), path_of("out")), 0);
			expect_line(
				rows[i].text, RUN " --set output.durable=end" RESUME, SL_OK, "");
			tree_read(&trial.f, &now);
			if (!trial_is_finished(&now))
				fail_fault(&fault,
					"change %zu: --resume does not give the undisturbed files",
					i);
			tree_restore(&trial.f, &now, &trial.before);
			tree_free(&now);
		}
	trial_end();
}

/* --- many batches ----------------------------------------------------------------------------- */

/*
 * Thousands of batches: run.json is longer than the size limit of a configuration. Sanitizers would find
 * nothing here that they do not find in a run of few batches.
 */
TEST(very_many_batches_resume)
{
	static const struct scenario s = {"many", "", "list", NULL, NULL, 0};
	const char *line =
		"run tiny.yaml --quiet --out out --resume --set run.particles=3000 --set run.batch=1 --set "
		"output.format=csv.gz";
	struct stat facts;

	if (is_quick())
		return;
	trial_begin(&s);
	expect_line("many batches", line, SL_OK, "");
	assert_int_equal(stat(path_of("out/run.json"), &facts), 0);
	assert_true(facts.st_size > 1 << 20);
	assert_int_equal(unlink(path_of("out/tiny_001234.csv.gz")), 0);
	expect_line("many batches", line, SL_OK, "");
	expect_line("many batches", VERIFY, SL_OK, "");
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
