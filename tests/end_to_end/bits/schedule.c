/* schedule.c - device faults during rounds and measurements of schedules. */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/reference_run.h"

static const char text[] = "run: {name: t, seed: 7, particles: 3000, batch: 1000, threads: 2}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.3 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:9]\n"
			   "tallies: [steps:20:0..20]\n"
			   "output: {columns: [id, x, steps], format: csv.gz}\n";

BEFORE_TESTS()
{
	reference_run_begin(text);
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
