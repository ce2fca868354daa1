/*
 * emulator_wrong.c - tests that the emulated device reports errors of kernels with their source
 * line, illegal accesses by the host, and invalid launches.
 *
 * A failed kernel makes the device unusable, so each wrong kernel runs in a separate process:
 * this program again, with the kernel's name.
 */
#include <signal.h>

#include "tests/primitives/emulator/emulator_check.h"

enum { SURVIVED = 42 };

/* --- in the process --------------------------------------------------------------------------- */

/* Returns whether every call is refused with the same error and without a call of the driver. */
static bool refuses_every_call(void *words)
{
	struct sl_limits limits;
	sl_stream s;
	sl_event e;
	void *p;

	return sl_memory_get(SL_DEVICE, 1, &p) == SL_DEVICE_FAILED &&
	       sl_memory_get(SL_PINNED, 1, &p) == SL_DEVICE_FAILED &&
	       sl_stream_make(&s) == SL_DEVICE_FAILED && sl_event_make(&e) == SL_DEVICE_FAILED &&
	       sl_device_limits(&limits) == SL_DEVICE_FAILED &&
	       sl_copy(&p, words, sizeof(p), NULL) == SL_DEVICE_FAILED &&
	       sl_fill(words, 0, 1, NULL) == SL_DEVICE_FAILED &&
	       launch_kernel("nothing", (uint32_t *)words, NULL) == SL_DEVICE_FAILED &&
	       sl_stream_wait(NULL) == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719");
}

/* Runs a kernel; prints the error message and the remaining state. */
static int kernel_alone(const char *name)
{
	void *words = NULL;
	enum sl_status s = sl_memory_get(SL_DEVICE, WORDS_BYTES, &words);

	if (s == SL_OK)
		s = sl_fill(words, 0, WORDS_BYTES, NULL);
	if (s == SL_OK)
		s = launch_kernel(name, (uint32_t *)words, NULL);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	printf("%s\n", sl_last_error());
	if (s == SL_DEVICE_FAILED && strstr(sl_last_error(), "error 719"))
		printf("%s\n", refuses_every_call(words) ? "over" : "not over");
	fflush(stdout);
	return (int)s;
}

/* Operations that are illegal on the host. */
static int host_alone(const char *what)
{
	volatile uint32_t *words = NULL, *few = NULL;
	void *p;

	if (sl_memory_get(SL_DEVICE, WORDS_BYTES, &p) != SL_OK)
		return SURVIVED;
	words = (volatile uint32_t *)p;
	if (strcmp(what, "host_reads") == 0)
		return words[7] == 0 ? SURVIVED : SURVIVED + 1;
	if (strcmp(what, "host_writes") == 0)
		words[7] = 1;
	if (strcmp(what, "host_reads_after_work") == 0) {
		if (launch_kernel("add_one", (uint32_t *)p, NULL) == SL_OK &&
			sl_stream_wait(NULL) == SL_OK)
			return words[7] == 0 ? SURVIVED : SURVIVED + 1;
	}
	/* 64 threads, 63 words */
	if (strcmp(what, "beyond_page") == 0 &&
		sl_memory_get(SL_DEVICE, 63 * sizeof(uint32_t), &p) == SL_OK) {
		few = (volatile uint32_t *)p;
		(void)launch_kernel("add_one", (uint32_t *)(uintptr_t)few, NULL);
		(void)sl_stream_wait(NULL);
	}
	return SURVIVED;
}

/* --- wrong kernels ---------------------------------------------------------------------------- */

struct wrong {
	const char *kernel, *choices;
	const char *message[3]; /* what it has in it */
};

#define FILE_OF_KERNELS "emulator_kernels.cu:"

static void expect_failure(const struct wrong *w)
{
	struct ending e;

	run_alone(w->kernel, w->choices, &e);
	if (e.code != SL_DEVICE_FAILED)
		fail_msg("%s (%s) ends with %d, signal %d: %s%s", w->kernel, w->choices, e.code,
			e.signal, e.out, e.err);
	if (!strstr(e.out, w->kernel))
		fail_msg("expected the kernel name %s in the message: %s", w->kernel, e.out);
	for (size_t i = 0; i < 3 && w->message[i]; i++)
		if (!strstr(e.out, w->message[i]))
			fail_msg("%s (%s): expected \"%s\" in the message: %s", w->kernel,
				w->choices, w->message[i], e.out);
	process_free(&e);
}

TEST(errors_of_kernels_are_reported)
{
	static const struct wrong wrongs[] = {
		{"two_barriers", "",
			{"block 0, thread 3, at ",
				"it is at this barrier while thread 0 waits at another one, ",
				FILE_OF_KERNELS}},
		{"barrier_or_warp", "",
			{"block 0: deadlock, thread 5 waits at the barrier of ",
				", thread 0 waits in the warp call of ",
				"for threads that do not arrive"}},
		{"mask_lacks_caller", "",
			{"thread 16, at ", FILE_OF_KERNELS,
				"the mask 0000ffff of a warp call does not contain its caller, lane 16"}},
		{"mask_names_ended", "",
			{"thread 10, at ", "names lanes that have ended, 00000200"}},
		{"masks_differ", "",
			{"thread 31, at ",
				"with mask fffffffe meets one of thread 1 with ffffffff"}},
		{"calls_differ", "",
			{"thread 8, at ",
				"it is in this warp call while thread 0 waits in another one, "}},
		{"a_lane_stays_away", "",
			{"deadlock, thread 4 waits at the barrier of",
				", thread 0 waits in the warp call of"}},
		{"wait_for_block_before", "start=last",
			{"block 19, thread 0, at ", FILE_OF_KERNELS, "livelock"}},
		{"wait_for_block_before", "start=last,blocks=16", {"livelock"}},
		{"wait_for_block_before", "start=last,blocks=7,seed=3", {"livelock"}},
		{"warp_waits_for_block_before", "start=last,blocks=7,seed=3", {"livelock"}},
		{"wait_for_next_block", "", {"block 0, thread", "livelock"}},
		{"no_backoff", "", {"thread 0, at ", "without sl_backoff"}},
		{"gate_not_made", "", {"the mbarrier is not initialised"}},
		{"gate_overrun", "", {"more threads arrive at the mbarrier than the 1 that it"}},
		{"gate_asked_late", "", {"waits for phase 0 of an mbarrier that is in phase 2"}},
		{"gate_in_vain", "",
			{"deadlock, thread 0 waits at the mbarrier of ", FILE_OF_KERNELS}},
		{"bytes_in_vain", "", {"deadlock, thread 0 waits at the mbarrier of "}},
		{"bulk_load_off", "", {"a bulk load of 16 bytes from ", "multiples of 16"}},
		{"too_much_shared", "",
			{"variables in shared memory take 49156 bytes; at most 49152 bytes in 32 variables"}},
	};

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		expect_failure(&wrongs[i]);
}

/* After an error the device stays unusable. */
TEST(all_calls_refuse_after_a_failure)
{
	static const char *const choices[] = {"", "queue=now"};
	struct ending e;

	for (size_t i = 0; i < 2; i++) {
		run_alone("barrier_or_warp", choices[i], &e);
		assert_non_null(strstr(e.out, "error 719"));
		assert_non_null(strstr(e.out, "\nover\n"));
		process_free(&e);
	}
}

TEST(invalid_launches_are_refused)
{
	static const char *const names[] = {
		"no_blocks", "no_threads", "too_many_threads", "too_much_dynamic_shared"};
	uint32_t *words = get_words();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_fails(launch_kernel(names[i], words, NULL), SL_DEVICE_FAILED, names[i]);
	assert_ok(launch_kernel("nothing", words, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, words);
}

/* The process ends with SIGSEGV, or with a report of AddressSanitizer. */
TEST(illegal_host_accesses_end_the_process)
{
	static const char *const whats[] = {
		"host_reads", "host_writes", "host_reads_after_work", "beyond_memory"};
	struct ending e;

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		run_alone(whats[i], "", &e);
		if (e.signal != SIGSEGV && !strstr(e.err, "SEGV"))
			fail_msg("%s ends with %d, signal %d: %s", whats[i], e.code, e.signal,
				e.err);
		process_free(&e);
	}
}

#if defined(__SANITIZE_ADDRESS__)
TEST(address_sanitizer_reports_overruns)
{
	static const struct {
		const char *what, *report;
	} overruns[] = {
		{"beyond_dynamic_shared", "heap-buffer-overflow"},
		{"beyond_static_shared", "heap-buffer-overflow"},
		{"beyond_page", "use-after-poison"},
	};
	struct ending e;

	for (size_t i = 0; i < sizeof(overruns) / sizeof(overruns[0]); i++) {
		run_alone(overruns[i].what, "", &e);
		if (!strstr(e.err, overruns[i].report) || !strstr(e.err, FILE_OF_KERNELS))
			fail_msg("%s ends with %d: %s", overruns[i].what, e.code, e.err);
		process_free(&e);
	}
}

#elif defined(__SANITIZE_THREAD__)
TEST(thread_sanitizer_reports_races)
{
	static const struct wrong races[] = {
		{"no_barrier", "", {0}},
		{"shuffle_for_syncwarp", "", {0}},
		{"syncwarp_for_barrier", "", {0}},
		{"message_unreleased", "", {0}},
		{"message_unacquired", "", {0}},
		{"message_unreleased", "blocks=4,seed=2", {0}},
		{"message_unacquired", "blocks=4,seed=2", {0}},
		{"two_blocks_one_word", "", {0}},
		{"gate_passed", "", {0}},
	};
	struct ending e;

	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		run_alone(races[i].kernel, races[i].choices, &e);
		if (!strstr(e.err, "data race") || !strstr(e.err, FILE_OF_KERNELS))
			fail_msg("%s (%s) ends with %d: %s", races[i].kernel, races[i].choices,
				e.code, e.err);
		process_free(&e);
	}
}
#endif

TEST_FILE(argc, argv)
{
	sl_device_emulate(true);
	if (argc == 1)
		return run_test_file(argv[0]);
	if (strncmp(argv[1], "host_", 5) == 0 || strcmp(argv[1], "beyond_page") == 0)
		return host_alone(argv[1]);
	return kernel_alone(argv[1]);
}
