/*
 * device_faults.c - every device call fails, once and permanently; and every copy from the device
 * arrives with one flipped bit.
 *
 * Each run ends with the documented exit code and a message, leaves no partial files, and keeps the
 * committed batches. --resume on the device in either mode or on the CPU gives the bytes of an
 * uninterrupted run. The device is the emulated one; SL_FAULT injects the faults.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device_driver.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/tiny_run.h"

/*
 * In fused mode the first batch is queued directly and the second is captured; later batches are
 * graph launches (device_pipeline.h).
 */
enum { BATCHES = 3, BEFORE_GRAPH = 2, CALLS_MOST = 5000, COPIES_MOST = 80 };

/* The settings of the device run, of the other mode, and of the CPU run. */
struct setting {
	const char *threads;
	const char *const *words, *const *other;
	const char *format;
	const char *const *on_cpu; /* NULL: no change */
};

#define STAGED(...)                                                                        \
	(const char *const[])                                                              \
	{                                                                                  \
		"--device", "emulated", "--scan", "naive", "--compact", "naive", "--sort", \
			"naive", "--slots", __VA_ARGS__, NULL                              \
	}

#define FUSED(...)                                                                       \
	(const char *const[])                                                            \
	{                                                                                \
		"--device", "emulated", "--mode", "fused", "--sort", "naive", "--slots", \
			__VA_ARGS__, NULL                                                \
	}

/* Settings that give the same calls in the same order each time. */
static const struct setting single_staged = {"1", STAGED("1"), FUSED("1"), "csv.gz", NULL};
static const struct setting single_fused = {"1", FUSED("1"), STAGED("1"), "csv.gz", NULL};

/* Columns are compressed on the device, and by the host implementation when the CPU resumes. */
static const struct setting single_packed = {"1", FUSED("1", "--deflate", "device"),
	STAGED("1", "--deflate", "device"), "openpmd",
	(const char *const[]){"--device", "cpu", "--deflate", "cpu", NULL}};

/* Only packed records are copied from the device. */
static const struct setting single_records = {"1", FUSED("1", "--set", "output.columns=[]"),
	STAGED("1", "--set", "output.columns=[]"), "mcpl",
	(const char *const[]){"--device", "cpu", "--set", "output.columns=[]", NULL}};

/* Numbers of runs, and the states of folders that were resumed in the same mode, the other mode, and on the CPU. */
struct outcome {
	const struct setting *setting;
	unsigned failed, runs;
	struct tiny_states on_device, other, on_cpu;
};

static void make_run(struct tiny_run *t, const struct setting *s)
{
	*t = (struct tiny_run){
		.threads = s->threads, .format = s->format, .batches = BATCHES, .more = s->on_cpu};
	tiny_make(t);
	t->more = s->words;
}

/*
 * Resumes out on the device (unless this state was tried before), in the other mode, and then on
 * the CPU.
 */
static void resume_and_check(struct tiny_run *t, struct outcome *outcome)
{
	const char *const *words = t->more;

	if (!tiny_is_known(t, "out", &outcome->on_device)) {
		tiny_resume_once(t, "out", &outcome->on_device);
	} else if (!tiny_is_known(t, "out", &outcome->other)) {
		t->more = outcome->setting->other;
		tiny_resume_once(t, "out", &outcome->other);
	} else {
		t->more = outcome->setting->on_cpu;
		tiny_resume_once(t, "out", &outcome->on_cpu);
	}
	t->more = words;
}

/* --- calls that fail ----------------------------------------------------------------------- */

/* When a call is made: at any time; before the output folder exists; for a batch. */
enum when { ANY, BEFORE_OUTPUT, IN_BATCH };

/*
 * The calls of the device layer, and the least number of each that one thread with one slot makes:
 * staged, fused, and fused with compression on the device. Calls before the first batch are not
 * tested in the last case.
 */
static const struct call {
	const char *name;
	unsigned least[3];
	enum when when; /* all of them */
} calls[] = {
	{"dev_count", {8, 8, 0}, ANY},
	{"dev_use", {3, 3, 0}, ANY},
	{"dev_limits", {1, 1, 0}, ANY},
	{"dev_malloc", {1, 1, 0}, BEFORE_OUTPUT},
	{"pinned_malloc", {3, 3, 0}, BEFORE_OUTPUT},
	{"dev_stream", {1, 1, 0}, BEFORE_OUTPUT},
	{"dev_event", {10, 7, 0}, BEFORE_OUTPUT},
	{"dev_record", {BATCHES * 10, BEFORE_GRAPH * 7, BEFORE_GRAPH * 9}, IN_BATCH},
	{"dev_sync", {BATCHES * 2, BATCHES * 2, BATCHES * 3}, IN_BATCH},
	{"dev_elapsed", {BATCHES * 7, BATCHES * 4, BATCHES * 5}, IN_BATCH},
	{"dev_copy", {BATCHES * 10, BATCHES * 10, BATCHES * 7}, IN_BATCH},
	{"dev_fill", {BATCHES * 1, BEFORE_GRAPH * 1, BEFORE_GRAPH * 2}, IN_BATCH},
	{"dev_launch", {BATCHES * 10, BEFORE_GRAPH * 6, 5}, IN_BATCH},
	{"dev_capture", {0, 1, 1}, IN_BATCH},
	{"dev_graph", {0, 1, 1}, IN_BATCH},
	{"dev_replay", {0, BATCHES + 1 - BEFORE_GRAPH, BATCHES + 1 - BEFORE_GRAPH}, IN_BATCH},
};
enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static bool makes_device_unusable(int error)
{
	return error == SL_ERROR_ADDRESS || error == SL_ERROR_LAUNCH;
}

static int expected_exit_code(const struct call *c, int error)
{
	if (makes_device_unusable(error))
		return SL_DEVICE_FAILED;
	if (strcmp(c->name, "dev_count") == 0 || error == SL_ERROR_NO_IMAGE)
		return SL_NO_DEVICE;
	if (error != SL_ERROR_MEMORY)
		return SL_DEVICE_FAILED;
	return strcmp(c->name, "pinned_malloc") == 0 ? SL_HOST_MEMORY : SL_DEVICE_MEMORY;
}

/* The message must contain the error number or the name of the error. */
static const char *expected_message(const struct call *c, int error, char text[32])
{
	if (error == SL_ERROR_MEMORY && strstr(c->name, "malloc"))
		return "bytes requested";
	if (strcmp(c->name, "dev_count") == 0 && error == SL_ERROR_OLD_DRIVER)
		return "no CUDA driver is loaded";
	if (strcmp(c->name, "dev_count") == 0 && error == SL_ERROR_NO_DEVICE)
		return "the CUDA driver sees no device";
	snprintf(text, 32, "error %d, ", error);
	return text;
}

/*
 * One run in which call k fails. Returns the number of committed batches, or all if call k was not
 * reached.
 */
static unsigned fail_one(struct tiny_run *t, const struct call *c, unsigned k, bool permanent,
	int error, struct outcome *outcome)
{
	char fault[64], text[32];
	const char *const env[] = {fault, NULL};
	struct ending e;
	unsigned n;

	snprintf(fault, sizeof(fault), "SL_FAULT=%s:%u%s:%d", c->name, k, permanent ? "+" : "",
		error);
	snprintf(t->what, sizeof(t->what), "%s threads, %s", t->threads, fault);
	tiny_execute(t, env, NULL, "out", NULL, &e);
	n = tiny_check(t, "out", TINY_ENDED);
	outcome->runs++;
	if (e.code != 0) {
		outcome->failed++;
		/* another thread without a batch may report first */
		tiny_check_ending(t, &e, expected_exit_code(c, error),
			expected_message(c, error, text),
			c->when == IN_BATCH && strcmp(t->threads, "1") == 0 ? "batch "
									    : "sluice: ");
		if (n == BATCHES)
			fail_msg("%s: the run failed with all batches committed", t->what);
		if (c->when == BEFORE_OUTPUT && folder_has(&t->folder, "out"))
			fail_msg("%s: the output folder exists", t->what);
	} else if (n != BATCHES) {
		fail_msg("%s: exit code 0, but %u batches", t->what, n);
	}
	process_free(&e);
	resume_and_check(t, outcome);
	return n;
}

/* Fails call 1, call 2, ... or 1, 2, 4, 8, ..., until a run ends without a fault. */
static void fail_each(struct tiny_run *t, const struct call *c, bool each, bool permanent,
	int error, struct outcome *outcome)
{
	for (unsigned k = 1; fail_one(t, c, k, permanent, error, outcome) < BATCHES;
		k = each ? (unsigned)sl_sampling_next(k, UINT64_MAX) : 2 * k)
		assert_true(k < CALLS_MOST);
}

/* One thread and one slot make their calls in the same order each time, so every call is tested. */
static void fail_every_call(const struct setting *s)
{
	struct outcome outcome = {.setting = s};
	struct tiny_run t;

	make_run(&t, s);
	expect(&t.folder, SL_OK, "", WORDS("verify", "whole", "--quiet"));
	for (int i = 0; i < N_CALLS; i++) {
		bool device_packed = s == &single_packed;
		unsigned failed = outcome.failed,
			 least = calls[i].least[device_packed ? 2 : s != &single_staged];
		bool many = strcmp(calls[i].name, "dev_launch") == 0;

		if (device_packed && calls[i].when != IN_BATCH)
			continue;
		fail_each(
			&t, &calls[i], !(device_packed && many), false, SL_ERROR_LAUNCH, &outcome);
		if (sl_sampling_step(outcome.failed - failed) < least)
			fail_msg("%s made a run fail %u times, there are at least %u calls",
				calls[i].name, outcome.failed - failed, least);
	}
	print_message(
		"%u runs, %u failed; resumed from %zu states in the same mode, %zu in the other mode, "
		"%zu on the CPU\n",
		outcome.runs, outcome.failed, outcome.on_device.n, outcome.other.n,
		outcome.on_cpu.n);
	/* no folder; run started; one and two batches; all batches, after an uninterrupted run */
	if (sl_sampling_step(1) == 1)
		assert_true(
			outcome.on_device.n >= 4 && outcome.other.n >= 4 && outcome.on_cpu.n >= 4);
	tiny_free(&t);
}

TEST(every_call_fails)
{
	fail_every_call(&single_staged);
}

TEST(every_call_fails_in_fused_mode)
{
	fail_every_call(&single_fused);
}

TEST(every_call_fails_with_packed_output)
{
	fail_every_call(&single_packed);
}

/* With sanitizers each call fails with only one of the errors, in turn. */
TEST(every_error_code_is_reported)
{
	static const int errors[] = {SL_ERROR_VALUE, SL_ERROR_MEMORY, SL_ERROR_NO_IMAGE,
		SL_ERROR_ADDRESS, SL_ERROR_LAUNCH};
	static struct outcome outcome = {.setting = &single_staged};
	struct tiny_run t;

	make_run(&t, &single_staged);
	for (size_t i = 0; i < N_CALLS; i++)
		for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++)
			if (!is_quick() || k == i % (sizeof(errors) / sizeof(errors[0])))
				fail_each(&t, &calls[i], false, k % 2 == 0, errors[k], &outcome);
	print_message("%u runs, %u failed\n", outcome.runs, outcome.failed);
	tiny_free(&t);
}

/* No driver, no device, a device that is not ready, and a driver of another version. */
TEST(errors_of_the_device_count_are_reported)
{
	static const int errors[] = {SL_ERROR_OLD_DRIVER, SL_ERROR_NO_DEVICE, 46, 802, 803};
	static struct outcome outcome = {.setting = &single_staged};
	struct tiny_run t;

	make_run(&t, &single_staged);
	for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
		fail_each(&t, &calls[0], false, false, errors[k], &outcome);
		fail_one(&t, &calls[0], 1, true, errors[k], &outcome);
		assert_false(folder_has(&t.folder, "out"));
	}
	tiny_free(&t);
}

/*
 * Several threads and slots: which thread meets the fault varies. With sanitizers one of three
 * error modes.
 */
TEST(calls_fail_with_several_threads_and_slots)
{
	const struct setting settings[] = {{"3", FUSED("3"), STAGED("3"), "csv.gz", NULL},
		{"3", STAGED("2"), FUSED("2"), "csv.gz", NULL}};
	static struct outcome outcome;

	for (int s = 0; s < 2 - is_quick(); s++) {
		struct tiny_run t;

		outcome.setting = &settings[s];
		make_run(&t, &settings[s]);
		for (int i = 0; i < N_CALLS; i++) {
			if (!is_quick() || i % 3 == 0)
				fail_each(&t, &calls[i], false, false, SL_ERROR_MEMORY, &outcome);
			if (!is_quick() || i % 3 == 1)
				fail_each(&t, &calls[i], false, true, SL_ERROR_VALUE, &outcome);
			if (!is_quick() || i % 3 == 2)
				fail_each(&t, &calls[i], false, s == 0, SL_ERROR_ADDRESS, &outcome);
		}
		tiny_free(&t);
	}
	print_message("%u runs, %u failed\n", outcome.runs, outcome.failed);
}

/* A run started on the CPU is resumed on the device. */
TEST(run_interrupted_on_the_cpu_resumes_on_the_device)
{
	static struct tiny_states states;
	struct tiny_run t;

	make_run(&t, &single_staged);
	for (unsigned k = 1; k <= BATCHES; k++) {
		char fault[64];
		const char *const env[] = {fault, NULL};
		struct ending e;

		snprintf(fault, sizeof(fault), "SL_FAULT=file_append:%u:28", k);
		snprintf(t.what, sizeof(t.what), "on the CPU, %s", fault);
		t.more = NULL;
		tiny_execute(&t, env, NULL, "out", NULL, &e);
		tiny_check_ending(&t, &e, SL_DISK, NULL, NULL);
		process_free(&e);
		assert_int_equal(tiny_check(&t, "out", TINY_ENDED), k - 1);
		t.more = k % 2 ? single_staged.words : single_fused.words;
		tiny_resume_once(&t, "out", &states);
	}
	assert_int_equal(states.n, BATCHES);
	tiny_free(&t);
}

/* --- flipped bits -------------------------------------------------------------------------- */

/* Copy k arrives with one flipped bit. Returns whether copy k came from the device. */
static bool flip_one_copy(struct tiny_run *t, unsigned k, unsigned bit, struct outcome *outcome)
{
	char fault[64];
	const char *const env[] = {fault, NULL};
	struct ending e;
	unsigned n;
	bool detected;

	snprintf(fault, sizeof(fault), "SL_FAULT=dev_flip:%u:%u", k, bit);
	snprintf(t->what, sizeof(t->what), "%s", fault);
	tiny_execute(t, env, NULL, "out", NULL, &e);
	n = tiny_check(t, "out", TINY_ENDED);
	detected = e.code != 0;
	if (detected)
		tiny_check_ending(t, &e, SL_DEVICE_FAILED, "transfer error", "batch ");
	if (!detected && n != BATCHES)
		fail_msg("%s: exit code 0, but %u batches", t->what, n);
	process_free(&e);
	resume_and_check(t, outcome);
	return detected;
}

/* Copies of each batch from the device: the counters twice for each of two waits, and more copies of data. */
static void flip_every_copy(const struct setting *s, unsigned more)
{
	static const unsigned bits[] = {1, 45, 777};
	struct outcome outcome = {.setting = s};
	unsigned copies = 0;
	struct tiny_run t;

	make_run(&t, s);
	/* A share begins with the copies up to the first from the device. */
	for (unsigned k = 1; k <= COPIES_MOST;
		k = copies ? (unsigned)sl_sampling_next(k, COPIES_MOST) : k + 1)
		copies += flip_one_copy(&t, k, bits[k % 3], &outcome);
	if (sl_sampling_step(1) == 1) {
		assert_int_equal(copies, BATCHES * (2 * 2 + more));
		assert_true(outcome.on_device.n >= BATCHES);
	}
	assert_true(copies > 0);
	tiny_free(&t);
}

TEST(flipped_bit_in_every_copy_is_found)
{
	flip_every_copy(&single_staged, 6); /* columns */
	flip_every_copy(&single_fused, 6);
	flip_every_copy(&single_packed, 2 + 1);  /* the size header, and all streams */
	flip_every_copy(&single_records, 2 + 1); /* the size header, and all records */
}
