/*
 * devices.c - tests that streams, events, graphs and memory of an emulated device are as strict as
 * those of a real one, and that several devices have separate memory, streams and failures.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/device/device_driver.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/emulator/emulator_check.h"

/* Of each test, on device 0: device memory whose words are 0, two streams, and three events. */
static uint32_t *at, words[3][KERNEL_WORDS];
static sl_stream first, second;
static sl_event event[3];

static struct sl_device use(int number)
{
	struct sl_device d;

	assert_ok(sl_device_use(number, &d));
	assert_int_equal(d.number, number);
	return d;
}

/* Words in device memory that no queued work sets to 0 any more. */
static uint32_t *get_zeros(void)
{
	uint32_t *zeros = get_words();

	assert_ok(sl_stream_wait(NULL));
	memset(words, 0, sizeof(words));
	return zeros;
}

BEFORE_EACH()
{
	sl_device_emulate(true);
	(void)use(0);
	at = get_zeros();
	assert_ok(sl_stream_make(&first));
	assert_ok(sl_stream_make(&second));
	for (int i = 0; i < 3; i++)
		assert_ok(sl_event_make(&event[i]));
}

AFTER_EACH()
{
	sl_emulator_set_settings(
		&(struct sl_emulator_settings){.blocks = 1, .memory_bytes = (size_t)1 << 30});
	(void)use(0);
	sl_memory_give(SL_DEVICE, at);
	sl_stream_free(first);
	sl_stream_free(second);
	for (int i = 0; i < 3; i++)
		sl_event_free(event[i]);
}

/*
 * Queues a kernel that adds one to the first 64 words, and, unless to is NULL, a copy of all words.
 */
static void add_one(uint32_t *p, uint32_t *to, sl_stream s)
{
	assert_ok(launch_kernel("add_one", p, s));
	if (to)
		assert_ok(sl_copy(to, p, WORDS_BYTES, s));
}

/* --- streams and events ----------------------------------------------------------------------- */

TEST(work_runs_at_the_wait_and_in_order)
{
	enum { TIMES = 1000 }; /* more work than a stream can queue */

	add_one(at, words[0], NULL);
	assert_int_equal(words[0][5], 0);
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(words[0][5], 1);
	for (int i = 1; i < TIMES; i++)
		add_one(at, NULL, NULL);
	fetch(words[0], at);
	assert_int_equal(words[0][63], TIMES);
	assert_int_equal(words[0][64], 0);
	sl_emulator_set_settings(&(struct sl_emulator_settings){
		.blocks = 1, .at_once = true, .memory_bytes = 1 << 20});
	add_one(at, words[0], NULL);
	assert_int_equal(words[0][5], TIMES + 1);
}

/* An event waits for the work that was queued before it, and for no later work. */
TEST(events_wait_for_earlier_work)
{
	float ms, more;

	for (int i = 0; i < 3; i++) {
		add_one(at, words[i], first);
		assert_ok(sl_event_record(event[i], first));
	}
	assert_int_equal(sl_event_ms(event[0], event[1], &ms), SL_DEVICE_FAILED);
	assert_ok(sl_event_wait(event[1]));
	assert_int_equal(words[1][0], 2);
	assert_ok(sl_event_wait(event[0]));
	assert_int_equal(words[2][0], 0);
	assert_ok(sl_event_wait(event[2]));
	assert_int_equal(words[2][0], 3);
	assert_ok(sl_event_ms(event[0], event[1], &ms));
	assert_ok(sl_event_ms(event[0], event[2], &more));
	assert_true(ms > 0 && more > ms);
	assert_ok(sl_event_ms(event[2], event[0], &ms));
	assert_true(ms == -more);
}

/* An event, memory and a stream are freed while work that uses them is queued. */
TEST(freed_objects_finish_their_work)
{
	assert_ok(sl_event_record(event[0], first));
	assert_ok(sl_event_record(event[0], first));
	sl_event_free(event[0]);
	event[0] = NULL;
	add_one(at, words[0], first);
	assert_ok(sl_event_record(event[1], first));
	sl_memory_give(SL_DEVICE, at); /* as cudaFree, waits */
	at = NULL;
	assert_int_equal(words[0][0], 1);
	assert_ok(sl_event_record(event[1], first));
	sl_stream_free(first);
	first = NULL;
	assert_ok(sl_event_wait(event[1]));
}

/* Captured work runs at each launch of the graph, and not at the capture. */
TEST(graphs_run_at_each_launch)
{
	enum { TIMES = 100 };
	sl_graph g;
	float ms;

	assert_ok(sl_capture_begin(first));
	assert_ok(sl_event_record(event[0], first));
	for (int i = 0; i < TIMES; i++)
		add_one(at, i + 1 == TIMES ? words[0] : NULL, first);
	assert_ok(sl_fill(at + 1, 0, sizeof(*at), first));
	assert_ok(sl_event_record(event[1], first));
	assert_int_equal(sl_stream_wait(first), SL_DEVICE_FAILED);
	assert_ok(sl_capture_end(first, &g));
	assert_ok(sl_stream_wait(first));
	for (uint32_t again = 0; again < 3; again++) {
		assert_ok(sl_graph_queue(g, first));
		assert_int_equal(words[0][0], again * TIMES);
		assert_int_equal(sl_event_ms(event[0], event[1], &ms), SL_DEVICE_FAILED);
		assert_ok(sl_event_wait(event[1]));
		assert_ok(sl_event_ms(event[0], event[1], &ms));
		assert_true(ms > 0);
		assert_int_equal(words[0][0], (again + 1) * TIMES);
		assert_int_equal(words[0][1], TIMES);
	}
	sl_graph_free(g);
}

TEST(captures_come_one_at_a_time)
{
	sl_graph g, none;

	assert_int_equal(sl_capture_begin(NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_capture_end(first, &none), SL_DEVICE_FAILED);
	assert_null(none);
	assert_ok(sl_capture_begin(first));
	assert_int_equal(sl_capture_begin(first), SL_DEVICE_FAILED);
	add_one(at, NULL, first);
	sl_capture_drop(first);
	assert_ok(sl_capture_begin(first));
	assert_null(sl_fault_set("dev_graph:1:2"));
	assert_int_equal(sl_capture_end(first, &none), SL_DEVICE_MEMORY);
	sl_fault_set(NULL);
	assert_ok(sl_stream_wait(first)); /* is captured no more */
	assert_ok(sl_capture_begin(first));
	assert_ok(sl_copy(words[0], at, WORDS_BYTES, first));
	add_one(at, NULL, second);
	assert_ok(sl_stream_wait(second)); /* is not captured */
	assert_ok(sl_capture_end(first, &g));
	assert_ok(sl_capture_begin(second));
	assert_int_equal(sl_graph_queue(g, second), SL_DEVICE_FAILED);
	sl_capture_drop(second);
	assert_ok(sl_graph_queue(g, second));
	assert_ok(sl_stream_wait(second));
	assert_int_equal(words[0][0], 1);
	sl_graph_free(g);
	sl_graph_free(NULL);
}

/*
 * A host thread with its own stream, memory and event. Returns the number of failed calls and wrong
 * results.
 */
static void *work_alone(void *unused)
{
	uint32_t own[64] = {0};
	uintptr_t wrong = 0;
	sl_stream s;
	sl_event e;
	void *p;

	(void)unused;
	if (sl_stream_make(&s) || sl_event_make(&e) || sl_memory_get(SL_DEVICE, sizeof(own), &p))
		return (void *)1;
	for (uint32_t i = 0; i < 50; i++) {
		own[63] = i;
		wrong += sl_copy(p, own, sizeof(own), s) ||
		         launch_kernel("add_one", (uint32_t *)p, s) ||
		         sl_copy(own, p, sizeof(own), s) || sl_event_record(e, s) ||
		         (i % 2 ? sl_event_wait(e) : sl_stream_wait(s)) || own[63] != i + 1 ||
		         own[0] != i + 1;
	}
	sl_memory_give(SL_DEVICE, p);
	sl_event_free(e);
	sl_stream_free(s);
	return (void *)wrong;
}

TEST(host_threads_share_the_device)
{
	enum { THREADS = 4 };
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
	char *block = (char *)at;

	assert_int_equal(sl_copy(host, block, WORDS_BYTES + 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(block, host, WORDS_BYTES + 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(block + 1, host, WORDS_BYTES, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_copy(block + WORDS_BYTES, host, 1, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_fill(block + 8, 0, WORDS_BYTES - 7, NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_fill(block, 0, SIZE_MAX, NULL), SL_DEVICE_FAILED);
	assert_ok(sl_copy(host, block + 1, WORDS_BYTES - 1, NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* The limit applies to the sum of all blocks, in pages. */
TEST(memory_limit_is_enforced)
{
	struct sl_device device;
	void *most, *more;

	sl_memory_give(SL_DEVICE, at);
	at = NULL;
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

/* --- several devices -------------------------------------------------------------------------- */

TEST(each_device_has_memory_of_its_own)
{
	struct sl_device d[2] = {use(0), use(1)};
	void *p;

	assert_ok(sl_memory_get(SL_DEVICE, 1 << 20, &p)); /* of device 1 */
	assert_int_equal(use(0).free_bytes, d[0].free_bytes);
	assert_int_equal(use(1).free_bytes, d[1].free_bytes - (1 << 20));
	assert_true(sl_device_switch(&d[0]));
	sl_memory_give(SL_DEVICE, p); /* any device may be current */
	assert_int_equal(use(1).free_bytes, d[1].free_bytes);
}

/* Work of two devices runs in its streams, whichever device is current when the host waits. */
TEST(streams_belong_to_a_device)
{
	struct sl_device d[2] = {use(0), use(1)};
	uint32_t *of[2];
	sl_stream s[2];

	for (int i = 0; i < 2; i++) {
		assert_true(sl_device_switch(&d[i]));
		of[i] = get_zeros();
		assert_ok(sl_stream_make(&s[i]));
		for (int k = 0; k <= i; k++)
			add_one(of[i], words[i], s[i]);
	}
	assert_fails(launch_kernel("add_one", of[0], s[0]), SL_DEVICE_FAILED,
		"error 400, the stream belongs to another device");
	for (int i = 0; i < 2; i++) {
		assert_ok(sl_stream_wait(s[i]));
		assert_int_equal(words[i][7], i + 1);
		sl_stream_free(s[i]);
		sl_memory_give(SL_DEVICE, of[i]);
	}
}

static void *use_fails(void *number)
{
	struct sl_device d;

	return (void *)(uintptr_t)sl_device_use(*(const int *)number, &d);
}

/* The current device computes as if nothing had happened. */
static void expect_usable(void)
{
	uint32_t *p = get_words();

	add_one(p, NULL, NULL);
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, p);
}

/* No thread can use a failed device. */
TEST(failed_device_leaves_the_others)
{
	struct sl_device d[2] = {use(0), use(3)}, other;
	uint32_t *of_3 = get_words(), *of_4;
	sl_stream stream;
	pthread_t thread;
	void *status, *memory;

	assert_false(sl_device_has_failed(3) || sl_device_has_failed(-1) ||
		     sl_device_has_failed(SL_DEVICES_MAX));
	assert_null(sl_fault_set("dev_launch:1:719"));
	assert_fails(launch_kernel("add_one", of_3, NULL), SL_DEVICE_FAILED, "error 719");
	assert_null(sl_fault_set(""));
	assert_true(sl_device_has_failed(3));
	assert_fails(sl_stream_make(&stream), SL_DEVICE_FAILED, "error 719");
	assert_fails(sl_memory_get(SL_PINNED, 8, &memory), SL_DEVICE_FAILED, "error 719");
	assert_int_equal(pthread_create(&thread, NULL, use_fails, &d[1].number), 0);
	assert_int_equal(pthread_join(thread, &status), 0);
	assert_int_equal((uintptr_t)status, SL_DEVICE_FAILED);
	assert_true(sl_device_switch(&d[0]));
	assert_false(sl_device_switch(&d[1]));
	assert_fails(sl_device_use(3, &other), SL_DEVICE_FAILED, "error 719");
	assert_false(sl_device_has_failed(0));
	expect_usable();
	(void)use(4); /* fails when the host waits, by a kernel that breaks a rule */
	of_4 = get_words();
	assert_ok(launch_kernel("two_barriers", of_4, NULL));
	assert_fails(sl_stream_wait(NULL), SL_DEVICE_FAILED, "error 719");
	(void)use(0);
	expect_usable();
}
