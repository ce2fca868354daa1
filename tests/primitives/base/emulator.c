/*
 * emulator.c - the emulated device itself: what wrong kernels do is told, right ones are let be,
 * and streams, events and memory are no kinder than a real device's.
 *
 * A kernel that fails takes the device with it, so each wrong one runs in a process of its own:
 * this program again, with the kernel's name.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/base/emulated.h"
#include "tests/primitives/base/emulator_kernels.h"
#include "tests/support/check.h"
#include "tests/support/process.h"

#if defined(__SANITIZE_ADDRESS__)
enum { WITH_ADDRESS_SANITIZER = 1, WITH_THREAD_SANITIZER = 0 };
#elif defined(__SANITIZE_THREAD__)
enum { WITH_ADDRESS_SANITIZER = 0, WITH_THREAD_SANITIZER = 1 };
#else
enum { WITH_ADDRESS_SANITIZER = 0, WITH_THREAD_SANITIZER = 0 };
#endif

enum { WORDS_BYTES = KERNEL_WORDS * sizeof(uint32_t), SURVIVED = 42, SECONDS = 60 };

static uint32_t *get_words(void)
{
	void *p;

	assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, &p));
	assert_ok(sl_fill(p, 0, WORDS_BYTES, NULL));
	return (uint32_t *)p;
}

static void fetch(uint32_t *to, const uint32_t *words)
{
	assert_ok(sl_copy(to, words, WORDS_BYTES, NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* Runs a kernel and fetches the words, which were 0. */
static void run_kernel(const char *name, uint32_t *result)
{
	uint32_t *words = get_words();

	assert_ok(launch_kernel(name, words, NULL));
	fetch(result, words);
	sl_memory_give(SL_DEVICE, words);
}

/* --- processes of their own ------------------------------------------------------------------- */

/* This program again. */
static void run_alone(const char *what, const char *choices, struct ending *e)
{
	const char *argv[] = {"/proc/self/exe", what, NULL};
	char setting[300];
	const char *const env[] = {setting, NULL};
	struct process p = {.argv = argv, .env = env};

	snprintf(setting, sizeof(setting), "SL_EMULATOR=%s", choices);
	process_run(&p, SECONDS, e);
	if (e->timed_out)
		fail_msg("%s (%s) does not end", what, choices);
}

/* Is every call refused, with the same error, without reaching the driver? */
static bool is_over(void *words)
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
	       sl_stream_wait(NULL) == SL_DEVICE_FAILED && strstr(sl_story(), "error 719");
}

/* In the process: runs a kernel; prints the story of how it fails, and what is left. */
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
	printf("%s\n", sl_story());
	if (s == SL_DEVICE_FAILED && strstr(sl_story(), "error 719"))
		printf("%s\n", is_over(words) ? "over" : "not over");
	fflush(stdout);
	return (int)s;
}

/* In the process: what the host must not do. */
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
	const char *story[3]; /* what it has in it */
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
		fail_msg("%s is not named: %s", w->kernel, e.out);
	for (size_t i = 0; i < 3 && w->story[i]; i++)
		if (!strstr(e.out, w->story[i]))
			fail_msg("%s (%s): no \"%s\" in: %s", w->kernel, w->choices, w->story[i],
				e.out);
	process_free(&e);
}

static void wrong_kernels_are_told(void **state)
{
	static const struct wrong wrongs[] = {
		{"two_barriers", "",
			{"block 0, thread 3, at ",
				"it is at a barrier while thread 0 waits at the one of",
				FILE_OF_KERNELS}},
		{"barrier_or_warp", "",
			{"block 0: deadlock, thread 5 waits at the barrier of ",
				", thread 0 waits in the warp call of ",
				"for others that do not come"}},
		{"mask_lacks_caller", "",
			{"thread 16, at ", FILE_OF_KERNELS,
				"the mask 0000ffff of a warp call lacks its caller, lane 16"}},
		{"mask_names_ended", "",
			{"thread 10, at ", "names lanes that have ended, 00000200"}},
		{"masks_differ", "",
			{"thread 31, at ",
				"with mask fffffffe meets one of thread 1 with ffffffff"}},
		{"calls_differ", "",
			{"thread 8, at ", "a warp call meets another one of thread 0"}},
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
		{"gate_not_made", "", {"the gate has not been made"}},
		{"gate_overrun", "", {"one more arrives at the gate than the 1 that it"}},
		{"gate_asked_late", "", {"waits for round 0 of a gate that is in round 2"}},
		{"gate_in_vain", "", {"deadlock, thread 0 waits at the gate of ", FILE_OF_KERNELS}},
		{"bytes_in_vain", "", {"deadlock, thread 0 waits at the gate of "}},
		{"bulk_load_off", "", {"a bulk load of 16 bytes from ", "multiples of 16"}},
		{"too_much_shared", "",
			{"variables in shared memory take 49156 bytes; 49152, of 32 variables"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		expect_failure(&wrongs[i]);
}

/* The device is failed for good. */
static void all_calls_refuse_after_a_failure(void **state)
{
	static const char *const choices[] = {"", "queue=now"};
	struct ending e;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		run_alone("barrier_or_warp", choices[i], &e);
		assert_non_null(strstr(e.out, "error 719"));
		assert_non_null(strstr(e.out, "\nover\n"));
		process_free(&e);
	}
}

static void launches_that_cannot_be_are_refused(void **state)
{
	static const char *const names[] = {
		"no_blocks", "no_threads", "too_many_threads", "too_much_dynamic_shared"};
	uint32_t *words = get_words();

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_fails(launch_kernel(names[i], words, NULL), SL_DEVICE_FAILED, names[i]);
	assert_ok(launch_kernel("nothing", words, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, words);
}

/* A closed page, or what AddressSanitizer says of it. */
static void accesses_beyond_memory_end_the_process(void **state)
{
	static const char *const whats[] = {
		"host_reads", "host_writes", "host_reads_after_work", "beyond_memory"};
	struct ending e;

	(void)state;
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		run_alone(whats[i], "", &e);
		if (e.signal != SIGSEGV && !strstr(e.err, "SEGV"))
			fail_msg("%s ends with %d, signal %d: %s", whats[i], e.code, e.signal,
				e.err);
		process_free(&e);
	}
}

static void address_sanitizer_sees_overruns(void **state)
{
	static const struct {
		const char *what, *report;
	} overruns[] = {
		{"beyond_dynamic_shared", "heap-buffer-overflow"},
		{"beyond_static_shared", "heap-buffer-overflow"},
		{"beyond_page", "use-after-poison"},
	};
	struct ending e;

	(void)state;
	if (!WITH_ADDRESS_SANITIZER)
		skip();
	for (size_t i = 0; i < sizeof(overruns) / sizeof(overruns[0]); i++) {
		run_alone(overruns[i].what, "", &e);
		if (!strstr(e.err, overruns[i].report) || !strstr(e.err, FILE_OF_KERNELS))
			fail_msg("%s ends with %d: %s", overruns[i].what, e.code, e.err);
		process_free(&e);
	}
}

static void thread_sanitizer_sees_races(void **state)
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

	(void)state;
	if (!WITH_THREAD_SANITIZER)
		skip();
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		run_alone(races[i].kernel, races[i].choices, &e);
		if (!strstr(e.err, "data race") || !strstr(e.err, FILE_OF_KERNELS))
			fail_msg("%s (%s) ends with %d: %s", races[i].kernel, races[i].choices,
				e.code, e.err);
		process_free(&e);
	}
}

/* --- right kernels ---------------------------------------------------------------------------- */

/* In order, then others: those that are built with sanitizers see no fault in any of them. */
static const struct sl_emulated_choices schedules[] = {
	{.blocks = 1, .memory_bytes = 1 << 30},
	{.blocks = 4, .memory_bytes = 1 << 30},
	{.blocks = 1, .seed = 1, .memory_bytes = 1 << 30},
	{.blocks = 3, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
	{.blocks = SL_EMULATED_BLOCKS_MOST, .seed = 3, .at_once = true, .memory_bytes = 1 << 30},
};

enum { SCHEDULES = sizeof(schedules) / sizeof(schedules[0]) };

static int as_by_default(void **state)
{
	(void)state;
	sl_emulated_choose(&schedules[0]);
	return 0;
}

static void barriers_count(void **state)
{
	static uint32_t words[KERNEL_WORDS];

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		run_kernel("ended_clean", words);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(words[i], i % 3 == 0 ? 0 : 21);
		run_kernel("votes_clean", words);
		for (uint32_t i = 0; i < 33; i++)
			assert_int_equal(words[i], 1 | 1 << 2);
		run_kernel("barrier_clean", words);
		for (uint32_t i = 0; i < 3 * 64; i++)
			assert_int_equal(words[i], 2);
		run_kernel("syncwarp_clean", words);
		for (uint32_t i = 0; i < 32; i++)
			assert_int_equal(words[32 + i], i ^ 1);
	}
}

static uint32_t part_of_warp(uint32_t lane)
{
	uint32_t sum = lane < 16 ? 0xaaaa + (lane < 15 ? 3 : 1) : 3 * (lane ^ 1);

	for (uint32_t i = 0; i < lane / 4; i++)
		sum += lane / 4 * 4 + i % 4;
	return sum + 1000;
}

/* shfl_sync gives what it is given; here each is asked for the lane's own, so i is what counts. */
static void parts_of_warps_go_their_own_ways(void **state)
{
	static uint32_t words[KERNEL_WORDS];

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		run_kernel("parts_of_warps_clean", words);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(words[i], part_of_warp(i % 32));
	}
}

static void shuffles_reach_their_lanes(void **state)
{
	static uint32_t words[KERNEL_WORDS];

	(void)state;
	run_kernel("shuffles_clean", words);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(words[i], 1 + (i < 2 ? i : i - 2) +
						   3 * (1 + (i < 27 ? i + 5 : i)) +
						   9 * (1 + (i ^ 16)));
	assert_int_equal(words[32], 0xa5a5a5a5);
	for (uint32_t i = 33; i < 36; i++)
		assert_int_equal(words[i], 7);
}

static void atomics_add_up(void **state)
{
	static uint32_t words[KERNEL_WORDS];

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		run_kernel("atomics_clean", words);
		assert_int_equal(words[0], 9 * 64);
		assert_int_equal(words[1], 0xffffffff);
		assert_int_equal(words[2], 0);
		assert_int_equal(words[3], 63);
	}
}

/* Five rounds of four words, of which each thread adds up the first and the last. */
static void gates_open_round_by_round(void **state)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		assert_ok(launch_kernel("numbers_clean", at, NULL));
		assert_ok(launch_kernel("gates_clean", at, NULL));
		fetch(words, at);
		for (uint32_t i = 0; i < 3 * 64; i++)
			assert_int_equal(
				words[i], i % 64 == 0 ? 0 : 2 * (0 + 4 + 8 + 12 + 16) + 5 * 3);
	}
	sl_memory_give(SL_DEVICE, at);
}

static void blocks_pass_words_on(void **state)
{
	static uint32_t words[KERNEL_WORDS];

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		run_kernel("tickets_clean", words);
		for (uint32_t i = 0; i < 20 * 32; i++)
			assert_int_equal(words[100 + i], i / 32 * (i / 32 + 1) / 2);
		if (schedules[k].from_last) /* it goes by the block's index */
			continue;
		run_kernel("message_clean", words);
		for (uint32_t i = 0; i < 9; i++)
			assert_int_equal(words[i], i + 1);
	}
}

/* What a kernel reads is what the one before on the stream wrote, all of it. */
static void kernels_follow_each_other(void **state)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		for (int i = 0; i < 6; i++)
			assert_ok(launch_kernel(i % 2 ? "back_clean" : "reversed_clean", at, NULL));
		fetch(words, at);
		for (uint32_t i = 0; i < 256; i++)
			assert_int_equal(words[i], 3);
	}
	sl_memory_give(SL_DEVICE, at);
}

static void memory_holds_a5_at_first(void **state)
{
	static uint32_t words[KERNEL_WORDS];
	void *at;

	(void)state;
	for (int k = 0; k < SCHEDULES; k++) {
		sl_emulated_choose(&schedules[k]);
		run_kernel("shared_at_first", words);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(words[i], 0xa5a5a5a5);
	}
	for (int k = 0; k < 2; k++) {
		assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, &at));
		fetch(words, (const uint32_t *)at);
		for (uint32_t i = 0; i < KERNEL_WORDS; i++)
			assert_int_equal(words[i], 0xa5a5a5a5);
		assert_ok(sl_fill(at, 0, WORDS_BYTES, NULL));
		sl_memory_give(SL_DEVICE, at);
	}
}

/* --- streams and events ----------------------------------------------------------------------- */

static void work_is_done_when_it_is_waited_for(void **state)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	(void)state;
	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_copy(words, at, WORDS_BYTES, NULL));
	assert_int_equal(words[5], 0);
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(words[5], 1);
	sl_emulated_choose(&(struct sl_emulated_choices){
		.blocks = 1, .at_once = true, .memory_bytes = 1 << 20});
	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_copy(words, at, WORDS_BYTES, NULL));
	assert_int_equal(words[5], 2);
	sl_memory_give(SL_DEVICE, at);
}

/* An event waits for what was queued before it, and for no more. */
static void events_stand_in_order(void **state)
{
	static uint32_t words[3][KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_event events[3];
	sl_stream s;
	float ms, more;

	(void)state;
	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_stream_make(&s));
	for (int i = 0; i < 3; i++) {
		assert_ok(sl_event_make(&events[i]));
		assert_ok(launch_kernel("add_one", at, s));
		assert_ok(sl_copy(words[i], at, WORDS_BYTES, s));
		assert_ok(sl_event_record(events[i], s));
	}
	assert_int_equal(sl_event_ms(events[0], events[1], &ms), SL_DEVICE_FAILED);
	assert_ok(sl_event_wait(events[1]));
	assert_int_equal(words[1][0], 2);
	assert_int_equal(words[2][0], 0);
	assert_ok(sl_event_wait(events[0]));
	assert_int_equal(words[2][0], 0);
	assert_ok(sl_event_wait(events[2]));
	assert_int_equal(words[2][0], 3);
	assert_ok(sl_event_ms(events[0], events[1], &ms));
	assert_ok(sl_event_ms(events[0], events[2], &more));
	assert_true(ms > 0 && more > ms && more < 60e3f);
	assert_ok(sl_event_ms(events[2], events[0], &ms));
	assert_true(ms == -more);
	for (int i = 0; i < 3; i++)
		sl_event_free(events[i]);
	sl_stream_free(s);
	sl_memory_give(SL_DEVICE, at);
}

/* An event that is freed, memory that is given back, a stream that is freed, with work to come. */
static void what_is_still_queued_ends_well(void **state)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_event first, second;
	sl_stream s;

	(void)state;
	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_stream_make(&s));
	assert_ok(sl_event_make(&first));
	assert_ok(sl_event_make(&second));
	assert_ok(sl_event_record(first, s));
	assert_ok(sl_event_record(first, s));
	sl_event_free(first);
	assert_ok(launch_kernel("add_one", at, s));
	assert_ok(sl_copy(words, at, WORDS_BYTES, s));
	assert_ok(sl_event_record(second, s));
	sl_memory_give(SL_DEVICE, at); /* as cudaFree, waits */
	assert_int_equal(words[0], 1);
	assert_ok(sl_event_record(second, s));
	sl_stream_free(s);
	assert_ok(sl_event_wait(second));
	sl_event_free(second);
}

/* More work than a stream holds at a time. */
static void full_streams_keep_their_order(void **state)
{
	enum { TIMES = 1000 };
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	(void)state;
	for (int i = 0; i < TIMES; i++)
		assert_ok(launch_kernel("add_one", at, NULL));
	fetch(words, at);
	assert_int_equal(words[63], TIMES);
	assert_int_equal(words[64], 0);
	sl_memory_give(SL_DEVICE, at);
}

enum { THREADS = 4, ROUNDS = 50 };

/* A host thread with a stream, memory and an event of its own. Gives how often it was wrong. */
static void *work_alone(void *unused)
{
	uint32_t words[64] = {0};
	uintptr_t wrong = 0;
	sl_stream s;
	sl_event e;
	void *at;

	(void)unused;
	if (sl_stream_make(&s) != SL_OK || sl_event_make(&e) != SL_OK ||
		sl_memory_get(SL_DEVICE, sizeof(words), &at) != SL_OK)
		return (void *)1;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		words[63] = i;
		wrong += sl_copy(at, words, sizeof(words), s) != SL_OK;
		wrong += launch_kernel("add_one", (uint32_t *)at, s) != SL_OK;
		wrong += sl_copy(words, at, sizeof(words), s) != SL_OK;
		wrong += sl_event_record(e, s) != SL_OK;
		wrong += (i % 2 ? sl_event_wait(e) : sl_stream_wait(s)) != SL_OK;
		wrong += words[63] != i + 1 || words[0] != i + 1;
	}
	sl_memory_give(SL_DEVICE, at);
	sl_event_free(e);
	sl_stream_free(s);
	return (void *)wrong;
}

static void threads_of_the_host_share_the_device(void **state)
{
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work_alone, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
}

/* --- memory ----------------------------------------------------------------------------------- */

static void copies_that_leave_a_block_are_refused(void **state)
{
	static char host[2 * WORDS_BYTES];
	char *at = (char *)get_words();

	(void)state;
	assert_int_equal(sl_copy(host, at, WORDS_BYTES + 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(at, host, WORDS_BYTES + 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(at + 1, host, WORDS_BYTES, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(at + WORDS_BYTES, host, 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_fill(at + 8, 0, WORDS_BYTES - 7, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_fill(at, 0, SIZE_MAX, NULL), SL_DEVICE_FAILED);
	assert_ok(sl_copy(host, at + 1, WORDS_BYTES - 1, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, at);
}

/* The cap holds for all blocks together, in pages. */
static void memory_ends_where_it_was_told_to(void **state)
{
	struct sl_device device;
	void *most, *more;

	(void)state;
	sl_emulated_choose(
		&(struct sl_emulated_choices){.blocks = 1, .memory_bytes = (size_t)64 << 20});
	assert_ok(sl_device_use(0, &device));
	assert_string_equal(device.name, "emulated");
	assert_int_equal(device.memory_bytes, 64 << 20);
	assert_int_equal(device.free_bytes, 64 << 20);
	assert_ok(sl_memory_get(SL_DEVICE, (size_t)40 << 20, &most));
	assert_fails(sl_memory_get(SL_DEVICE, (24 << 20) + 1, &more), SL_DEVICE_MEMORY,
		"device memory: 25165825 bytes asked, 25165824 are free: out of memory");
	assert_null(more);
	assert_ok(sl_memory_get(SL_DEVICE, 24 << 20, &more));
	assert_int_equal(sl_memory_get(SL_DEVICE, 1, &more), SL_DEVICE_MEMORY);
	sl_memory_give(SL_DEVICE, most);
	assert_int_equal(sl_memory_get(SL_DEVICE, SIZE_MAX, &more), SL_DEVICE_MEMORY);
	assert_ok(sl_memory_get(SL_DEVICE, (size_t)40 << 20, &most));
	sl_memory_give(SL_DEVICE, most);
}

/* --- SL_EMULATOR ------------------------------------------------------------------------------ */

/* In the process: the choices that SL_EMULATOR makes, as a line. */
static int choices_alone(void)
{
	const struct sl_emulated_choices *c = sl_emulated_chosen();
	int n;

	printf("%u %llu %d %d %d %zu\n%s\n", c->blocks, (unsigned long long)c->seed, c->from_last,
		c->at_once, c->turing, c->memory_bytes,
		sl_emulated_choices_problem() ? sl_emulated_choices_problem() : "");
	printf("%s\n", sl_device_count(&n) == SL_USAGE ? sl_story() : "can be used");
	fflush(stdout);
	return 0;
}

static void choices_are_read(void **state)
{
	static const struct {
		const char *text, *choices;
	} good[] = {
		{"", "1 0 0 0 0 1073741824\n"},
		{"blocks=4,seed=7,memory=64M", "4 7 0 0 0 67108864\n"},
		{"start=last", "1 0 1 0 0 1073741824\n"},
		{"device=turing", "1 0 0 0 1 1073741824\n"},
		{"queue=now,start=last,seed=0,blocks=64", "64 0 1 1 0 1073741824\n"},
		{"memory=3K", "1 0 0 0 0 3072\n"},
		{"memory=5", "1 0 0 0 0 5\n"},
		{"memory=2G,memory=1G", "1 0 0 0 0 1073741824\n"},
		{"seed=999999999999999999", "1 999999999999999999 0 0 0 1073741824\n"},
	};
	struct ending e;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		run_alone("choices", good[i].text, &e);
		if (strncmp(e.out, good[i].choices, strlen(good[i].choices)) != 0 ||
			!strstr(e.out, "\n\ncan be used"))
			fail_msg("\"%s\" is read as %s", good[i].text, e.out);
		process_free(&e);
	}
}

static void choices_that_make_no_sense_are_refused(void **state)
{
	static const char *const bad[] = {"blocks", "blocks=", "blocks=0", "blocks=65", "blocks=-1",
		"blocks=4294967297", "blocks=4x", "blocks=1K", "seed=x", "seed=-1", "seed= 1",
		"seed=1M", "seed=99999999999999999999", "start=first", "start=", "queue=later",
		"device=hopper", "memory=0", "memory=1T", "memory=1MM",
		"memory=999999999999999999G", "memory=M", "frobnicate=1", ",", "blocks=4,",
		"blocks=4;seed=7", "=4", "blocks=4,,seed=1"};
	static const char start[] = "1 0 0 0 0 1073741824\nSL_EMULATOR: \"";
	char longest[300];
	struct ending e;

	(void)state;
	for (size_t i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = i < sizeof(bad) / sizeof(bad[0]) ? bad[i] : longest;

		memset(longest, '1', sizeof(longest) - 1);
		memcpy(longest, "seed=1,seed=", 12);
		longest[280] = '\0';
		run_alone("choices", text, &e);
		if (strncmp(e.out, start, sizeof(start) - 1) != 0 || strstr(e.out, "can be used"))
			fail_msg("\"%s\" is read as %s", text, e.out);
		process_free(&e);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_kernels_are_told),
		cmocka_unit_test(all_calls_refuse_after_a_failure),
		cmocka_unit_test(launches_that_cannot_be_are_refused),
		cmocka_unit_test(accesses_beyond_memory_end_the_process),
		cmocka_unit_test(address_sanitizer_sees_overruns),
		cmocka_unit_test(thread_sanitizer_sees_races),
		cmocka_unit_test_teardown(barriers_count, as_by_default),
		cmocka_unit_test_teardown(parts_of_warps_go_their_own_ways, as_by_default),
		cmocka_unit_test(shuffles_reach_their_lanes),
		cmocka_unit_test_teardown(atomics_add_up, as_by_default),
		cmocka_unit_test_teardown(gates_open_round_by_round, as_by_default),
		cmocka_unit_test_teardown(blocks_pass_words_on, as_by_default),
		cmocka_unit_test_teardown(kernels_follow_each_other, as_by_default),
		cmocka_unit_test_teardown(memory_holds_a5_at_first, as_by_default),
		cmocka_unit_test_teardown(work_is_done_when_it_is_waited_for, as_by_default),
		cmocka_unit_test(events_stand_in_order),
		cmocka_unit_test(what_is_still_queued_ends_well),
		cmocka_unit_test(full_streams_keep_their_order),
		cmocka_unit_test(threads_of_the_host_share_the_device),
		cmocka_unit_test(copies_that_leave_a_block_are_refused),
		cmocka_unit_test_teardown(memory_ends_where_it_was_told_to, as_by_default),
		cmocka_unit_test(choices_are_read),
		cmocka_unit_test(choices_that_make_no_sense_are_refused),
	};

	sl_device_emulate(true);
	if (argc == 1)
		return cmocka_run_group_tests(tests, NULL, NULL);
	if (strcmp(argv[1], "choices") == 0)
		return choices_alone();
	if (strncmp(argv[1], "host_", 5) == 0 || strcmp(argv[1], "beyond_page") == 0)
		return host_alone(argv[1]);
	return kernel_alone(argv[1]);
}
