/*
 * emulator_memory.c - a launch on the emulated device for which the host has no memory returns SL_DEVICE_MEMORY. It is
 * not reported as a kernel that violates a rule.
 *
 * Each allocation of a launch fails once, in a separate process: this program again, with the number of the allocation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/primitives/emulator/emulator_check.h"

static unsigned long calls, failing;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return ++calls == failing ? NULL : __real_malloc(bytes);
}

int __real_posix_memalign(void **p, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes)
{
	return ++calls == failing ? ENOMEM : __real_posix_memalign(p, alignment, bytes);
}

/* Runs a kernel of two blocks with static and dynamic shared memory. Allocation k of the launch fails. */
static int child(unsigned long k)
{
	void *words = NULL;
	enum sl_status s = sl_memory_get(SL_DEVICE, WORDS_BYTES, &words);

	failing = calls + k;
	if (s == SL_OK)
		s = launch_kernel("shared_at_first", (uint32_t *)words, NULL);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	failing = 0;
	fputs(s == SL_OK ? "" : sl_last_error(), stderr);
	return (int)s;
}

/* Each of the two blocks allocates its order, dynamic shared memory and a variable. */
TEST(lack_of_host_memory_is_no_failed_kernel)
{
	struct ending e;

	for (int k = 0; k < 6; k++) {
		const char number[] = {(char)('1' + k), 0};

		run_alone(number, "", &e);
		if (e.code != SL_DEVICE_MEMORY || !strstr(e.err, "out of memory"))
			fail_msg("allocation %s fails: the child ends with %d, signal %d: %s",
				number, e.code, e.signal, e.err);
		process_free(&e);
	}
	run_alone("7", "", &e);
	assert_int_equal(e.code, SL_OK);
	process_free(&e);
}

TEST_FILE(argc, argv)
{
	sl_device_emulate(true);
	return argc == 2 ? child(strtoul(argv[1], NULL, 10)) : run_test_file(argv[0]);
}
