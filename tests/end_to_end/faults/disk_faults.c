/*
 * disk_faults.c - every call of a run to the file layer fails, once and permanently (SL_FAULT),
 * with the outcome required by disk_check.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/runs/disk_check.h"

/* The calls of the file layer, and the least number of each that a run of three batches makes. */
static const struct {
	const char *name;
	unsigned least;
} calls[] = {
	{"file_open", 12},
	{"file_write", 5},
	{"file_fsync", 5},
	{"file_close", 9},
	{"file_rename", 5},
	{"file_link", 0},
	{"file_dirsync", 6},
	{"file_append", 3},
	{"file_datasync", 3},
	{"file_stat", 4},
	{"file_read", 2},
	{"file_remove", 0},
	{"dir_make", 1},
	{"dir_lock", 1},
	{"dir_sign", 1},
	{"dir_read", 1},
	{"dir_space", 1},
};

/*
 * The initial state of a fault series, and the last argument of the command that meets the fault.
 */
struct start {
	const char *name, *last;
	void (*prepare)(struct tiny_run *t);
	enum tiny_end how; /* how the existing run ended */
	unsigned passes;   /* number of consecutive runs without a fault that ends the series */
};

static void start_empty(struct tiny_run *t)
{
	tiny_remove(t, "out");
}

/* Two batches, the second without its manifest line, and one partial file. */
static void start_interrupted(struct tiny_run *t)
{
	static const char *const fault[] = {"SL_FAULT=file_datasync:2:5", NULL};
	const char *second =
		strcmp(t->format, "openpmd") == 0 ? "tiny_000001.h5" : "tiny_000001.csv.gz";
	char name[64];
	struct ending e;
	size_t bytes;
	char *file;

	tiny_remove(t, "out");
	tiny_execute(t, fault, NULL, "out", NULL, &e);
	tiny_check_ending(t, &e, SL_DISK, NULL, NULL);
	process_free(&e);
	snprintf(name, sizeof(name), "whole/%s", second);
	file = folder_read(&t->folder, name, &bytes);
	snprintf(name, sizeof(name), "out/%s", second);
	folder_write(&t->folder, name, file, bytes);
	free(file);
	folder_write(&t->folder, "out/tiny_000002.h5.part", "half", 4);
}

/* Fails the k-th call of this name for k = 1, 2, 3, ...; if permanent, all later ones too. */
static void fail_each_call(struct tiny_run *t, const struct start *s, const char *call, int error,
	bool permanent, struct disk_failures *failures)
{
	unsigned before = 0;

	for (uint64_t k = 1, next, passes = 0; passes < s->passes; k = next) {
		char fault[64];
		const char *const env[] = {fault, NULL};
		struct ending e;
		unsigned n;

		snprintf(fault, sizeof(fault), "SL_FAULT=%s:%" PRIu64 "%s:%d", call, k,
			permanent ? "+" : "", error);
		snprintf(
			t->what, sizeof(t->what), "%s, %s threads, %s", s->name, t->threads, fault);
		s->prepare(t);
		tiny_execute(t, env, NULL, "out", s->last, &e);
		next = sl_sampling_next(k, UINT64_MAX);
		passes = e.code == 0 ? passes + next - k : 0;
		n = check_disk_failure(t, "out", s->how, &e, error, failures);
		process_free(&e);
		if (passes)
			continue;
		/*
		 * One writer writes and commits the batches in order. With several writers, the
		 * fault may hit any batch.
		 */
		if (n < before && t->batches == BATCHES)
			fail_msg("%s: %u batches are left, but an earlier fault left %u", t->what,
				n, before);
		before = n;
		/* the manifest line of the failed batch is removed */
		if (!s->last && strcmp(call, "file_datasync") == 0 && n != k - 1)
			fail_msg("%s: %u batches are left", t->what, n);
	}
}

static void sweep_calls(const struct start *s, const char *threads, const char *format, int error)
{
	struct tiny_run t = {.threads = threads, .format = format, .batches = BATCHES};
	struct disk_failures failures = {.failed = 0};

	tiny_make(&t);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const bool sampled = sl_sampling_step(1) > 1;
		unsigned failed = failures.failed, found;

		fail_each_call(&t, s, calls[i].name, error, false, &failures);
		found = failures.failed - failed;
		if (!s->last && sl_sampling_step(found + sampled) < calls[i].least)
			fail_msg("%s: %s made a run fail %u times, there are at least %u calls",
				s->name, calls[i].name, found, calls[i].least);
		fail_each_call(&t, s, calls[i].name, error, true, &failures);
	}
	tiny_free(&t);
	print_message("%s, %s threads, %s: %u failed, %u succeeded\n", s->name, threads,
		strerrorname_np(error), failures.failed, failures.succeeded);
	assert_true(sl_sampling_step(failures.failed) > 50);
}

TEST(calls_of_a_run_fail)
{
	static const struct start fresh = {"a run", NULL, start_empty, TINY_ENDED, 3};

	sweep_calls(&fresh, "1", "openpmd", ENOSPC);
	sweep_calls(&fresh, "3", "csv.gz", EIO);
	sweep_calls(&fresh, "3", "openpmd", EDQUOT);
}

/* Six threads have two writers: later batches are written before earlier ones are committed. */
TEST(calls_of_two_writers_fail)
{
	static const struct start fresh = {"a run", NULL, start_empty, TINY_ENDED, 3};
	static const char *const names[] = {
		"file_open", "file_write", "file_fsync", "file_close", "file_rename"};
	struct tiny_run t = {.threads = "6", .format = "openpmd", .batches = 2 * BATCHES};
	struct disk_failures failures = {.failed = 0};

	tiny_make(&t);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fail_each_call(&t, &fresh, names[i], ENOSPC, i % 2 == 1, &failures);
	tiny_free(&t);
	print_message(
		"two writers: %u failed, %u succeeded\n", failures.failed, failures.succeeded);
	assert_true(sl_sampling_step(failures.failed) > 8 * BATCHES);
}

TEST(calls_of_a_resume_fail)
{
	static const struct start resumed = {
		"a resumed run", "--resume", start_interrupted, TINY_KILLED, 4};

	sweep_calls(&resumed, "1", "openpmd", EIO);
}

/* Histograms add one file per batch and one at the end; each rename may fail. */
TEST(calls_fail_in_a_run_with_histograms)
{
	static const struct start fresh = {
		"a run with histograms", NULL, start_empty, TINY_ENDED, 3};
	static const char *const more[] = {"--device", "cpu", "--set", "tallies=[w:2]", NULL};
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES, .more = more};
	struct disk_failures failures = {.failed = 0};

	tiny_make(&t);
	fail_each_call(&t, &fresh, "file_rename", ENOSPC, false, &failures);
	/* run.json twice, two files a batch, NAME.xdmf and NAME.tallies */
	assert_true(sl_sampling_step(failures.failed) >= 2 + 2 * BATCHES + 2);
	tiny_free(&t);
}
