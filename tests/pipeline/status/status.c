/*
 * status.c - rate and end of a run in progress at a given time, and that a run is never disturbed. What sluice status
 * prints: tests/text/status.txt.
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

TEST(run_that_has_only_its_lock)
{
	struct sl_dir held;

	assert_int_equal(mkdir(folder_path(&folder, "out"), 0777), 0);
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
