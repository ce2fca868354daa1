/*
 * driver_calls.c - the driver calls of a run, and drivers that have no device.
 *
 * During a run no memory is allocated or freed, no stream and no event is created, and each batch
 * waits twice; the host does not allocate either. After an error that makes a device unusable, no
 * call reaches the driver. Each driver without a device is reported; requesting the device by name
 * is an error, and auto computes on the CPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/report/report.h"
#include "primitives/primitives.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/device/counting_driver.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/library_run.h"

/* --- calls of a run ------------------------------------------------------------------------ */

enum { BATCHES = 7, PARTICLES = 150, MARKS_MAX = 64 };

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

static void count_run(const char *compact, const char *sort, unsigned slots)
{
	const char *to = folder_path(&folder, "out");
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
	remove_run(&folder, "out");
}

TEST(no_allocation_during_a_run)
{
	for_each_backend(count_run);
}

/* --- unusable device ----------------------------------------------------------------------- */

/* All calls of the device layer after a wait that made the device unusable. */
static int call_driver_after_error(void *argument)
{
	struct sl_limits limits_now;
	struct sl_device d;
	char byte = 0;
	sl_stream s, other_stream;
	sl_event e, other_event;
	void *device, *pinned, *p;
	float ms;
	int n;

	(void)argument;
	if (sl_memory_get(SL_DEVICE, 1, &device) != SL_OK ||
		sl_memory_get(SL_PINNED, 1, &pinned) != SL_OK || sl_stream_make(&s) != SL_OK ||
		sl_event_make(&e) != SL_OK)
		return SL_INTERNAL;
	counting->fail_at = atomic_load(&counting->all) + 1;
	counting->error = SL_ERROR_LAUNCH;
	if (sl_stream_wait(s) != SL_DEVICE_FAILED)
		return SL_INTERNAL;
	const enum sl_status all[] = {sl_device_count(&n), sl_device_use(0, &d),
		sl_device_limits(&limits_now), sl_memory_get(SL_DEVICE, 1, &p),
		sl_memory_get(SL_PINNED, 1, &p), sl_stream_make(&other_stream), sl_stream_wait(s),
		sl_event_make(&other_event), sl_event_record(e, s), sl_event_wait(e),
		sl_event_ms(e, e, &ms), sl_copy(&byte, &byte, 1, s), sl_fill(&byte, 0, 1, s),
		sl_launch_begin("none")};

	sl_memory_give(SL_DEVICE, device);
	sl_memory_give(SL_PINNED, pinned);
	sl_event_free(e);
	sl_stream_free(s);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] != SL_DEVICE_FAILED)
			return (int)i + 1;
	return 0;
}

TEST(every_call_is_refused)
{
	assert_int_equal(in_child(call_driver_after_error, NULL), 0);
	assert_int_equal(atomic_load(&counting->failed), 1);
	assert_int_equal(atomic_load(&counting->after), 0);
}

/* --- no device -------------------------------------------------------------------------------- */

/* The answer of the driver, and the expected message. */
static const struct {
	struct driver_answers answers;
	const char *message;
} cases[] = {
	{{.count = 35, .runtime = 13000}, "no CUDA driver is loaded"},
	{{.count = 35, .driver = 12020, .runtime = 13000},
		"the CUDA driver is too old: it serves CUDA 12.2, this build needs 13.0"},
	{{.count = 100}, "the CUDA driver sees no device (CUDA_VISIBLE_DEVICES is "},
	{{.count = 46}, "no device can be used: CUDA error 46"},
	{{.count = 802}, "no device can be used: CUDA error 802"},
	{{.count = 803}, "no device can be used: CUDA error 803"},
	{{.use = SL_ERROR_NO_IMAGE, .major = 7},
		"device 0, Old GPU, is of architecture 7.0, too old for this program"},
	{{.use = SL_ERROR_NO_IMAGE}, "this build has no code for it (error 209"},
};

/* The plan gives the reason in one line. */
static void check_plan(const struct sl_plan *plan, const char *message)
{
	char *text = NULL, *line, *end;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(sl_plan_print(plan, false, out), SL_OK);
	fclose(out);
	line = strstr(text, "no GPU: ");
	if (!line || !strstr(line, message))
		fail_msg("\"%s\" is not in the plan:\n%s", message, text);
	end = strchr(line, '\n');
	assert_true(end && strstr(line, message) < end && strncmp(end + 1, "memory", 6) == 0);
	free(text);
}

/* Requesting the device by name is an error; auto computes on the CPU. */
TEST(missing_devices_are_reported)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct library_run r = {
			.device = "emulated", .threads = 1, .particles = 40, .batches = 2};
		struct sl_plan *plan;

		driver_answers = cases[i].answers;
		assert_fails(library_plan(&r, &plan), SL_NO_DEVICE, cases[i].message);
		sl_plan_free(plan);
		r.device = "auto";
		assert_ok(library_plan(&r, &plan));
		assert_false(plan->on_device);
		check_plan(plan, cases[i].message);
		sl_plan_free(plan);
		assert_ok(library_run(&r));
	}
}

TEST(device_number_out_of_range_is_refused)
{
	struct sl_device d;

	assert_fails(sl_device_use(32, &d), SL_NO_DEVICE,
		"there is no device 32: this machine has 32; choose one from 0 to 31");
	assert_fails(sl_device_use(-1, &d), SL_NO_DEVICE, "there is no device -1");
}

/*
 * Tests with children come first: ThreadSanitizer treats the fibers of a launch as threads and then
 * forbids fork().
 */
BEFORE_TESTS()
{
	counting_begin();
}

BEFORE_EACH()
{
	counting_clear();
}
