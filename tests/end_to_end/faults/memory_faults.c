/*
 * memory_faults.c - every allocation of a run fails, once and permanently.
 *
 * All allocations of the process after start-up count, including those of libraries. A run with a
 * failed allocation ends with the right bytes or with a message. HDF5 may terminate the process,
 * which this program cannot prevent; even then committed batches are valid, and --resume gives the
 * bytes of an uninterrupted run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/runs/tiny_run.h"

enum { BATCHES = 2, CHILDREN = 2, PERMANENT_STEP = 7 };

/* If HDF5 has no memory to report its own error, it calls exit(-1). */
enum { HDF5_EXIT = 255 };

/* The outcomes of the runs, and the folder states from which --resume was already tested. */
struct outcome {
	unsigned succeeded, failed, crashed;
	struct tiny_states states;
};

/* --- checking the outcome ------------------------------------------------------------------ */

static void check_outcome(
	struct tiny_run *t, const char *out, const struct ending *e, struct outcome *outcome)
{
	bool crashed = e->code < 0 || e->code == HDF5_EXIT;
	unsigned n = tiny_check(t, out, crashed ? TINY_KILLED : TINY_ENDED);

	if (e->timed_out)
		fail_msg("%s: did not end", t->what);
	if (e->code == 0 && n != t->batches)
		fail_msg("%s: exit code 0, but %u batches", t->what, n);
	if (e->code > 0 && !crashed && !strstr(e->err, "sluice: "))
		fail_msg("%s: exit code %d without a message: %s", t->what, e->code, e->err);
	if (crashed && strcmp(t->format, "openpmd") != 0)
		fail_msg("%s: crashed (exit code %d, signal %d), and the format does not use HDF5",
			t->what, e->code, e->signal);
	/* lack of memory inside libc or the kernel is reported as a failed call */
	if (e->code > 0 && !crashed && e->code != SL_HOST_MEMORY && e->code != SL_DISK)
		fail_msg("%s: exit code %d for lack of memory: %s", t->what, e->code, e->err);
	outcome->succeeded += e->code == 0;
	outcome->failed += e->code > 0 && !crashed;
	outcome->crashed += crashed;
	tiny_resume_once(t, out, &outcome->states);
}

/* --- running ------------------------------------------------------------------------------- */

/* A child process whose allocations are counted. */
struct child {
	char out[16], fail_at[32], what[64];
	const char *env[5];
	struct tiny_command command;
	struct running running;
};

static const char *preload(void)
{
	static char text[4096];

	snprintf(text, sizeof(text), "LD_PRELOAD=%s", getenv("SLUICE_FAILING_MALLOC"));
	return text;
}

static void start(
	struct tiny_run *t, struct child *c, unsigned slot, unsigned long k, bool permanent)
{
	snprintf(c->out, sizeof(c->out), "out%u", slot);
	snprintf(c->fail_at, sizeof(c->fail_at), "FAIL_AT=%lu", k);
	snprintf(c->what, sizeof(c->what), "%s, %s%s", t->format, c->fail_at,
		permanent ? " and all after it" : "");
	c->env[0] = preload();
	c->env[1] = c->fail_at;
	c->env[2] = permanent ? "FAIL_ON=1" : NULL;
	c->env[3] = NULL;
	tiny_command(t, c->env, NULL, c->out, NULL, &c->command);
	process_start(&c->command.process, &c->running);
}

static void end(struct tiny_run *t, struct child *c, struct outcome *outcome)
{
	struct ending e;

	process_wait(&c->running, HANG_SECONDS, &e);
	snprintf(t->what, sizeof(t->what), "%s", c->what);
	check_outcome(t, c->out, &e, outcome);
	process_free(&e);
}

/*
 * Fails allocation first, then first + each, ...; several in parallel. The environment may skip
 * some of them (sampling.h).
 */
static void fail_every_allocation(
	struct tiny_run *t, unsigned long first, unsigned long last, uint32_t each, bool permanent)
{
	static struct child child[CHILDREN];
	struct outcome outcome = {.succeeded = 0};
	unsigned long started = first, step = sl_sampling_step(each);

	for (unsigned i = 0; i < CHILDREN && started <= last; i++, started += step)
		start(t, &child[i], i, started, permanent);
	for (unsigned i = 0; first <= last; first += step, i = (i + 1) % CHILDREN) {
		end(t, &child[i], &outcome);
		if (started <= last)
			start(t, &child[i], i, started, permanent);
		started += step;
	}
	print_message(
		"%s, %s of allocations up to %lu, %s: %u succeeded, %u failed with a message, "
		"%u crashed in HDF5; %zu states resumed\n",
		t->format, step == 1 ? "each" : "some", last,
		permanent ? "and all after it" : "once", outcome.succeeded, outcome.failed,
		outcome.crashed, outcome.states.n);
	assert_true(outcome.failed > 0);
}

/* The number of allocations that the process printed when it ended (failing_malloc.c). */
static unsigned long allocations_of(const struct ending *e)
{
	const char *at = strstr(e->err, "allocs ");

	if (e->code != 0 || !at)
		fail_msg("exit code %d: %s", e->code, e->err);
	return strtoul(at + 7, NULL, 10);
}

/* Allocations of the program for a command that does nothing with the configuration. */
static unsigned long allocations_at_start(void)
{
	const char *const env[] = {preload(), "FAIL_COUNT=1", NULL};
	const char *const words[] = {"sluice", "list", NULL};
	struct ending e;
	unsigned long n;

	process_run(&(struct process){.argv = words, .env = env}, HANG_SECONDS, &e);
	n = allocations_of(&e);
	process_free(&e);
	return n;
}

static unsigned long allocations_of_run(struct tiny_run *t)
{
	const char *const env[] = {preload(), "FAIL_COUNT=1", NULL};
	struct ending e;
	unsigned long n;

	tiny_execute(t, env, NULL, "out", NULL, &e);
	n = allocations_of(&e);
	process_free(&e);
	tiny_remove(t, "out");
	return n;
}

static void fail_every_allocation_of_format(const char *format)
{
	struct tiny_run t = {.threads = "1", .format = format, .batches = BATCHES};
	unsigned long first = allocations_at_start() + 1, last;

	tiny_make(&t);
	last = allocations_of_run(&t);
	fail_every_allocation(&t, first, last, 1, false);
	fail_every_allocation(&t, first, last, PERMANENT_STEP, true);
	tiny_free(&t);
}

TEST(every_allocation_of_a_csv_run_fails)
{
	fail_every_allocation_of_format("csv.gz");
}

TEST(every_allocation_of_an_openpmd_run_fails)
{
	fail_every_allocation_of_format("openpmd");
}

/* Allocations of this program, through its own layer: exit code 5 and a message each time. */
TEST(allocations_of_the_program_fail)
{
	struct tiny_run t = {.threads = "3", .format = "openpmd", .batches = BATCHES};
	struct outcome outcome = {.succeeded = 0};

	tiny_make(&t);
	for (unsigned k = 1; outcome.succeeded == 0; k++) {
		char fault[64];
		const char *const env[] = {fault, NULL};
		struct ending e;

		snprintf(fault, sizeof(fault), "SL_FAULT=host_malloc:%u:12", k);
		snprintf(t.what, sizeof(t.what), "%s", fault);
		tiny_execute(&t, env, NULL, "out", NULL, &e);
		if (e.code != 0)
			tiny_check_ending(
				&t, &e, SL_HOST_MEMORY, "host memory: ", "bytes requested");
		check_outcome(&t, "out", &e, &outcome);
		process_free(&e);
	}
	print_message("host_malloc: %u failed, each with exit code 5\n", outcome.failed);
	assert_true(outcome.failed > 10);
	tiny_free(&t);
}

/*
 * Every seventh allocation of verify fails, the more allocations of child processes included: lack of
 * memory is never reported as a damaged run.
 */
static void verify_without_memory(const char *format, unsigned long more)
{
	struct tiny_run t = {.threads = "1", .format = format, .batches = BATCHES};
	char fail_at[32] = "FAIL_COUNT=1";
	const char *const env[] = {preload(), fail_at, NULL};
	const char *const words[] = {"sluice", "verify", "out", "--quiet", NULL};
	const struct process verify = {.argv = words, .env = env, .folder = t.folder.path};
	unsigned long k = allocations_at_start() + 1, last;
	unsigned failed = 0;
	struct ending e;

	tiny_make(&t);
	tiny_execute(&t, NULL, NULL, "out", NULL, &e);
	process_free(&e);
	process_run(&verify, HANG_SECONDS, &e);
	last = allocations_of(&e) + more;
	process_free(&e);
	for (; k <= last; k += sl_sampling_step(7)) {
		snprintf(fail_at, sizeof(fail_at), "FAIL_AT=%lu", k);
		process_run(&verify, HANG_SECONDS, &e);
		failed += e.code == SL_HOST_MEMORY;
		if (e.code != 0 && e.code != SL_HOST_MEMORY)
			fail_msg("verify, %s: exit code %d: %s", fail_at, e.code, e.err);
		process_free(&e);
	}
	print_message("verify: %u failed allocations, each with exit code 5\n", failed);
	assert_true(sl_sampling_step(failed) > 50);
	tiny_free(&t);
}

TEST(failed_allocations_of_verify_are_not_reported_as_damage)
{
	verify_without_memory("csv.gz", 0);
	verify_without_memory("openpmd", 2000);
}

/*
 * A text that the program collects in memory is printed whole or not at all. A stream that loses a
 * part without an error gives a shorter text and exit code 0.
 */
TEST(texts_in_memory_are_whole)
{
	char fail_at[32] = "FAIL_COUNT=1";
	const char *const env[] = {preload(), fail_at, NULL};
	const char *const words[] = {"sluice", "help", "--markdown", NULL};
	const struct process help = {.argv = words, .env = env};
	unsigned long k = allocations_at_start() + 1, last;
	struct ending whole, e;
	unsigned failed = 0;

	process_run(&help, HANG_SECONDS, &whole);
	last = allocations_of(&whole);
	for (; k <= last; k++) {
		snprintf(fail_at, sizeof(fail_at), "FAIL_AT=%lu", k);
		process_run(&help, HANG_SECONDS, &e);
		failed += e.code == SL_HOST_MEMORY;
		if (e.code != 0 && e.code != SL_HOST_MEMORY)
			fail_msg("%s: exit code %d: %s", fail_at, e.code, e.err);
		if (e.code == 0 && strcmp(e.out, whole.out) != 0)
			fail_msg("%s: exit code 0 and %zu bytes of %zu", fail_at, e.out_bytes,
				whole.out_bytes);
		process_free(&e);
	}
	process_free(&whole);
	print_message("help: %u failed allocations, each with exit code 5\n", failed);
	assert_true(failed >= 3);
}

BEFORE_TESTS()
{
	skip_without_failing_malloc();
}
