/*
 * device_emulated.c - tests that streams, events and memory of the emulated device are as strict
 * as those of a real device.
 */
#include <pthread.h>

#include "tests/faults/fault_injection.h"
#include "tests/primitives/emulator/emulator_check.h"

/* --- streams and events ----------------------------------------------------------------------- */

TEST(work_runs_at_the_wait)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_copy(words, at, WORDS_BYTES, NULL));
	assert_int_equal(words[5], 0);
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(words[5], 1);
	sl_emulator_set_settings(&(struct sl_emulator_settings){
		.blocks = 1, .at_once = true, .memory_bytes = 1 << 20});
	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_copy(words, at, WORDS_BYTES, NULL));
	assert_int_equal(words[5], 2);
	sl_memory_give(SL_DEVICE, at);
}

/* An event waits for the work that was queued before it, and for no later work. */
TEST(events_wait_for_earlier_work)
{
	static uint32_t words[3][KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_event events[3];
	sl_stream s;
	float ms, more;

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

/* An event, memory and a stream are freed while work that uses them is queued. */
TEST(freed_objects_finish_their_work)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_event first, second;
	sl_stream s;

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

/* More work than a stream can queue. */
TEST(full_queues_keep_their_order)
{
	enum { TIMES = 1000 };
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();

	for (int i = 0; i < TIMES; i++)
		assert_ok(launch_kernel("add_one", at, NULL));
	fetch(words, at);
	assert_int_equal(words[63], TIMES);
	assert_int_equal(words[64], 0);
	sl_memory_give(SL_DEVICE, at);
}

/* Captured work runs at each launch of the graph, and not at the capture. */
TEST(graphs_run_at_each_launch)
{
	enum { TIMES = 100 };
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_event before, after;
	sl_graph g;
	sl_stream s;
	float ms;

	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_stream_make(&s));
	assert_ok(sl_event_make(&before));
	assert_ok(sl_event_make(&after));
	assert_ok(sl_capture_begin(s));
	assert_ok(sl_event_record(before, s));
	for (int i = 0; i < TIMES; i++)
		assert_ok(launch_kernel("add_one", at, s));
	assert_ok(sl_copy(words, at, WORDS_BYTES, s));
	assert_ok(sl_fill(at + 1, 0, sizeof(*at), s));
	assert_ok(sl_event_record(after, s));
	assert_int_equal(sl_stream_wait(s), SL_DEVICE_FAILED);
	assert_ok(sl_capture_end(s, &g));
	assert_ok(sl_stream_wait(s));
	assert_int_equal(words[0], 0);
	for (uint32_t again = 1; again <= 3; again++) {
		assert_ok(sl_graph_queue(g, s));
		assert_int_equal(words[0], (again - 1) * TIMES);
		assert_int_equal(sl_event_ms(before, after, &ms), SL_DEVICE_FAILED);
		assert_ok(sl_event_wait(after));
		assert_ok(sl_event_ms(before, after, &ms));
		assert_true(ms > 0);
		assert_int_equal(words[0], again * TIMES);
		assert_int_equal(words[1], TIMES);
	}
	sl_graph_free(g);
	sl_event_free(before);
	sl_event_free(after);
	sl_stream_free(s);
	sl_memory_give(SL_DEVICE, at);
}

TEST(captures_come_one_at_a_time)
{
	static uint32_t words[KERNEL_WORDS];
	uint32_t *at = get_words();
	sl_stream s, other;
	sl_graph g, none;

	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_stream_make(&s));
	assert_ok(sl_stream_make(&other));
	assert_int_equal(sl_capture_begin(NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_capture_end(s, &none), SL_DEVICE_FAILED);
	assert_null(none);
	assert_ok(sl_capture_begin(s));
	assert_int_equal(sl_capture_begin(s), SL_DEVICE_FAILED);
	assert_ok(launch_kernel("add_one", at, s));
	sl_capture_drop(s);
	assert_ok(sl_capture_begin(s));
	assert_null(sl_fault_set("dev_graph:1:2"));
	assert_int_equal(sl_capture_end(s, &none), SL_DEVICE_MEMORY);
	sl_fault_set(NULL);
	assert_ok(sl_stream_wait(s)); /* is captured no more */
	assert_ok(sl_capture_begin(s));
	assert_ok(sl_copy(words, at, WORDS_BYTES, s));
	assert_ok(launch_kernel("add_one", at, other));
	assert_ok(sl_stream_wait(other)); /* is not captured */
	assert_ok(sl_capture_end(s, &g));
	assert_ok(sl_capture_begin(other));
	assert_int_equal(sl_graph_queue(g, other), SL_DEVICE_FAILED);
	sl_capture_drop(other);
	assert_ok(sl_graph_queue(g, other));
	assert_ok(sl_stream_wait(other));
	assert_int_equal(words[0], 1);
	sl_graph_free(g);
	sl_graph_free(NULL);
	sl_stream_free(other);
	sl_stream_free(s);
	sl_memory_give(SL_DEVICE, at);
}

enum { THREADS = 4, ROUNDS = 50 };

/* A host thread with its own stream, memory and event. Returns the number of wrong results. */
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

TEST(host_threads_share_the_device)
{
	pthread_t threads[THREADS];
	void *wrong;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work_alone, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST(copies_beyond_a_block_are_refused)
{
	static char host[2 * WORDS_BYTES];
	char *at = (char *)get_words();

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

/* The limit applies to the sum of all blocks, in pages. */
TEST(memory_limit_is_enforced)
{
	struct sl_device device;
	void *most, *more;

	sl_emulator_set_settings(
		&(struct sl_emulator_settings){.blocks = 1, .memory_bytes = (size_t)64 << 20});
	assert_ok(sl_device_use(0, &device));
	assert_string_equal(device.name, "emulated");
	assert_int_equal(device.memory_bytes, 64 << 20);
	assert_int_equal(device.free_bytes, 64 << 20);
	assert_ok(sl_memory_get(SL_DEVICE, (size_t)40 << 20, &most));
	assert_fails(sl_memory_get(SL_DEVICE, (24 << 20) + 1, &more), SL_DEVICE_MEMORY,
		"device memory: 25165825 bytes requested, 25165824 are free: out of memory");
	assert_null(more);
	assert_ok(sl_memory_get(SL_DEVICE, 24 << 20, &more));
	assert_int_equal(sl_memory_get(SL_DEVICE, 1, &more), SL_DEVICE_MEMORY);
	sl_memory_give(SL_DEVICE, most);
	assert_int_equal(sl_memory_get(SL_DEVICE, SIZE_MAX, &more), SL_DEVICE_MEMORY);
	assert_ok(sl_memory_get(SL_DEVICE, (size_t)40 << 20, &most));
	sl_memory_give(SL_DEVICE, most);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}

AFTER_EACH()
{
	as_by_default();
}
