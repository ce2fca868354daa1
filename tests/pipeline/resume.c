/*
 * resume.c - a run that was interrupted or damaged is gone on with, and ends with the bytes of an
 * unbroken one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/whole.h"

enum { BATCHES = 60 };

static const char text[] = "run: {name: t, seed: 7, particles: 300000, batch: 5000, threads: 2}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:16]\n";

static int begin(void **state)
{
	(void)state;
	whole_begin(text);
	write_slow(&folder, "slow.yaml");
	return 0;
}

/* --resume brings "out" to what an unbroken run is. */
static void finish(void)
{
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume", "--quiet"));
	assert_int_equal(hash_run(&folder, "out"), unbroken);
	assert_string_equal(run_json(&folder, "out", "state"), "done");
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

/* Seconds that are promised. A sanitizer's build may take more, on a machine that does much else.
 */
static int within(int seconds)
{
	return be_quick() ? 20 * seconds : seconds;
}

/* --- signals ------------------------------------------------------------------------------- */

static size_t lines_in(const char *name)
{
	FILE *f = fopen(folder_path(&folder, name), "r");
	size_t lines = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		lines += c == '\n';
	if (f)
		fclose(f);
	return lines;
}

/* Starts a run into "out" and waits until it has begun and so many batches are committed. */
static void start(const char *const *words, size_t batches, struct running *r)
{
	const struct process p = {.argv = words, .folder = folder.path};

	process_start(&p, r);
	for (int i = 0; i < 60000; i++) {
		if (folder_has(&folder, "out/run.json") &&
			lines_in("out/manifest.jsonl") >= batches)
			return;
		sleep_for(1e-3);
	}
	fail_msg("the run does not get to %zu batches", batches);
}

static void interrupt_at(int signal, size_t batches)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out");
	struct running r;
	struct ending e;
	size_t committed;

	start(words, batches, &r);
	assert_int_equal(kill(r.pid, signal), 0);
	process_wait(&r, within(10), &e);
	expect_ending(&e, 128 + signal, "--resume", words);
	committed = lines_in("out/manifest.jsonl");
	assert_string_equal(run_json(&folder, "out", "state"), "stopped");
	assert_in_range(committed, batches, BATCHES - 1);
	assert_false(hash_run(&folder, "out") == unbroken);
	expect(&folder, SL_CHECK_FAILED, "go on with --resume", WORDS("verify", "out"));
	finish();
}

/* With sanitizers each at another moment. */
static void signals(void **state)
{
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	static const size_t moments[] = {0, 1, 12, 25};

	(void)state;
	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++)
			if (!be_quick() || i == k)
				interrupt_at(stopping[i], moments[k]);
}

/* Stopped again and again, it gets there. */
static void many_stops(void **state)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--resume");

	(void)state;
	for (size_t k = 1; k < BATCHES; k += 12) {
		struct running r;
		struct ending e;

		start(words, k, &r);
		assert_int_equal(kill(r.pid, SIGINT), 0);
		process_wait(&r, within(10), &e);
		expect_ending(&e, 128 + SIGINT, "--resume", words);
	}
	finish();
}

/* A batch of minutes is dropped; a second signal does not wait for that. */
static void long_batches(void **state)
{
	const char *const *words = WORDS("run", "slow.yaml", "--out", "out");

	(void)state;
	for (int signals_sent = 1; signals_sent <= 2; signals_sent++) {
		double began;
		struct running r;
		struct ending e;

		start(words, 0, &r);
		sleep_for(0.3);
		began = seconds_now();
		assert_int_equal(kill(r.pid, SIGTERM), 0);
		if (signals_sent == 2) {
			sleep_for(0.2);
			assert_int_equal(kill(r.pid, SIGINT), 0);
		}
		process_wait(&r, within(30), &e);
		began = seconds_now() - began;
		expect_ending(&e, 128 + (signals_sent == 2 ? SIGINT : SIGTERM), "", words);
		assert_true(began < within(signals_sent == 2 ? 2 : 10));
		assert_false(folder_has(&folder, "out/t_000000.h5"));
		assert_int_equal(lines_in("out/manifest.jsonl"), 0);
		remove_run(&folder, "out");
	}
}

/* The time that a batch queue allows is kept to, and costs nothing where it is not reached. */
static void time_is_up(void **state)
{
	const char *const *words =
		WORDS("run", "slow.yaml", "--out", "out", "--stop-before", "3 s");
	struct running r;
	struct ending e;
	size_t committed;

	(void)state;
	start(words, 0, &r);
	process_wait(&r, within(4), &e);
	expect_ending(&e, SL_STOPPED, "0 of 1 batches committed (its time is nearly up)", words);
	assert_string_equal(run_json(&folder, "out", "state"), "stopped");
	remove_run(&folder, "out");

	words = WORDS("run", "c.yaml", "--out", "out", "--stop-before", "4 s", "--set",
		"run.particles=4e8", "--set", "run.batch=2e5");
	start(words, 1, &r);
	process_wait(&r, within(5), &e);
	expect_ending(&e, SL_STOPPED, "its time is nearly up", words);
	committed = lines_in("out/manifest.jsonl");
	assert_true(committed > 1);
	expect(&folder, SL_CHECK_FAILED, "go on with --resume", WORDS("verify", "out"));
	remove_run(&folder, "out");

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--stop-before", "1000 s"));
	finish();
	expect(&folder, SL_USAGE, "run.stop_before",
		WORDS("run", "c.yaml", "--out", "out", "--stop-before", "10"));
}

/* What has nothing to end in order ends at the first signal. */
static void verify_is_interrupted(void **state)
{
	const struct process p = {.argv = WORDS("verify", "whole"), .folder = folder.path};
	struct running r;
	struct ending e;

	(void)state;
	process_start(&p, &r);
	sleep_for(0.05);
	kill(r.pid, SIGINT);
	process_wait(&r, within(10), &e);
	assert_false(e.timed_out);
	/* before the handler stands, the signal itself ends it; after the end it comes too late */
	assert_true(e.code == 128 + SIGINT || e.signal == SIGINT || e.code == SL_OK);
	process_free(&e);
}

/* Under nohup a hangup is nothing. */
static void nohup(void **state)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet");
	struct sigaction ignore = {.sa_handler = SIG_IGN}, was;
	struct running r;
	struct ending e;

	(void)state;
	sigaction(SIGHUP, &ignore, &was);
	start(words, 2, &r);
	sigaction(SIGHUP, &was, NULL);
	kill(r.pid, SIGHUP);
	process_wait(&r, HANG_SECONDS, &e);
	expect_ending(&e, SL_OK, "", words);
	assert_int_equal(hash_run(&folder, "out"), unbroken);
	remove_run(&folder, "out");
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

/* Rewrites the manifest from its lines; edit may change a line or drop it by making it empty. */
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

/* A count becomes another; the checksum of the line is as it was. */
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
	write_text(&folder, "out/t_000077.h5.part", "half");
	write_text(&folder, "out/t_000078.h5", "an orphan");
	write_text(&folder, "out/run.json.part", "{");
	write_text(&folder, "out/manifest.jsonl.part", "{");
}

struct damage {
	const char *name;
	void (*make)(void);
	int code;         /* of verify */
	const char *says; /* verify */
};

static const struct damage damages[] = {
	{"a file removed", remove_file, SL_DISK, "t_000007.h5"},
	{"a byte flipped", flip_byte, SL_CHECK_FAILED, "t_000031.h5"},
	{"a file cut", truncate_file, SL_CHECK_FAILED, "t_000000.h5"},
	{"two files swapped", swap_files, SL_CHECK_FAILED, "t_000003.h5"},
	{"a line removed", remove_middle_line, SL_CHECK_FAILED, "59 of 60 batches"},
	{"a count edited", edit_count, SL_CHECK_FAILED, "1 lines are damaged"},
	{"the last line torn", tear_last_line, SL_CHECK_FAILED, "1 lines are damaged"},
	{"no manifest", remove_manifest, SL_CHECK_FAILED, "0 of 60 batches"},
	{"parts and orphans left", leave_parts, SL_OK, ""},
};

static void any_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		const struct damage *d = &damages[i];

		copy_run(&folder, "whole", "out");
		d->make();
		if (hash_run(&folder, "out") == unbroken)
			fail_msg("%s: nothing was damaged", d->name);
		expect(&folder, d->code, d->says, WORDS("verify", "out"));
		finish();
	}
}

/* --- what there is already ----------------------------------------------------------------- */

static void another_configuration(void **state)
{
	static const char *const changes[][2] = {
		{"run.seed=8", "\"seed: 7\" where this one has \"seed: 8\""},
		{"run.batch=6000", "\"batch: 5000\" where this one has \"batch: 6000\""},
		{"key=[w:17]", "w:16"},
		{"model.slab.g=0.5", "\"g: 0\" where this one has \"g: 0.5\""},
		{"output.level=2", "\"level: 1\" where this one has \"level: 2\""},
	};
	uint64_t before;

	(void)state;
	copy_run(&folder, "whole", "out");
	before = folder_hash(folder_path(&folder, "out"), NULL);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		expect(&folder, SL_OUTPUT_IN_USE, changes[i][1],
			WORDS("run", "c.yaml", "--out", "out", "--resume", "--set", changes[i][0]));
	expect(&folder, SL_OUTPUT_IN_USE, "holds a run already",
		WORDS("run", "c.yaml", "--out", "out"));
	assert_int_equal(folder_hash(folder_path(&folder, "out"), NULL), before);
	/* what does not change a bit may change */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--resume", "--threads", "1", "--compact",
			"cpu_scan"));
	finish();
}

static void nothing_there(void **state)
{
	(void)state;
	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	finish();
	finish(); /* no folder at all */
}

static void finished_already(void **state)
{
	struct stat was, is;

	(void)state;
	copy_run(&folder, "whole", "out");
	assert_int_equal(stat(folder_path(&folder, "out/t_000059.h5"), &was), 0);
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--resume"));
	assert_int_equal(stat(folder_path(&folder, "out/t_000059.h5"), &is), 0);
	assert_int_equal(was.st_ino, is.st_ino);
	assert_int_equal(was.st_mtim.tv_nsec, is.st_mtim.tv_nsec);
	finish();
}

static void replaced(void **state)
{
	(void)state;
	copy_run(&folder, "whole", "out");
	leave_parts();
	write_text(&folder, "out/notes.txt", "mine");
	write_text(&folder, "out/t_12.h5", "mine");
	write_text(&folder, "out/tt_000000.h5", "mine");
	write_text(&folder, "out/t_000000.h5.bak", "mine");
	/* of another name and format, so nothing of the old run may be left */
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--force", "--set", "run.name=u", "--set",
			"output.format=csv.gz", "--set", "run.particles=7000", "--quiet"));
	for (size_t i = 0; i < BATCHES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "out/t_%06zu.h5", i);
		assert_false(folder_has(&folder, name));
	}
	assert_false(folder_has(&folder, "out/t.xdmf"));
	assert_false(folder_has(&folder, "out/t_000078.h5"));
	assert_false(folder_has(&folder, "out/t_000009.h5.part"));
	assert_true(folder_has(&folder, "out/u_000001.csv.gz"));
	/* and back again */
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "out", "--force", "--quiet"));
	assert_false(folder_has(&folder, "out/u_000001.csv.gz"));
	assert_true(folder_has(&folder, "out/notes.txt"));
	assert_true(folder_has(&folder, "out/t_12.h5"));
	assert_true(folder_has(&folder, "out/tt_000000.h5"));
	assert_true(folder_has(&folder, "out/t_000000.h5.bak"));
	assert_int_equal(unlink(folder_path(&folder, "out/notes.txt")) |
				 unlink(folder_path(&folder, "out/t_12.h5")) |
				 unlink(folder_path(&folder, "out/tt_000000.h5")) |
				 unlink(folder_path(&folder, "out/t_000000.h5.bak")),
		0);
	finish();
}

/* A file that no run.json vouches for is somebody's; it is seen before the first particle. */
static void names_are_taken(void **state)
{
	static const char *const taken[] = {"out/t_000050.h5", "out/t.xdmf"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
		write_text(&folder, taken[i], "mine");
		expect(&folder, SL_OUTPUT_IN_USE, taken[i] + 4,
			WORDS("run", "c.yaml", "--out", "out"));
		expect(&folder, SL_OUTPUT_IN_USE, taken[i] + 4,
			WORDS("run", "c.yaml", "--out", "out", "--resume"));
		assert_false(folder_has(&folder, "out/run.json"));
		assert_true(folder_has(&folder, taken[i]));
		remove_run(&folder, "out");
	}
}

/* Thousands of batches: run.json is longer than any configuration may be. */
static void very_many_batches(void **state)
{
	const char *const *words = WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume",
		"--set", "run.particles=3000", "--set", "run.batch=1", "--set",
		"output.format=csv.gz");
	struct stat facts;

	(void)state;
	expect(&folder, SL_OK, "", words);
	assert_int_equal(stat(folder_path(&folder, "out/run.json"), &facts), 0);
	assert_true(facts.st_size > 1 << 20);
	assert_int_equal(unlink(folder_path(&folder, "out/t_001234.csv.gz")), 0);
	expect(&folder, SL_OK, "", words);
	expect(&folder, SL_OK, "", WORDS("verify", "out", "--quiet"));
	remove_run(&folder, "out");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals),
		cmocka_unit_test(many_stops),
		cmocka_unit_test(long_batches),
		cmocka_unit_test(time_is_up),
		cmocka_unit_test(verify_is_interrupted),
		cmocka_unit_test(nohup),
		cmocka_unit_test(any_damage),
		cmocka_unit_test(another_configuration),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(finished_already),
		cmocka_unit_test(replaced),
		cmocka_unit_test(names_are_taken),
		cmocka_unit_test(very_many_batches),
	};

	return cmocka_run_group_tests(tests, begin, folder_end);
}
