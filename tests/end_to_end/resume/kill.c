/*
 * kill.c - SIGKILL at every system call that changes a file, and at random moments.
 *
 * After each kill no damaged file has a final name, and --resume gives the bytes of an
 * uninterrupted run. SLUICE_MOMENTS=20 sets the number of random moments for each kind of run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "tests/cases/sampling.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/tiny_run.h"
#include "tests/support/program/ptrace_run.h"

enum {
	BATCHES = 3,
	LONG_BATCHES = 60,
	MANY_BATCHES = 100,
	DEVICE_BATCHES = 12,
	MOMENTS = 50,
	FEW_MOMENTS = 16,
	MOMENTS_EACH = 10,
	MOMENTS_JOINED = 3,
	KILLED = 128 + SIGKILL
};

/* Stop rules that end the run early, and the number of batches after which they do. */
enum { ENDS_AT = 2, LONG_ENDS_AT = 44 };
static const char *const ends_early[] = {
	"--device", "cpu", "--set", "stop={when: rel_error(hit) < 0.9, min_batches: 2}", NULL};
static const char *const long_ends_early[] = {
	"--device", "cpu", "--set", "stop=rel_error(hit) < 1.6 %", NULL};

/* MCPL files have fixed columns. */
static const char *const of_mcpl[] = {"--device", "cpu", "--set", "output.columns=[]", NULL};
static const char *const joined[] = {
	"--device", "cpu", "--set", "output.columns=[]", "--set", "output.joined=true", NULL};
static const char *const in_order[] = {"--device", "cpu", "--set", "output.columns=[]", "--set",
	"output.order=run", "--set", "output.sample=20", NULL};

/* An initial state, and the run from it that is killed. */
struct sweep {
	const char *name;
	const char *last; /* last argument: NULL, --resume or --force */
	enum tiny_end how;
	void (*prepare)(struct tiny_run *t);
};

/* The line number of the first line of the log with this call and text, from 1; 0 for none. */
static unsigned long find_call(
	const struct tiny_run *t, const char *call, const char *text, unsigned long *lines)
{
	size_t bytes;
	char *log = folder_read(&t->folder, "log", &bytes), *end, *line = log;
	unsigned long found = 0;

	for (*lines = 0; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		++*lines;
		if (!found && strncmp(line, call, strlen(call)) == 0 && strstr(line, text))
			found = *lines;
	}
	free(log);
	return found;
}

/* --- initial states ------------------------------------------------------------------------ */

static void start_empty(struct tiny_run *t)
{
	tiny_remove(t, "out");
}

/*
 * All that a killed run can leave, together: a file without a manifest line, an incomplete line, and
 * temporary files.
 */
static void start_interrupted(struct tiny_run *t)
{
	static unsigned long at; /* the fsync of the folder after the rename of the second file */
	unsigned long lines;
	struct ending e;
	FILE *manifest;

	start_empty(t);
	if (at == 0) {
		tiny_execute_traced(t, 0, false, 0, NULL, &e);
		process_free(&e);
		at = find_call(t, "renameat2 ", " tiny_000001.h5 ", &lines) + 1;
		assert_true(at > 1);
		start_empty(t);
	}
	tiny_execute_traced(t, at, false, 0, NULL, &e);
	tiny_check_ending(t, &e, KILLED, NULL, NULL);
	process_free(&e);
	folder_write(&t->folder, "out/tiny_000002.h5.part", "half", 4);
	folder_write(&t->folder, "out/run.json.part", "half", 4);
	manifest = fopen(folder_path(&t->folder, "out/manifest.jsonl"), "a");
	assert_non_null(manifest);
	fputs("{\"batch\":1,", manifest);
	assert_int_equal(fclose(manifest), 0);
}

static void start_finished(struct tiny_run *t)
{
	struct ending e;

	start_empty(t);
	tiny_execute(t, NULL, NULL, "out", NULL, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
}

/* --- a kill at every call ------------------------------------------------------------------ */

static unsigned long count_calls(struct tiny_run *t, const struct sweep *s)
{
	unsigned long lines;
	struct ending e;

	s->prepare(t);
	tiny_execute_traced(t, 0, false, 0, s->last, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	find_call(t, "", "", &lines);
	return lines;
}

static void kill_at_each(struct tiny_run *t, const struct sweep *s)
{
	unsigned long n = count_calls(t, s);
	struct ending e;

	assert_true(n > 20);
	for (unsigned long k = 1; k <= n; k = sl_sampling_next(k, n)) {
		s->prepare(t);
		snprintf(t->what, sizeof(t->what), "%s, %s threads, killed at call %lu of %lu",
			s->name, t->threads, k, n);
		tiny_execute_traced(t, k, false, 0, s->last, &e);
		tiny_check_ending(t, &e, KILLED, NULL, NULL);
		process_free(&e);
		tiny_check(t, "out", s->how);
		tiny_resume(t, "out");
	}
	print_message("%s, %s threads: killed at each (or a share) of %lu calls\n", s->name,
		t->threads, n);
}

TEST(kill_at_every_call)
{
	static const struct sweep sweeps[] = {
		{"a run", NULL, TINY_KILLED, start_empty},
		{"a resumed run", "--resume", TINY_KILLED, start_interrupted},
		{"a run replaced", "--force", TINY_REPLACING, start_finished},
	};
	static const char *const threads[] = {"1", "3"};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct tiny_run t = {
			.threads = threads[i], .format = "openpmd", .batches = BATCHES};

		tiny_make(&t);
		/*
		 * Only the calls during a run depend on the number of threads; those of --resume
		 * and --force before and after it are made by one thread.
		 */
		for (size_t k = 0; k < (i == 0 ? sizeof(sweeps) / sizeof(sweeps[0]) : 1); k++)
			kill_at_each(&t, &sweeps[k]);
		tiny_free(&t);
	}
}

TEST(kill_at_every_call_of_a_run_that_ends_early)
{
	static const struct sweep sweep = {"a run that ends early", NULL, TINY_KILLED, start_empty};
	struct tiny_run t = {.threads = "3",
		.format = "openpmd",
		.batches = BATCHES,
		.ends_at = ENDS_AT,
		.more = ends_early};

	tiny_make(&t);
	kill_at_each(&t, &sweep);
	tiny_free(&t);
}

TEST(kill_at_every_call_of_a_run_with_a_merged_list)
{
	static const struct sweep sweep = {
		"a run of lists, joined", NULL, TINY_KILLED, start_empty};
	struct tiny_run t = {
		.threads = "1", .format = "mcpl.gz", .batches = BATCHES, .more = joined};

	tiny_make(&t);
	kill_at_each(&t, &sweep);
	tiny_free(&t);
}

/* --- random moments ------------------------------------------------------------------------ */

/* Pseudo-random numbers in 0 .. 1 from a fixed seed (Numerical Recipes' ranqd1, upper bits). */
static double random_fraction(void)
{
	static uint32_t state = 20240607;

	state = state * 1664525u + 1013904223u;
	return (double)(state >> 8) / (1 << 24);
}

/* Number of moments: the argument, or SLUICE_MOMENTS if it is set. */
static uint64_t moments(uint64_t default_number)
{
	const char *setting = getenv("SLUICE_MOMENTS");
	uint64_t n = setting ? strtoull(setting, NULL, 10) : 0;

	return n > 0 ? n : default_number;
}

/* Runs the program and kills it after this time, unless it ended before. */
static void run_for(struct tiny_run *t, const char *last, double seconds)
{
	struct tiny_command c;
	struct running r;
	struct ending e;

	tiny_command(t, NULL, NULL, "out", last, &c);
	process_start(&c.process, &r);
	sleep_for(seconds);
	kill(r.pid, SIGKILL);
	process_wait(&r, HANG_SECONDS, &e);
	if (e.signal != SIGKILL)
		tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
}

/* Each run is killed, resumed, killed again, and resumed to its end. */
static void kill_at_moments(struct tiny_run *t, unsigned batches, uint64_t times)
{
	unsigned between = 0, n_moments = 0;
	double start, length;
	struct ending e;

	tiny_make(t);
	start = seconds_now();
	tiny_execute(t, NULL, NULL, "out", NULL, &e);
	length = seconds_now() - start;
	process_free(&e);
	tiny_remove(t, "out");
	for (uint64_t i = 0; i < times; i += sl_sampling_step(1), n_moments++) {
		double first = random_fraction() * length, second = random_fraction() * length;
		unsigned n;

		snprintf(t->what, sizeof(t->what), "killed after %.6f s, then after %.6f s", first,
			second);
		run_for(t, NULL, first);
		n = tiny_check(t, "out", TINY_KILLED);
		between += n > 0 && n < batches;
		run_for(t, "--resume", second);
		tiny_check(t, "out", TINY_KILLED);
		tiny_resume(t, "out");
	}
	print_message("%s: killed at %u random moments of %.3f s, %u of them between batches\n",
		t->format, n_moments, length, between);
	/* about half are expected; with few moments, chance may give none */
	assert_true(n_moments < FEW_MOMENTS || between > n_moments / 8);
	tiny_free(t);
}

TEST(kill_at_random_moments)
{
	struct tiny_run t = {.threads = "2", .format = "openpmd", .batches = LONG_BATCHES};

	kill_at_moments(&t, LONG_BATCHES, moments(MOMENTS));
}

/* Six threads have two writers, so a batch can be written before an earlier one is committed. */
TEST(kill_at_random_moments_of_a_run_that_ends_early)
{
	struct tiny_run t = {.threads = "6",
		.format = "openpmd",
		.batches = LONG_BATCHES,
		.ends_at = LONG_ENDS_AT,
		.more = long_ends_early};

	kill_at_moments(&t, LONG_ENDS_AT, moments(FEW_MOMENTS));
}

/*
 * Columns or records are compressed on the device, three batches at a time, and written by six
 * threads.
 */
TEST(kill_at_random_moments_on_a_device)
{
	static const char *const formats[] = {"openpmd", "npz", "mcpl.gz"};
	static const char *const more[] = {"--device", "emulated", "--sort", "naive", "--deflate",
		"device", "--set", "output.columns=[]", NULL};

	for (int i = 0; i < 3; i++) {
		struct tiny_run t = {.threads = "6",
			.format = formats[i],
			.batches = DEVICE_BATCHES,
			.more = more};

		kill_at_moments(&t, DEVICE_BATCHES, moments(MOMENTS_EACH / 5));
	}
}

/* These formats are faster than HDF5, so the runs have more batches. */
static void kill_at_random_moments_of(
	const struct sl_format *format, const char *const *more, uint64_t times)
{
	struct tiny_run t = {
		.threads = "2", .format = format->name, .batches = MANY_BATCHES, .more = more};

	kill_at_moments(&t, MANY_BATCHES, moments(times));
}

TEST(kill_at_random_moments_of_each_format)
{
	for (size_t i = 0; sl_formats[i]; i++)
		if (sl_formats[i] != &sl_format_openpmd)
			kill_at_random_moments_of(sl_formats[i],
				sl_format_is_mcpl(sl_formats[i]) ? of_mcpl : NULL, MOMENTS_EACH);
}

TEST(kill_at_random_moments_of_a_merged_list)
{
	kill_at_random_moments_of(&sl_format_mcpl, joined, MOMENTS_JOINED);
	kill_at_random_moments_of(&sl_format_mcpl_gz, joined, MOMENTS_JOINED);
	kill_at_random_moments_of(&sl_format_mcpl, in_order, MOMENTS_JOINED);
}

TEST_FILE(argc, argv)
{
	return ptrace_main(argc, argv);
}
