/*
 * failed_devices.c - runs on three emulated devices of which some fail: the batches of a failed device are
 * computed on the others, with the bytes of a run in which nothing fails. The run ends with exit code 7
 * only when no device is left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/tiny_run.h"

/* Batches enough that each of three devices with two threads has several. */
enum { BATCHES = 12, CALLS_MOST = 400 };

#define DEVICES "--device", "emulated:3", "--slots", "2"

static const char *const staged[] = {DEVICES, "--mode", "staged", NULL};
static const char *const fused[] = {DEVICES, "--mode", "fused", NULL};
static const char *const packed[] = {DEVICES, "--set", "output.columns=[]", NULL};

static void make_run(struct tiny_run *t, const char *const *words)
{
	static const char *const records[] = {
		"--device", "cpu", "--set", "output.columns=[]", NULL};
	bool packs = words == packed;

	*t = (struct tiny_run){.threads = "6",
		.format = packs ? "mcpl" : "csv.gz",
		.batches = BATCHES,
		.more = packs ? records : NULL};
	tiny_make(t);
	t->more = words;
}

/* Runs with faults into "out"; the caller frees *e. Returns the number of committed batches. */
static unsigned run_with(struct tiny_run *t, const char *faults, struct ending *e)
{
	char fault[256];
	const char *const env[] = {fault, NULL};

	snprintf(fault, sizeof(fault), "SL_FAULT=%s", faults);
	snprintf(t->what, sizeof(t->what), "%.200s", fault);
	tiny_execute(t, env, NULL, "out", NULL, e);
	return tiny_check(t, "out", TINY_ENDED);
}

/* How many devices run.json of "out" reports as failed; all of its batches must be counted once. */
static unsigned failed_devices(struct tiny_run *t)
{
	size_t bytes, n = 0;
	char *json = folder_read(&t->folder, "out/run.json", &bytes);
	const char *at = strstr(json, "\"devices\"");
	unsigned failed, all = 0;

	assert_non_null(at);
	failed = (unsigned)times_in(at, "\"failure\"");
	for (; (at = strstr(at, "\"number\": ")) && n < 3; n++) {
		at = strstr(at, "\"batches\": ");
		assert_non_null(at);
		at += strlen("\"batches\": ");
		all += (unsigned)strtoul(at, NULL, 10);
	}
	if (all != t->batches)
		fail_msg("%s: the devices computed %u batches of %u", t->what, all, t->batches);
	free(json);
	return failed;
}

/* --- one device fails -------------------------------------------------------------------------- */

/*
 * Call k fails with error in a batch. Returns false if the run has fewer calls. The run must succeed; the
 * files are those of the reference run (tiny_check()).
 */
static bool lose_one(struct tiny_run *t, const char *call, unsigned k, int error)
{
	char fault[64];
	struct ending e;
	unsigned n, failed;

	snprintf(fault, sizeof(fault), "%s:%u:%d", call, k, error);
	n = run_with(t, fault, &e);
	tiny_check_ending(t, &e, 0, NULL, NULL);
	process_free(&e);
	assert_int_equal(n, t->batches);
	failed = failed_devices(t);
	assert_true(failed <= 1);
	tiny_remove(t, "out");
	return failed == 1;
}

/* Calls that are made for batches only, so that each of them can fail without ending the run. */
static const char *const calls[] = {"dev_record", "dev_sync", "dev_elapsed", "dev_copy", "dev_fill",
	"dev_launch", "dev_capture", "dev_graph", "dev_replay"};
enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

/* Call 1, 2, 4, 8, ... fails, permanently for its device or with an error of the call alone. */
static unsigned lose_each(const char *const *words, int error)
{
	unsigned lost = 0;
	struct tiny_run t;

	make_run(&t, words);
	for (int i = 0; i < N_CALLS; i++)
		for (unsigned k = 1; k < CALLS_MOST; k *= is_quick() ? 8 : 3)
			lost += lose_one(&t, calls[i], k, error);
	tiny_free(&t);
	return lost;
}

TEST(lost_device_changes_no_byte)
{
	unsigned runs;

	runs = lose_each(staged, SL_ERROR_ADDRESS);
	runs += lose_each(fused, SL_ERROR_LAUNCH);
	runs += lose_each(packed, SL_ERROR_LAUNCH);
	print_message("%u runs went on without a device that had failed\n", runs);
	assert_true(runs > 3 * 9);
}

/* A device whose call fails, or whose copy arrives with a flipped bit, is not used any more either. */
TEST(device_with_an_error_is_dropped)
{
	bool lost = false;
	struct tiny_run t;

	assert_true(lose_each(staged, SL_ERROR_VALUE) > 9);
	make_run(&t, fused);
	/* some copies are of counters, which are compared; which ones depends on the order of the threads */
	for (unsigned k = 5; k < CALLS_MOST && !lost; k++)
		lost = lose_one(&t, "dev_flip", k, 45);
	assert_true(lost);
	tiny_free(&t);
}

/*
 * Two batches, one for each of two devices: the threads of the device that ends first wait until the
 * other batch can no longer be lost.
 */
TEST(last_batch_is_computed_again)
{
	static const char *const two[] = {"--device", "emulated:2", "--slots", "1", NULL};
	struct tiny_run t = {.threads = "2", .format = "csv.gz", .batches = 2};
	unsigned k = 1;

	tiny_make(&t);
	t.more = two;
	while (lose_one(&t, "dev_elapsed", k, SL_ERROR_LAUNCH))
		k++;
	assert_true(k > 2 * 4); /* a batch has more than four times */
	tiny_free(&t);
}

/* A thread of a device cannot select it: the device is dropped before its first batch. */
TEST(device_that_cannot_be_selected_is_dropped)
{
	unsigned lost = 0;
	struct tiny_run t;
	struct ending e;

	make_run(&t, fused);
	/* three calls each of the configuration, the plan and the workspace precede those of the threads */
	for (unsigned k = 10; k <= 15; k += is_quick() ? 4 : 1)
		lost += lose_one(&t, "dev_use", k, SL_ERROR_LAUNCH);
	assert_int_equal(lost, is_quick() ? 2 : 6);
	run_with(&t, "dev_use:9:719", &e);
	tiny_check_ending(&t, &e, SL_DEVICE_FAILED, "selecting the device", NULL);
	process_free(&e);
	tiny_free(&t);
}

/* The summary names the device and its failure, without the advice for a run that has ended. */
TEST(summary_names_the_failed_device)
{
	static const char *const env[] = {"SL_FAULT=dev_sync:7:719", NULL};
	struct tiny_run t;
	struct ending e;

	make_run(&t, fused);
	call(&t.folder, env,
		WORDS("run", "tiny.yaml", "--set", "run.particles=2400", "--out", "out", DEVICES),
		&e);
	assert_int_equal(e.code, 0);
	assert_int_equal(
		times_in(e.out, ", then failed, and other devices computed the rest ("), 1);
	assert_int_equal(times_in(e.out, "error 719, a launch failed)\n"), 1);
	assert_int_equal(times_in(e.out, "\ndevice 2 computed "), 1);
	process_free(&e);
	tiny_free(&t);
}

/* --- no device is left ------------------------------------------------------------------------- */

/*
 * All devices fail, at once or one after another. Committed batches stay, and the run is resumed on other
 * devices with the bytes of the reference run.
 */
TEST(run_fails_when_no_device_is_left)
{
	static const char *const faults[] = {"dev_sync:9+:719", "dev_launch:1+:700",
		"dev_sync:5:719,dev_sync:12:719,dev_sync:18:719", "dev_copy:40+:1"};
	static struct tiny_states states;
	struct tiny_run t;
	struct ending e;

	make_run(&t, fused);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		unsigned n = run_with(&t, faults[i], &e);

		assert_true(n < BATCHES);
		tiny_check_ending(&t, &e, SL_DEVICE_FAILED,
			"no device is left: ", "the device returned error");
		process_free(&e);
		tiny_resume_once(&t, "out", &states);
	}
	tiny_free(&t);
}

/* Two of three devices fail: the last one computes all that is left. */
TEST(one_device_is_enough)
{
	struct tiny_run t;
	struct ending e;

	make_run(&t, staged);
	assert_int_equal(run_with(&t, "dev_sync:3:719,dev_record:40:700", &e), BATCHES);
	tiny_check_ending(&t, &e, 0, NULL, NULL);
	process_free(&e);
	assert_true(failed_devices(&t) >= 1 && failed_devices(&t) <= 2);
	tiny_free(&t);
}
