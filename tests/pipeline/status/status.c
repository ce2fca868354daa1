/*
 * status.c - sluice status: the states of a run, its numbers, and that a run is never disturbed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "pipeline/status/status.h"
#include "primitives/base/threads.h"
#include "primitives/files/lock.h"
#include "tests/support/basic/check.h"
#include "tests/support/runs/reference_run.h"

enum { PARTICLES = 30000, BATCHES = 60, KEPT = 20 };

static const char text[] = "run: {name: t, seed: 7, particles: 30000, batch: 500, threads: 1}\n"
			   "model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
			   "keep: transmitted\n"
			   "output: {format: none}\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
}

static struct sl_run_status read_status(const char *out, double now)
{
	struct sl_run_status r;
	struct sl_dir dir;

	assert_ok(sl_dir_open(folder_path(&folder, out), false, &dir));
	assert_ok(sl_run_status_read(&dir, now, &r));
	sl_dir_close(&dir);
	return r;
}

/* Sets the time of the last change of a file, in seconds since 1970. */
static void set_time(const char *name, long seconds)
{
	const struct timeval times[2] = {{seconds, 0}, {seconds, 0}};

	assert_int_equal(utimes(folder_path(&folder, name), times), 0);
}

/* Makes "out": the run fails after that many further batches, with the state "running" in run.json. */
static void fail_after(unsigned batches)
{
	char fault[64];
	struct ending e;

	snprintf(fault, sizeof(fault), "SL_FAULT=file_append:%u+:28", batches + 1);
	call(&folder, (const char *const[]){fault, NULL},
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--resume"), &e);
	assert_int_equal(e.code, SL_DISK);
	process_free(&e);
	set_time("out/run.json", 1000000);
	set_time("out/manifest.jsonl", 1000100);
}

TEST(run_that_has_ended)
{
	struct sl_run_status r = read_status("whole", 2e9);
	char *printed = output_of(&folder, WORDS("status", "whole"));
	uint64_t before = folder_hash(folder_path(&folder, "whole"), NULL);

	assert_int_equal(r.state, SL_RUN_DONE);
	assert_string_equal(r.name, "t");
	assert_int_equal(r.batches, BATCHES);
	assert_int_equal(r.n_batches, BATCHES);
	assert_int_equal(r.particles, PARTICLES);
	assert_int_equal(r.n_particles, PARTICLES);
	assert_int_equal(r.lock.state, SL_LOCK_FREE);
	assert_true(r.survivors > 0 && r.rate > 0 && r.seconds_left < 0 && r.since_commit > 0);
	assert_non_null(strstr(printed, "whole: run t, done\nbatches     60 of 60\n"));
	assert_non_null(strstr(printed, "process     none\n"));
	free(printed);
	free(output_of(&folder, WORDS("status", "whole", "--json")));
	assert_true(folder_hash(folder_path(&folder, "whole"), NULL) == before);
}

/* The rate is that since the start of the session, and the end follows from it. */
TEST(run_in_progress)
{
	struct sl_run_status r;
	struct sl_dir held;

	fail_after(KEPT);
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &held));
	assert_ok(sl_dir_lock(&held));
	r = read_status("out", 1000110);
	assert_int_equal(r.state, SL_RUN_RUNNING);
	assert_int_equal(r.lock.state, SL_LOCK_HELD);
	assert_int_equal(r.batches, KEPT);
	assert_int_equal(r.n_batches, BATCHES);
	assert_true(r.rate == 10000 / 100.0);
	assert_true(r.since_commit == 10);
	assert_true(r.seconds_left == 20000 / r.rate - 10);
	/* overdue: not before now */
	assert_true(read_status("out", 1009999).seconds_left == 0);
	sl_dir_close(&held);
	/* a second session: its rate does not count the batches before it */
	fail_after(10);
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &held));
	assert_ok(sl_dir_lock(&held));
	r = read_status("out", 1000110);
	assert_int_equal(r.batches, KEPT + 10);
	assert_true(r.rate == 5000 / 100.0);
	sl_dir_close(&held);
	remove_run(&folder, "out");
}

TEST(run_without_a_process)
{
	char *printed, *report;
	struct sl_run_status r;
	size_t bytes;

	fail_after(KEPT);
	r = read_status("out", 1000110);
	assert_int_equal(r.state, SL_RUN_INTERRUPTED);
	assert_true(r.seconds_left < 0);
	printed = output_of(&folder, WORDS("status", "out"));
	assert_non_null(strstr(printed, "batches     20 of 60\n"));
	assert_non_null(strstr(printed, "sluice run --resume continues the run\n"));
	free(printed);
	/* LOCK of a process that was killed, and of one of another host */
	write_text(&folder, "out/LOCK", "pid 4194304 host here start 2026-01-02T03:04:05Z\n");
	assert_int_equal(read_status("out", 1000110).state, SL_RUN_RUNNING);
	printed = output_of(&folder, WORDS("status", "out"));
	assert_non_null(strstr(printed, "4194304 on here since 2026-01-02T03:04:05Z; whether"));
	free(printed);
	/* a run that a signal stopped */
	report = folder_read(&folder, "out/run.json", &bytes);
	memcpy(strstr(report, "\"running\""), "\"stopped\"", 9);
	folder_write(&folder, "out/run.json", report, bytes);
	free(report);
	assert_int_equal(read_status("out", 1000110).state, SL_RUN_STOPPED);
	remove_run(&folder, "out");
}

/* The last line of the manifest is incomplete while it is written, which is no damage. */
TEST(incomplete_line_is_no_damage)
{
	struct sl_dir held;
	struct stat facts;
	const char *path;

	fail_after(KEPT);
	path = folder_path(&folder, "out/manifest.jsonl");
	assert_int_equal(stat(path, &facts), 0);
	assert_int_equal(truncate(path, facts.st_size - 20), 0);
	assert_int_equal(read_status("out", 2e9).damaged, 1);
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &held));
	assert_ok(sl_dir_lock(&held));
	assert_int_equal(read_status("out", 2e9).damaged, 0);
	assert_int_equal(read_status("out", 2e9).batches, KEPT - 1);
	sl_dir_close(&held);
	remove_run(&folder, "out");
}

TEST(stop_rule_makes_the_size_a_limit)
{
	static const char rule[] = "stop={when: rel_error(transmitted) < 0.5, min_batches: 2}";
	struct sl_run_status r;
	struct ending e;

	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", rule));
	r = read_status("out", 2e9);
	assert_int_equal(r.state, SL_RUN_DONE);
	assert_true(r.batches < BATCHES && r.batches == r.n_batches && !r.at_most);
	remove_run(&folder, "out");
	call(&folder, (const char *const[]){"SL_FAULT=file_append:2+:28", NULL},
		WORDS("run", "c.yaml", "--out", "out", "--quiet", "--set", rule), &e);
	process_free(&e);
	r = read_status("out", 2e9);
	assert_int_equal(r.n_batches, BATCHES);
	assert_true(r.at_most);
	remove_run(&folder, "out");
}

TEST(folder_without_a_run_is_refused)
{
	struct sl_dir held;

	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
	expect(&folder, SL_BAD_INPUT, "out: has no run.json", WORDS("status", "out"));
	expect(&folder, SL_DISK, "nowhere", WORDS("status", "nowhere"));
	assert_ok(sl_dir_open(folder_path(&folder, "out"), false, &held));
	assert_ok(sl_dir_lock(&held));
	assert_int_equal(read_status("out", 2e9).state, SL_RUN_STARTING);
	sl_dir_close(&held);
	remove_run(&folder, "out");
}

static atomic_bool stop_reading;

/* ctx is the path of the run, because folder_path() is for one thread only. */
static void *read_again_and_again(void *ctx)
{
	struct sl_run_status r;
	struct sl_dir dir;

	if (sl_dir_open((const char *)ctx, false, &dir) != SL_OK)
		return NULL;
	while (!atomic_load(&stop_reading))
		(void)sl_run_status_read(&dir, 2e9, &r);
	sl_dir_close(&dir);
	return NULL;
}

/* A run that starts while its status is read must get the lock. */
TEST(lock_is_never_taken)
{
	struct sl_thread_handle reader;
	struct sl_dir d;
	char path[512];

	snprintf(path, sizeof(path), "%s", folder_path(&folder, "whole"));
	assert_int_equal(sl_thread_start(4 << 20, read_again_and_again, path, &reader), 0);
	for (int i = 0; i < 500; i++) {
		assert_ok(sl_dir_open(path, false, &d));
		assert_ok(sl_dir_lock(&d));
		sl_dir_close(&d);
	}
	atomic_store(&stop_reading, true);
	pthread_join(reader.id, NULL);
}
