/*
 * schedule.c - runs with every schedule of rounds: identical files, consistent reports, printed
 * measurements, resume with another schedule, and device faults during rounds and measurements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/yaml.h"
#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/reference_run.h"

static const char text[] = "run: {name: t, seed: 7, particles: 3000, batch: 1000, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.3 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:9]\n"
			   "tallies: [steps:20:0..20]\n"
			   "output: {columns: [id, x, steps], format: csv.gz}\n";
enum { PARTICLES = 3000, BINS = 20 };

BEFORE_TESTS()
{
	reference_run_begin(text);
}

/* --- the report ------------------------------------------------------------------------------- */

static struct sl_yaml *tree;

static void parse_report(void)
{
	sl_yaml_free(tree);
	tree = report_of(&folder, "out");
}

static double number_of(sl_node parent, const char *key)
{
	return atof(sl_yaml_text(tree, sl_yaml_get(tree, parent, key), NULL));
}

/* Particles alive after k steps, from the histogram of steps: those with fewer steps have ended. */
static double alive_after_round(int k)
{
	sl_node at = sl_yaml_get(tree, sl_yaml_root(tree), "tallies"), fates, counts;
	double alive = PARTICLES;

	at = sl_yaml_item(tree, sl_yaml_get(tree, at, "histograms"), 0, NULL);
	fates = sl_yaml_get(tree, at, "fates");
	for (size_t f = 0; f < sl_yaml_size(tree, fates); f++) {
		counts = sl_yaml_get(tree, sl_yaml_item(tree, fates, f, NULL), "counts");
		for (int i = 0; i <= k; i++)
			alive -= atof(sl_yaml_text(
				tree, sl_yaml_item(tree, counts, (size_t)i, NULL), NULL));
	}
	return alive;
}

/* Checks the rounds of a run with one step per round and compaction after each round. */
static void expect_rounds(void)
{
	sl_node rounds = sl_yaml_get(tree, sl_yaml_root(tree), "rounds"), each;
	size_t n;

	assert_int_not_equal(rounds, 0);
	each = sl_yaml_get(tree, rounds, "each");
	n = sl_yaml_size(tree, each);
	assert_true(n > 5);
	assert_int_equal((int)number_of(rounds, "most"), (int)n);
	for (size_t i = 0; i < n; i++) {
		sl_node now = sl_yaml_item(tree, each, i, NULL);

		if (i + 1 < BINS)
			assert_int_equal(
				(int)number_of(now, "alive"), (int)alive_after_round((int)i + 1));
		assert_true(number_of(now, "advance_seconds") > 0);
		if (i + 1 < n)
			assert_int_equal(
				(int)number_of(sl_yaml_item(tree, each, i + 1, NULL), "particles"),
				(int)number_of(now, "alive"));
	}
}

TEST(rounds_in_the_report_are_consistent)
{
	static const char *const devices[] = {"cpu", "emulated"};

	for (int i = 0; i < 2; i++) {
		char *out = output_of(&folder,
			WORDS("run", "c.yaml", "--device", devices[i], "--out", "out", "--set",
				"transport={schedule: rounds, steps_per_launch: 1, compact: every, "
				"finish: never}"));

		assert_non_null(strstr(out, "\nround "));
		assert_non_null(strstr(out, " rounds processed "));
		free(out);
		assert_true(hash_run(&folder, "out") == reference_hash);
		parse_report();
		expect_rounds();
		assert_non_null(strstr(run_json(&folder, "out", "schedule"),
			"rounds of 1 steps, compact every, sort never, finish never"));
		remove_run(&folder, "out");
	}
}

/* --- every schedule --------------------------------------------------------------------------- */

TEST(every_schedule_gives_the_same_files)
{
	static const char *const devices[] = {"cpu", "emulated"};
	static const char *const sets[] = {"schedule: rounds", "schedule: measure",
		"schedule: auto",
		"schedule: rounds, steps_per_launch: 3, compact: every 2, finish: never",
		"schedule: rounds, compact: never, finish: alive < 30 %",
		"schedule: rounds, steps_per_launch: 2, sort: every 2, key: [w:8, z:8]",
		"schedule: rounds, steps_per_launch: 1, sort: alive < 0.7, key: [z:4:0 cm..0.3 cm]"};

	for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++)
		for (int i = 0; i < 2; i++) {
			char set[160];

			snprintf(set, sizeof(set), "transport={%s}", sets[k]);
			free(output_of(&folder, WORDS("run", "c.yaml", "--device", devices[i],
							"--out", "out", "--set", set)));
			if (hash_run(&folder, "out") != reference_hash)
				fail_msg("%s, %s: other files", devices[i], set);
			free(output_of(&folder, WORDS("verify", "out")));
			remove_run(&folder, "out");
		}
}

/* The printed configuration reads back to the same run. */
TEST(printed_configuration_reads_back)
{
	char *printed = output_of(&folder,
		     WORDS("run", "c.yaml", "--print-config", "--set",
			     "transport={schedule: rounds, sort: alive < 70 %, key: [z:4], "
			     "compact: every 3}")),
	     *again;

	write_text(&folder, "printed.yaml", printed);
	again = output_of(&folder, WORDS("run", "printed.yaml", "--print-config"));
	assert_string_equal(again, printed);
	assert_non_null(strstr(printed, "sort: \"alive < 70 %\""));
	free(printed);
	free(again);
}

/* Measurements appear in the text and in run.json; auto measures only on a GPU. */
TEST(measurements_are_reported)
{
	char *out = output_of(&folder, WORDS("run", "c.yaml", "--device", "emulated", "--out",
					       "out", "--set", "transport.schedule=measure"));
	const char *message = run_json(&folder, "out", "schedule_story");

	assert_non_null(strstr(out, message));
	assert_non_null(strstr(message, "measured, with 1000 particles: histories "));
	assert_non_null(strstr(message, " is the fastest"));
	assert_true(hash_run(&folder, "out") == reference_hash);
	free(out);
	remove_run(&folder, "out");
	out = output_of(&folder, WORDS("plan", "c.yaml", "--device", "emulated", "--set",
					 "transport.schedule=measure"));
	assert_non_null(
		strstr(out, "\nschedule    the fastest of "
			    "histories, histories staged, rounds of 16, rounds of 4, "
			    "measured with the first particles; memory suffices for each\n"));
	assert_non_null(strstr(out, "; or staged, if a staged schedule is faster\n"));
	assert_non_null(strstr(out, "compact shared, "));
	free(out);
	out = output_of(&folder, WORDS("plan", "c.yaml", "--device", "emulated"));
	assert_non_null(strstr(out, "\nschedule    histories: each particle to its end\n"));
	free(out);
}

/* A run that ended with a disk fault is resumed with another schedule and gives the same bytes. */
TEST(run_resumes_with_another_schedule)
{
	const char *const env[] = {"SL_FAULT=file_append:2:28", NULL};
	struct ending e;

	call(&folder, env,
		WORDS("run", "c.yaml", "--device", "cpu", "--out", "out", "--threads", "1"), &e);
	expect_ending(&e, SL_DISK, "", WORDS("run"));
	free(output_of(&folder, WORDS("run", "c.yaml", "--device", "emulated", "--out", "out",
					"--resume", "--set", "transport.schedule=rounds")));
	assert_true(hash_run(&folder, "out") == reference_hash);
	remove_run(&folder, "out");
}

/* --- device faults ---------------------------------------------------------------------------- */

#define SMALL "run.particles=300", "--set", "run.batch=300"

#define ROUNDS                                                                              \
	"transport={schedule: rounds, steps_per_launch: 2, compact: every, sort: every 3, " \
	"key: [z:8], finish: alive < 0.1}"

/*
 * Fails call k of this name, checks the result and resumes. Returns false if the run did not fail:
 * a run of one batch with this transport makes fewer calls.
 */
static bool fail_call(const char *transport, const char *name, unsigned k, uint64_t expected)
{
	char fault[64];
	const char *const env[] = {fault, NULL};
	const char *const *words = WORDS("run", "c.yaml", "--device", "emulated", "--mode",
		"staged", "--threads", "1", "--out", "out", "--set", SMALL, "--set", transport);
	struct ending e;
	bool failed;

	snprintf(fault, sizeof(fault), "SL_FAULT=%s:%u:%d", name, k, SL_ERROR_LAUNCH);
	call(&folder, env, words, &e);
	failed = e.code != 0;
	expect_ending(&e, failed ? SL_DEVICE_FAILED : 0, failed ? "error 719" : "", words);
	if (failed && folder_has(&folder, "out"))
		free(output_of(&folder, WORDS("run", "c.yaml", "--device", "cpu", "--out", "out",
						"--resume", "--set", SMALL)));
	if (folder_has(&folder, "out")) {
		if (hash_run(&folder, "out") != expected)
			fail_msg("%s: other files", fault);
		remove_run(&folder, "out");
	}
	return failed;
}

/*
 * Every device call of a batch in rounds fails, once per run; each name must have at least `least`
 * calls. The failed runs are resumed with histories on the CPU.
 */
TEST(device_faults_leave_resumable_runs)
{
	static const struct {
		const char *name;
		unsigned least;
	} calls[] = {{"dev_event", 15}, {"dev_record", 30}, {"dev_sync", 6}, {"dev_elapsed", 15},
		{"dev_copy", 15}, {"dev_fill", 6}, {"dev_launch", 20}};
	uint64_t expected;

	free(output_of(&folder,
		WORDS("run", "c.yaml", "--device", "cpu", "--out", "small", "--set", SMALL)));
	expected = hash_run(&folder, "small");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		unsigned k = 1, failed = 0;

		while (fail_call(ROUNDS, calls[i].name, k, expected)) {
			failed++;
			k = (unsigned)sl_sampling_next(k, UINT64_MAX);
		}
		if (sl_sampling_step(failed) < calls[i].least)
			fail_msg("%s made a run fail %u times, there are at least %u calls",
				calls[i].name, failed, calls[i].least);
	}
	/* device pipelines are opened again for each mode that is measured */
	assert_true(fail_call("transport={schedule: measure}", "dev_event", 40, expected));
	assert_true(fail_call("transport={schedule: measure}", "dev_stream", 4, expected));
	assert_true(fail_call("transport={schedule: measure}", "dev_launch", 30, expected));
}
