/*
 * several_devices.c - emulated devices have separate memory, streams and failures: what happens on one does not
 * change another.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/device/device_driver.h"
#include "primitives/device/peers.h"
#include "primitives/emulator/settings.h"
#include "tests/faults/fault_injection.h"
#include "tests/primitives/emulator/emulator_check.h"

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
	(void)use(0);
}

/* Work of two devices runs in its streams, whichever device is current when the host waits. */
TEST(streams_belong_to_a_device)
{
	static uint32_t words[2][KERNEL_WORDS];
	struct sl_device d[2] = {use(0), use(1)};
	uint32_t *at[2];
	sl_stream s[2];

	for (int i = 0; i < 2; i++) {
		assert_true(sl_device_switch(&d[i]));
		at[i] = get_words();
		assert_ok(sl_stream_wait(NULL));
		assert_ok(sl_stream_make(&s[i]));
		for (int k = 0; k <= i; k++)
			assert_ok(launch_kernel("add_one", at[i], s[i]));
		assert_ok(sl_copy(words[i], at[i], WORDS_BYTES, s[i]));
	}
	assert_fails(launch_kernel("add_one", at[0], s[0]), SL_DEVICE_FAILED,
		"error 400, the stream belongs to another device");
	for (int i = 0; i < 2; i++) {
		assert_ok(sl_stream_wait(s[i]));
		assert_int_equal(words[i][7], i + 1);
		sl_stream_free(s[i]);
		sl_memory_give(SL_DEVICE, at[i]);
	}
	(void)use(0);
}

/* A kernel of device 1 that writes to the memory of device 0 ends the process, as without peer access. */
TEST(memory_of_another_device_is_out_of_reach)
{
	uint32_t *at;
	int status;
	pid_t child;

	(void)use(0);
	at = get_words();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* of cmocka */
		(void)use(1);
		(void)launch_kernel("add_one", at, NULL);
		(void)sl_stream_wait(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	sl_memory_give(SL_DEVICE, at);
}

/* Adds one to the words of device 0 by a kernel of device 1. Returns whether device 1 can access them. */
static bool add_one_from_device_1(const struct sl_device *d, uint32_t *at)
{
	bool reached;

	assert_true(sl_device_switch(&d[1]));
	assert_ok(sl_device_reach(&d[0], &reached));
	if (reached) {
		assert_ok(launch_kernel("add_one", at, NULL));
		assert_ok(sl_stream_wait(NULL));
	}
	return reached;
}

TEST(peer_access_reaches_it)
{
	struct sl_emulator_settings none = *sl_emulator_get_settings(), before = none;
	static uint32_t words[KERNEL_WORDS];
	struct sl_device d[2] = {use(0), use(1)};
	uint32_t *at;
	bool reached;

	none.no_peers = true;
	assert_true(sl_device_switch(&d[0]));
	at = get_words();
	assert_ok(sl_stream_wait(NULL));
	assert_ok(sl_device_reach(&d[0], &reached));
	assert_true(reached); /* itself */
	sl_emulator_set_settings(&none);
	assert_false(add_one_from_device_1(d, at));
	sl_emulator_set_settings(&before);
	assert_true(add_one_from_device_1(d, at));
	assert_true(add_one_from_device_1(d, at));
	assert_ok(sl_copy(words, at, WORDS_BYTES, NULL)); /* a copy reaches every device */
	assert_ok(sl_stream_wait(NULL));
	assert_int_equal(words[7], 2);
	sl_memory_give(SL_DEVICE, at);
	(void)use(0);
}

/* --- failures ---------------------------------------------------------------------------------- */

static void *use_fails(void *number)
{
	struct sl_device d;

	return (void *)(uintptr_t)sl_device_use(*(const int *)number, &d);
}

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

	/* another thread cannot use it either; the current device stays */
	assert_int_equal(pthread_create(&thread, NULL, use_fails, &d[1].number), 0);
	assert_int_equal(pthread_join(thread, &status), 0);
	assert_int_equal((uintptr_t)status, SL_DEVICE_FAILED);
	assert_true(sl_device_switch(&d[0]));
	assert_false(sl_device_switch(&d[1]));
	assert_fails(sl_device_use(3, &other), SL_DEVICE_FAILED, "error 719");
	assert_false(sl_device_has_failed(0));
	at = get_words();
	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, at);
}

/* A kernel that breaks a rule of CUDA fails its own device when the host waits. */
TEST(failed_kernel_leaves_the_others)
{
	uint32_t *at;

	(void)use(4);
	at = get_words();
	assert_ok(launch_kernel("two_barriers", at, NULL));
	assert_fails(sl_stream_wait(NULL), SL_DEVICE_FAILED, "error 719");
	(void)use(0);
	at = get_words();
	assert_ok(launch_kernel("add_one", at, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_memory_give(SL_DEVICE, at);
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
	(void)use(0);
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
