/*
 * allocations.c - between the plan and the commit of the last batch, nothing is allocated.
 *
 * The program prints the number of its allocations before each commit (support/program/process.h):
 * run.json at the start, each batch, run.json at the end.
 *
 * Before the first batch come the one block of the run, one allocation by pthread_create per thread
 * with glibc (two are accepted). After the last batch libyaml allocates while it reads the
 * manifest. The process that makes HDF5 files is not counted;
 * tests/stages/formats/hdf5/hdf5_writer.c tests it.
 */
#include <stdlib.h>

#include "tests/support/basic/skip.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { BATCHES = 13, MARKS_MAX = 64, YAML_PER_LINE = 1000 };

static const char text[] =
	"run: {name: t, seed: 7, particles: 2600, batch: 200, device: cpu}\n"
	"model:\n"
	"  source_detector:\n"
	"    source:   {type: disk, radius: 0.4 cm}\n"
	"    detector: {type: rectangle, distance: 4 cm, width: 6 cm, height: 6 cm, pixels: [8, 8]}\n"
	"    energy:   {type: lines, lines: [26.3 keV, 59.5 keV], intensities: [2.4, 35.9]}\n"
	"keep: hit\n"
	"key: [pixel:6, energy:8]\n"
	"output: {columns: []}\n";

static void check_no_allocation(const char *format, const char *threads)
{
	static const char *const env[] = {"FAIL_MARKS=1", "FAIL_COUNT=1", NULL};
	unsigned long n_threads = strtoul(threads, NULL, 10) + 1; /* and the writer */
	unsigned long count[MARKS_MAX];
	size_t n = 0;
	struct ending e;

	call(&folder, env,
		WORDS("run", "c.yaml", "--quiet", "--out", format + strlen("output.format="),
			"--threads", threads, "--set", format),
		&e);
	for (const char *at = e.err; (at = strstr(at, "allocs ")) != NULL; n++) {
		assert_true(n < MARKS_MAX);
		at += strlen("allocs ");
		count[n] = strtoul(at, NULL, 10);
	}
	if (e.code != 0)
		fail_msg("exit code %d: %s", e.code, e.err);
	process_free(&e);
	remove_run(&folder, format + strlen("output.format="));
	assert_true(n >= BATCHES + 3);
	print_message("%s, %lu threads: %lu, %lu and %lu allocations\n", format, n_threads,
		count[1] - count[0], count[BATCHES] - count[1], count[n - 1] - count[BATCHES]);
	assert_true(count[1] - count[0] <= 1 + 2 * n_threads);
	assert_int_equal(count[BATCHES], count[1]);
	assert_true(count[n - 1] - count[BATCHES] <= BATCHES * YAML_PER_LINE);
}

TEST(batches_allocate_nothing)
{
	static const char *const rows[][2] = {{"output.format=csv.gz", "1"},
		{"output.format=csv.gz", "2"}, {"output.format=csv.gz", "4"},
		{"output.format=npz", "2"}, {"output.format=openpmd", "2"},
		{"output.format=mcpl", "2"}, {"output.format=mcpl.gz", "2"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_no_allocation(rows[i][0], rows[i][1]);
}

BEFORE_TESTS()
{
	skip_without_failing_malloc();
	write_text(&folder, "c.yaml", text);
}
