/*
 * driver_calls.c - the driver calls of a run.
 *
 * During a run no memory is allocated or freed, no stream and no event is created, and each batch
 * waits twice; the host does not allocate either. After an error that makes a device unusable, no
 * call reaches the driver.
 */
#include <stdio.h>
#include <stdlib.h>

#include "primitives/primitives.h"
#include "tests/cases/sampling.h"
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/counting_driver.h"
#include "tests/support/program/folder.h"
#include "tests/support/runs/library_run.h"
#include "tests/support/program/program.h"

/* --- calls of a run ------------------------------------------------------------------------ */

enum { BATCHES = 7, PARTICLES = 150, MARKS_MAX = 64, CALLS_MOST = 5000 };

static unsigned in_run[N_CALLS];
static uint64_t allocated[MARKS_MAX]; /* at the start of the run and at each commit */
static unsigned marks;

static void mark(void)
{
	assert_true(marks < MARKS_MAX);
	allocated[marks++] = allocations();
}

static void note_start(void)
{
	marks = 0;
	mark();
	for (int i = 0; i < N_CALLS; i++)
		in_run[i] = atomic_load(&counting->calls[i]);
}

static void note_end(void)
{
	for (int i = 0; i < N_CALLS; i++)
		in_run[i] = atomic_load(&counting->calls[i]) - in_run[i];
}

static void count_run(const struct folder *f, const char *compact, const char *sort, unsigned slots)
{
	const char *to = folder_path(f, "out");
	const struct library_run r = {.device = "emulated",
		.mode = compact ? "staged" : "fused",
		.compact = compact,
		.sort = sort,
		.slots = slots,
		.threads = slots,
		.particles = PARTICLES,
		.batches = BATCHES,
		.to = to,
		.begun = note_start,
		.batch = mark,
		.ended = note_end};
	struct folder out;

	counting_clear();
	assert_ok(library_run(&r));
	assert_int_equal(marks, 1 + BATCHES);
	print_message("%s, %s, %u slots: %u launches, %u copies, %u waits; %u allocations of the "
		      "host before the first commit, %u from it to the last\n",
		compact ? compact : "fused", sort, slots, in_run[CALL_launch], in_run[CALL_copy],
		in_run[CALL_event_wait], (unsigned)(allocated[1] - allocated[0]),
		(unsigned)(allocated[BATCHES] - allocated[1]));
	assert_true(in_run[CALL_launch] >= (compact ? BATCHES * 5 : 3));
	/* in fused mode the first batch of each slot is queued directly */
	assert_true(in_run[CALL_capture_begin] <= (compact ? 0 : slots));
	assert_true(in_run[CALL_graph_queue] >= (compact ? 0 : BATCHES - slots));
	assert_int_equal(in_run[CALL_get] + in_run[CALL_give], 0);
	assert_int_equal(in_run[CALL_stream_make] + in_run[CALL_stream_free], 0);
	assert_int_equal(in_run[CALL_event_make] + in_run[CALL_event_free], 0);
	assert_int_equal(in_run[CALL_event_wait], 2 * BATCHES);
	assert_int_equal(in_run[CALL_stream_wait], 0);
	/* the one block of the run and the allocations of pthread_create, most with sanitizers */
	assert_true(allocated[1] - allocated[0] <= 1 + 5 * (slots + 1));
	assert_int_equal(allocated[BATCHES], allocated[1]);
	snprintf(out.path, sizeof(out.path), "%s", to);
	folder_remove(&out);
}

/* Each compact and sort backend of the device, in fused mode each sort, with one to three slots. */
TEST(no_allocation_during_a_run)
{
	const struct sl_backend *c, *s;
	unsigned runs = 0;
	struct folder f;

	folder_make(&f);
	for (size_t i = 0; (c = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
			if (c->primitive == SL_COMPACT && s->primitive == SL_SORT &&
				c->space == SL_DEVICE && s->space == SL_DEVICE)
				count_run(&f, c->name, s->name, runs++ % 3 + 1);
	for (size_t k = 0; (s = sl_backend_at(k)) != NULL; k++)
		if (s->primitive == SL_SORT && s->space == SL_DEVICE)
			count_run(&f, NULL, s->name, runs++ % 3 + 1);
	assert_true(runs > 3);
	folder_remove(&f);
}

/* --- unusable device ----------------------------------------------------------------------- */

static int run_library(void *argument)
{
	return (int)library_run((const struct library_run *)argument);
}

/* Staged mode, or fused mode if compact is NULL. */
static struct library_run small_run(unsigned threads, const char *compact)
{
	return (struct library_run){.device = "emulated",
		.compact = compact,
		.sort = "work_efficient",
		.slots = threads,
		.threads = threads,
		.particles = 40,
		.batches = 2};
}

/* All calls of the device layer after a wait that made the device unusable. */
static int call_driver_after_error(void *argument)
{
	struct sl_limits limits_now;
	struct sl_device d;
	char byte = 0;
	sl_stream s;
	sl_event e;
	void *p[2];
	float ms;
	int n, refused = 0;

	(void)argument;
	if (sl_memory_get(SL_DEVICE, 1, &p[0]) != SL_OK ||
		sl_memory_get(SL_PINNED, 1, &p[1]) != SL_OK || sl_stream_make(&s) != SL_OK ||
		sl_event_make(&e) != SL_OK)
		return SL_INTERNAL;
	counting->fail_at = atomic_load(&counting->all) + 1;
	counting->error = SL_ERROR_LAUNCH;
	refused += sl_stream_wait(s) == SL_DEVICE_FAILED;
	refused += sl_device_count(&n) == SL_DEVICE_FAILED;
	refused += sl_device_use(0, &d) == SL_DEVICE_FAILED;
	refused += sl_device_limits(&limits_now) == SL_DEVICE_FAILED;
	refused += sl_memory_get(SL_DEVICE, 1, &p[0]) == SL_DEVICE_FAILED;
	refused += sl_memory_get(SL_PINNED, 1, &p[1]) == SL_DEVICE_FAILED;
	refused += sl_stream_make(&s) == SL_DEVICE_FAILED;
	refused += sl_stream_wait(s) == SL_DEVICE_FAILED;
	refused += sl_event_make(&e) == SL_DEVICE_FAILED;
	refused += sl_event_record(e, s) == SL_DEVICE_FAILED;
	refused += sl_event_wait(e) == SL_DEVICE_FAILED;
	refused += sl_event_ms(e, e, &ms) == SL_DEVICE_FAILED;
	refused += sl_copy(&byte, &byte, 1, s) == SL_DEVICE_FAILED;
	refused += sl_fill(&byte, 0, 1, s) == SL_DEVICE_FAILED;
	refused += sl_launch_begin("none") == SL_DEVICE_FAILED;
	return refused;
}

TEST(every_call_is_refused)
{
	assert_int_equal(in_child(call_driver_after_error, NULL), 15);
	assert_int_equal(atomic_load(&counting->failed), 1);
	assert_int_equal(atomic_load(&counting->after), 0);
}

/* One thread, so no other calls are in progress: call k fails, for every k (or for some). */
static void fail_at_each_call(const char *compact)
{
	unsigned calls = 0;

	for (unsigned k = 1; k < CALLS_MOST; k = (unsigned)sl_sampling_next(k, UINT64_MAX)) {
		struct library_run r = small_run(1, compact);
		int code;

		counting_clear();
		counting->fail_at = k;
		counting->error = k % 2 ? SL_ERROR_LAUNCH : SL_ERROR_ADDRESS;
		code = in_child(run_library, &r);
		if (!atomic_load(&counting->failed)) {
			assert_int_equal(code, SL_OK);
			break;
		}
		if (code != SL_DEVICE_FAILED || atomic_load(&counting->after) != 0)
			fail_msg(
				"call %u made the device unusable: exit code %d, %u calls after it",
				k, code, atomic_load(&counting->after));
		calls++;
	}
	print_message("%u calls\n", calls);
	assert_true(sl_sampling_step(calls) > 100 && sl_sampling_step(calls) < CALLS_MOST);
}

TEST(no_call_after_an_error)
{
	fail_at_each_call("naive");
	fail_at_each_call(NULL);
}

/* The same with an injected fault (fault_injection.h) instead of an error of the driver. */
TEST(no_call_after_a_fault)
{
	static const char *const kinds[] = {"dev_count", "dev_use", "dev_limits", "dev_malloc",
		"pinned_malloc", "dev_stream", "dev_event", "dev_record", "dev_sync", "dev_elapsed",
		"dev_copy", "dev_fill", "dev_launch", "dev_capture", "dev_graph", "dev_replay"};
	enum { FIRST_OF_FUSED = 13 }; /* index of the first call that only fused mode makes */

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct library_run r = small_run(1, i % 2 && i < FIRST_OF_FUSED ? "naive" : NULL);
		char fault[64];

		counting_clear();
		snprintf(fault, sizeof(fault), "%s:1:%d", kinds[i], SL_ERROR_ADDRESS);
		assert_null(sl_fault_set(fault));
		assert_int_equal(in_child(run_library, &r), SL_DEVICE_FAILED);
		assert_true(atomic_load(&counting->failed));
		assert_int_equal(atomic_load(&counting->after), 0);
	}
}

/* With several threads, each of the others may have one call in progress, which ends. */
TEST(few_calls_after_an_error)
{
	enum { THREADS = 3 };

	for (unsigned k = 1; k < CALLS_MOST; k += 1 + k / 4) {
		struct library_run r = small_run(THREADS, k % 2 ? "naive" : NULL);
		int code;

		counting_clear();
		counting->fail_at = k;
		counting->error = SL_ERROR_LAUNCH;
		code = in_child(run_library, &r);
		if (!atomic_load(&counting->failed))
			break;
		assert_int_equal(code, SL_DEVICE_FAILED);
		if (atomic_load(&counting->after) > THREADS - 1)
			fail_msg("call %u made the device unusable: %u calls after it", k,
				atomic_load(&counting->after));
	}
}

/* Tests with children come first: ThreadSanitizer treats the fibers of a launch as threads and then forbids fork(). */
BEFORE_TESTS()
{
	counting_begin();
}

BEFORE_EACH()
{
	counting_clear();
}
