/*
 * disk_calls.c - every system call of a run that changes files fails, once and permanently
 * (ptrace_run.h), with the outcome required by disk_check.h; and the order of these calls.
 */
#include <errno.h>
#include <stdio.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/runs/disk_check.h"
#include "tests/support/program/ptrace_run.h"

enum { CALLS_MAX = 4000 };

/* --- calls that fail -------------------------------------------------------------------------- */

/* One line of the tracer's log. */
struct call {
	char name[16], path[256];
	int fd;
	long result;
};

static size_t read_log(const struct tiny_run *t, struct call all[CALLS_MAX])
{
	FILE *log = fopen(folder_path(&t->folder, "log"), "r");
	size_t n = 0;

	assert_non_null(log);
	while (n < CALLS_MAX && fscanf(log, "%15s %d %255s %ld\n", all[n].name, &all[n].fd,
					all[n].path, &all[n].result) == 4)
		n++;
	assert_true(feof(log) && n < CALLS_MAX);
	fclose(log);
	return n;
}

static bool is_sync(const struct call *c)
{
	return strcmp(c->name, "fsync") == 0 || strcmp(c->name, "fdatasync") == 0;
}

/* A failed sync is not repeated: a second sync would succeed although pages are lost. */
static void check_no_second_sync(const struct tiny_run *t)
{
	static struct call all[CALLS_MAX];
	size_t n = read_log(t, all);
	bool failed = false;

	for (size_t i = 0; i < n; i++) {
		if (failed && is_sync(&all[i]))
			fail_msg("%s: a sync was repeated after a failure", t->what);
		failed |= is_sync(&all[i]) && all[i].result < 0;
	}
}

static void fail_changing_calls(struct tiny_run *t, int error, bool permanent)
{
	static struct call all[CALLS_MAX];
	struct disk_failures failures = {.failed = 0};
	struct ending e;
	size_t n;

	tiny_execute_traced(t, 0, false, error, NULL, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	n = read_log(t, all);
	tiny_remove(t, "out");
	for (size_t k = 1; k <= n; k = sl_sampling_next(k, n)) {
		snprintf(t->what, sizeof(t->what), "call %zu%s of %zu, %.15s, fails with errno %d",
			k, permanent ? "+" : "", n, all[k - 1].name, error);
		tiny_execute_traced(t, k, permanent, error, NULL, &e);
		if (!permanent && is_sync(&all[k - 1]))
			check_no_second_sync(t);
		check_disk_failure(t, "out", TINY_ENDED, &e, error, &failures);
		process_free(&e);
	}
	print_message("%s threads, the k-th system call%s, errno %d: %u failed, %u succeeded\n",
		t->threads, permanent ? " and all after it" : "", error, failures.failed,
		failures.succeeded);
	assert_true(sl_sampling_step(failures.failed) > 20);
}

TEST(file_changing_calls_fail)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = BATCHES};

	tiny_make(&t);
	fail_changing_calls(&t, ENOSPC, false);
	fail_changing_calls(&t, ENOSPC, true);
	fail_changing_calls(&t, EIO, false);
	tiny_free(&t);
}

/* --- calls that read ------------------------------------------------------------------------ */

/*
 * Fails each call, those that read included. With resume, out has two batches of three before; a
 * call that fails must not lose them.
 */
static void fail_any_call(struct tiny_run *t, int error, bool resume)
{
	static const char *const stopped[] = {"SL_FAULT=file_append:3:5", NULL};
	static struct call all[CALLS_MAX];
	const char *last = resume ? "--resume" : NULL;
	struct disk_failures failures = {.failed = 0};
	size_t n = 1;

	for (size_t k = 0; k <= n; k = k ? sl_sampling_next(k, n) : 1) {
		unsigned batches;
		struct ending e;

		if (resume) {
			tiny_execute(t, stopped, NULL, "out", NULL, &e);
			process_free(&e);
		}
		tiny_execute_traced_all(t, k, error, last, &e);
		if (k == 0) {
			n = read_log(t, all);
			tiny_check_ending(t, &e, 0, NULL, NULL);
			assert_true(n > 60);
		}
		snprintf(t->what, sizeof(t->what),
			"%s, call %zu of %zu, %.15s %.80s, fails with errno %d",
			resume ? "resume" : "run", k, n, k ? all[k - 1].name : "",
			k ? all[k - 1].path : "", error);
		batches = check_disk_failure(t, "out", TINY_ENDED, &e, error, &failures);
		if (resume && batches < 2)
			fail_msg("%s: %u of 2 batches are left", t->what, batches);
		process_free(&e);
	}
	print_message("%s, any call of %zu, errno %d: %u failed, %u succeeded\n",
		resume ? "resume" : "run", n, error, failures.failed, failures.succeeded);
	assert_true(sl_sampling_step(failures.failed) > 30);
}

TEST(read_calls_fail)
{
	struct tiny_run t = {.threads = "1", .format = "openpmd", .batches = BATCHES};

	tiny_make(&t);
	fail_any_call(&t, EIO, false);
	fail_any_call(&t, EIO, true);
	tiny_free(&t);
}

/* --- order --------------------------------------------------------------------------------- */

/* Requires the next call to have this name and, unless NULL, this path. */
static const struct call *expect(
	const struct call **at, const struct call *end, const char *name, const char *path)
{
	const struct call *c = *at;

	if (c == end)
		fail_msg("the log ends, but %s %s was expected", name, path ? path : "");
	if (strcmp(c->name, name) != 0 || (path && strcmp(c->path, path) != 0) || c->result < 0)
		fail_msg("the call is %s %s = %ld, but %s %s was expected", c->name, c->path,
			c->result, name, path ? path : "");
	++*at;
	return c;
}

/* Expects write, fsync(file), rename, fsync(folder), manifest line, fdatasync, and no other call. */
static void expect_batch(const struct call **at, const struct call *end, unsigned number)
{
	char part[64], name[64];
	const struct call *opened, *renamed, *line;

	snprintf(part, sizeof(part), "tiny_%06u.h5.part", number);
	snprintf(name, sizeof(name), "tiny_%06u.h5", number);
	opened = expect(at, end, "openat", part);
	do
		assert_int_equal(expect(at, end, "write", NULL)->fd, opened->result);
	while (*at < end && strcmp((*at)->name, "write") == 0);
	assert_int_equal(expect(at, end, "fsync", NULL)->fd, opened->result);
	renamed = expect(at, end, "renameat2", name);
	assert_int_equal(expect(at, end, "fsync", NULL)->fd, renamed->fd);
	if (number == 0)
		expect(at, end, "openat", "manifest.jsonl");
	line = expect(at, end, "write", NULL);
	assert_int_equal(expect(at, end, "fdatasync", NULL)->fd, line->fd);
	if (number == 0) /* the folder has a new entry */
		assert_int_equal(expect(at, end, "fsync", NULL)->fd, renamed->fd);
}

TEST(calls_are_in_the_documented_order)
{
	static struct call all[CALLS_MAX];
	struct tiny_run t = {.threads = "3", .format = "openpmd", .batches = BATCHES};
	const struct call *at = all, *end;
	struct ending e;

	tiny_make(&t);
	tiny_execute_traced(&t, 0, false, 0, NULL, &e);
	process_free(&e);
	end = all + read_log(&t, all);
	while (at < end && strcmp(at->path, "tiny_000000.h5.part") != 0)
		at++;
	for (unsigned i = 0; i < BATCHES; i++) {
		if (at < end && strcmp(at->name, "unlinkat") == 0)
			at++; /* removal of files that a killed run may have left */
		expect_batch(&at, end, i);
	}
	tiny_free(&t);
}

TEST_FILE(argc, argv)
{
	return ptrace_main(argc, argv);
}
