/*
 * devices.c - tests that streams, events, graphs and memory of an emulated device are as strict as those of a real one, and
 * that several devices have separate memory, streams and failures.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/device/device_driver.h"
#include "primitives/device/peers.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/emulator/emulator_check.h"

static uint32_t words[3][KERNEL_WORDS];

/* Queues a kernel that adds one to the first 64 words, and, unless to is NULL, a copy of all words. */
static void add_one(uint32_t *at, uint32_t *to, sl_stream s)
{
	assert_ok(launch_kernel("add_one", at, s));
	if (to)
		assert_ok(sl_copy(to, at, WORDS_BYTES, s));
}

/* Words in device memory that no queued work sets to 0 any more. */
static uint32_t *get_zeros(void)
{
	uint32_t *at = get_words();

	assert_ok(sl_stream_wait(NULL));
	memset(words, 0, sizeof(words));
	return at;
}

static sl_stream new_stream(void)
{
	sl_stream s;

	assert_ok(sl_stream_make(&s));
	return s;
}

static sl_event new_event(void)
{
	sl_event e;

	assert_ok(sl_event_make(&e));
	return e;
}

/* --- streams and events ----------------------------------------------------------------------- */

TEST(work_runs_at_the_wait_and_in_order)
{
	enum { TIMES = 1000 }; /* more work than a stream can queue */
	uint32_t *at = get_zeros();

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
	sl_memory_give(SL_DEVICE, at);
}

/* An event waits for the work that was queued before it, and for no later work. */
TEST(events_wait_for_earlier_work)
{
	uint32_t *at = get_zeros();
	sl_stream s = new_stream();
	sl_event events[3];
	float ms, more;

	for (int i = 0; i < 3; i++) {
		events[i] = new_event();
		add_one(at, words[i], s);
		assert_ok(sl_event_record(events[i], s));
	}
	assert_int_equal(sl_event_ms(events[0], events[1], &ms), SL_DEVICE_FAILED);
	assert_ok(sl_event_wait(events[1]));
	assert_int_equal(words[1][0], 2);
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
	uint32_t *at = get_zeros();
	sl_stream s = new_stream();
	sl_event first = new_event(), second = new_event();

	assert_ok(sl_event_record(first, s));
	assert_ok(sl_event_record(first, s));
	sl_event_free(first);
	add_one(at, words[0], s);
	assert_ok(sl_event_record(second, s));
	sl_memory_give(SL_DEVICE, at); /* as cudaFree, waits */
	assert_int_equal(words[0][0], 1);
	assert_ok(sl_event_record(second, s));
	sl_stream_free(s);
	assert_ok(sl_event_wait(second));
	sl_event_free(second);
}

/* Captured work runs at each launch of the graph, and not at the capture. */
TEST(graphs_run_at_each_launch)
{
	enum { TIMES = 100 };
	uint32_t *at = get_zeros();
	sl_stream s = new_stream();
	sl_event before = new_event(), end = new_event();
	sl_graph g;
	float ms;

	assert_ok(sl_capture_begin(s));
	assert_ok(sl_event_record(before, s));
	for (int i = 0; i < TIMES; i++)
		add_one(at, i + 1 == TIMES ? words[0] : NULL, s);
	assert_ok(sl_fill(at + 1, 0, sizeof(*at), s));
	assert_ok(sl_event_record(end, s));
	assert_int_equal(sl_stream_wait(s), SL_DEVICE_FAILED);
	assert_ok(sl_capture_end(s, &g));
	assert_ok(sl_stream_wait(s));
	for (uint32_t again = 0; again < 3; again++) {
		assert_int_equal(words[0][0], again * TIMES);
		assert_ok(sl_graph_queue(g, s));
		assert_int_equal(words[0][0], again * TIMES);
		assert_int_equal(sl_event_ms(before, end, &ms), SL_DEVICE_FAILED);
		assert_ok(sl_event_wait(end));
		assert_ok(sl_event_ms(before, end, &ms));
		assert_true(ms > 0);
		assert_int_equal(words[0][0], (again + 1) * TIMES);
		assert_int_equal(words[0][1], TIMES);
	}
	sl_graph_free(g);
	sl_event_free(before);
	sl_event_free(end);
	sl_stream_free(s);
	sl_memory_give(SL_DEVICE, at);
}

TEST(captures_come_one_at_a_time)
{
	uint32_t *at = get_zeros();
	sl_stream s = new_stream(), other = new_stream();
	sl_graph g, none;

	assert_int_equal(sl_capture_begin(NULL), SL_DEVICE_FAILED);
	assert_int_equal(sl_capture_end(s, &none), SL_DEVICE_FAILED);
	assert_null(none);
	assert_ok(sl_capture_begin(s));
	assert_int_equal(sl_capture_begin(s), SL_DEVICE_FAILED);
	add_one(at, NULL, s);
	sl_capture_drop(s);
	assert_ok(sl_capture_begin(s));
	assert_null(sl_fault_set("dev_graph:1:2"));
	assert_int_equal(sl_capture_end(s, &none), SL_DEVICE_MEMORY);
	sl_fault_set(NULL);
	assert_ok(sl_stream_wait(s)); /* is captured no more */
	assert_ok(sl_capture_begin(s));
	assert_ok(sl_copy(words[0], at, WORDS_BYTES, s));
	add_one(at, NULL, other);
	assert_ok(sl_stream_wait(other)); /* is not captured */
	assert_ok(sl_capture_end(s, &g));
	assert_ok(sl_capture_begin(other));
	assert_int_equal(sl_graph_queue(g, other), SL_DEVICE_FAILED);
	sl_capture_drop(other);
	assert_ok(sl_graph_queue(g, other));
	assert_ok(sl_stream_wait(other));
	assert_int_equal(words[0][0], 1);
	sl_graph_free(g);
	sl_graph_free(NULL);
	sl_stream_free(other);
	sl_stream_free(s);
	sl_memory_give(SL_DEVICE, at);
}

/* A host thread with its own stream, memory and event. Returns the number of wrong results. */
static void *work_alone(void *unused)
{
	uint32_t own[64] = {0};
	uintptr_t wrong = 0;
	sl_stream s = new_stream();
	sl_event e = new_event();
	void *at;

	(void)unused;
	if (sl_memory_get(SL_DEVICE, sizeof(own), &at) != SL_OK)
		return (void *)1;
	for (uint32_t i = 0; i < 50; i++) {
		own[63] = i;
		wrong += sl_copy(at, own, sizeof(own), s) != SL_OK;
		wrong += launch_kernel("add_one", (uint32_t *)at, s) != SL_OK;
		wrong += sl_copy(own, at, sizeof(own), s) != SL_OK;
		wrong += sl_event_record(e, s) != SL_OK;
		wrong += (i % 2 ? sl_event_wait(e) : sl_stream_wait(s)) != SL_OK;
		wrong += own[63] != i + 1 || own[0] != i + 1;
	}
	sl_memory_give(SL_DEVICE, at);
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

/* --- several devices -------------------------------------------------------------------------- */

static struct sl_device use(int number)
{
	struct sl_device d;

	assert_ok(sl_device_use(number, &d));
	assert_int_equal(d.number, number);
	return d;
}

TEST(each_device_has_memory_of_its_own)
{
	struct sl_device d[2] = {use(0), use(1)};
	void *at;

	assert_ok(sl_memory_get(SL_DEVICE, 1 << 20, &at)); /* of device 1 */
	assert_int_equal(use(0).free_bytes, d[0].free_bytes);
	assert_int_equal(use(1).free_bytes, d[1].free_bytes - (1 << 20));
	assert_true(sl_device_switch(&d[0]));
	sl_memory_give(SL_DEVICE, at); /* any device may be current */
	assert_int_equal(use(1).free_bytes, d[1].free_bytes);
}

/* Work of two devices runs in its streams, whichever device is current when the host waits. */
TEST(streams_belong_to_a_device)
{
	struct sl_device d[2] = {use(0), use(1)};
	uint32_t *at[2];
	sl_stream s[2];

	for (int i = 0; i < 2; i++) {
		assert_true(sl_device_switch(&d[i]));
		at[i] = get_zeros();
		s[i] = new_stream();
		for (int k = 0; k <= i; k++)
			add_one(at[i], words[i], s[i]);
	}
	assert_fails(launch_kernel("add_one", at[0], s[0]), SL_DEVICE_FAILED,
		"error 400, the stream belongs to another device");
	for (int i = 0; i < 2; i++) {
		assert_ok(sl_stream_wait(s[i]));
		assert_int_equal(words[i][7], i + 1);
		sl_stream_free(s[i]);
		sl_memory_give(SL_DEVICE, at[i]);
	}
}

/* Adds one to the words of device 0 by a kernel of device 1. Returns whether device 1 can access them. */
static bool add_one_from_device_1(const struct sl_device *d, uint32_t *at)
{
	bool reached;

	assert_true(sl_device_switch(&d[1]));
	assert_ok(sl_device_reach(&d[0], &reached));
	if (reached) {
		add_one(at, NULL, NULL);
		assert_ok(sl_stream_wait(NULL));
	}
	return reached;
}

/* Without peer access, a kernel of device 1 that writes to the memory of device 0 ends the process. */
TEST(memory_of_another_device_needs_peer_access)
{
	struct sl_emulator_settings none = *sl_emulator_get_settings(), before = none;
	struct sl_device d[2] = {use(0), use(1)};
	uint32_t *at;
	int status;
	pid_t child;
	bool reached;

	none.no_peers = true;
	assert_true(sl_device_switch(&d[0]));
	at = get_zeros();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* of cmocka */
		(void)sl_device_switch(&d[1]);
		(void)launch_kernel("add_one", at, NULL);
		(void)sl_stream_wait(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_ok(sl_device_reach(&d[0], &reached));
	assert_true(reached); /* itself */
	sl_emulator_set_settings(&none);
	assert_false(add_one_from_device_1(d, at));
	sl_emulator_set_settings(&before);
	assert_true(add_one_from_device_1(d, at));
	assert_true(add_one_from_device_1(d, at));
	fetch(words[0], at); /* a copy reaches every device */
	assert_int_equal(words[0][7], 2);
	sl_memory_give(SL_DEVICE, at);
}

static void *use_fails(void *number)
{
	struct sl_device d;

	return (void *)(uintptr_t)sl_device_use(*(const int *)number, &d);
}

/* The current device computes as if nothing had happened. */
static void expect_usable(void)
{
	uint32_t *at = get_words();

	add_one(at, NULL, NULL);
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, at);
}

/* No thread can use a failed device. */
TEST(failed_device_leaves_the_others)
{
	struct sl_device d[2] = {use(0), use(3)}, other;
	uint32_t *at = get_words();
	sl_stream stream;
	pthread_t thread;
	void *status, *memory;

	assert_false(sl_device_has_failed(3));
	assert_null(sl_fault_set("dev_launch:1:719"));
	assert_fails(launch_kernel("add_one", at, NULL), SL_DEVICE_FAILED, "error 719");
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
	at = get_words();
	assert_ok(launch_kernel("two_barriers", at, NULL));
	assert_fails(sl_stream_wait(NULL), SL_DEVICE_FAILED, "error 719");
	(void)use(0);
	expect_usable();
}

/* Numbers outside the range of devices change nothing. */
TEST(unknown_numbers_are_refused)
{
	struct sl_device d = use(2);
	int n;

	assert_ok(sl_device_count(&n));
	assert_int_equal(n, SL_DEVICES_MAX);
	assert_fails(
		sl_device_use(n, &d), SL_NO_DEVICE, "there is no device 32: this machine has 32");
	assert_fails(sl_device_use(-1, &d), SL_NO_DEVICE, "there is no device -1");
	assert_string_equal(sl_device_name(), "emulated");
	assert_false(sl_device_has_failed(n));
	assert_false(sl_device_has_failed(-1));
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}

AFTER_EACH()
{
	sl_emulator_set_settings(
		&(struct sl_emulator_settings){.blocks = 1, .memory_bytes = (size_t)1 << 30});
	(void)use(0);
}
