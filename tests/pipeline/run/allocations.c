/*
 * allocations.c - between the plan and the commit of the last batch, nothing is allocated.
 *
 * A preloaded library records the number of allocations of the process before each commit: run.json
 * at the start, each batch, run.json at the end.
 *
 * Before the first batch come the one block of the run, one allocation by pthread_create per thread
 * with glibc (two are accepted). After the last batch libyaml allocates while it reads the manifest.
 * The process that makes HDF5 files is not counted; tests/stages/formats/hdf5/hdf5_writer.c tests it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"
#include "tests/support/runs/tiny_run.h"

enum { BATCHES = 13, MARKS_MAX = 64, YAML_PER_LINE = 1000 };

/* Counts at each commit of a run and at its end. */
struct marks {
	unsigned long count[MARKS_MAX];
	size_t n;
};

static void parse_counts(const char *text, struct marks *m)
{
	for (m->n = 0; (text = strstr(text, "allocs ")) != NULL; m->n++) {
		assert_true(m->n < MARKS_MAX);
		text += strlen("allocs ");
		m->count[m->n] = strtoul(text, NULL, 10);
	}
}

static void count_allocations(struct tiny_run *t, struct marks *m)
{
	char preload[4096];
	const char *const env[] = {preload, "FAIL_MARKS=1", "FAIL_COUNT=1", NULL};
	struct ending e;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", getenv("SLUICE_FAILING_MALLOC"));
	tiny_make(t);
	tiny_execute(t, env, NULL, "out", NULL, &e);
	tiny_check_ending(t, &e, 0, "allocs ", NULL);
	parse_counts(e.err, m);
	process_free(&e);
	tiny_free(t);
	assert_true(m->n >= BATCHES + 3);
}

static void check_no_allocation(const char *format, const char *threads, const char *const *more)
{
	struct tiny_run t = {
		.threads = threads, .format = format, .batches = BATCHES, .more = more};
	unsigned long n_threads = strtoul(threads, NULL, 10) + 1; /* and the writer */
	struct marks m;

	count_allocations(&t, &m);
	print_message("%s, %lu threads: %lu allocations before the first of %d batches, %lu from "
		      "it to the last, %lu after it\n",
		format, n_threads, m.count[1] - m.count[0], BATCHES, m.count[BATCHES] - m.count[1],
		m.count[m.n - 1] - m.count[BATCHES]);
	assert_true(m.count[1] - m.count[0] <= 1 + 2 * n_threads);
	assert_int_equal(m.count[BATCHES], m.count[1]);
	assert_true(m.count[m.n - 1] - m.count[BATCHES] <= BATCHES * YAML_PER_LINE);
}

TEST(batches_allocate_nothing)
{
	static const char *const threads[] = {"1", "2", "4"};
	static const char *const of_mcpl[] = {
		"--device", "cpu", "--set", "output.columns=[]", NULL};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		check_no_allocation("csv.gz", threads[i], NULL);
	check_no_allocation("npz", "2", NULL);
	check_no_allocation("openpmd", "2", NULL);
	check_no_allocation("mcpl", "2", of_mcpl);
	check_no_allocation("mcpl.gz", "2", of_mcpl);
}

BEFORE_TESTS()
{
	skip_without_failing_malloc();
}
