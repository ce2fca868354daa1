/*
 * emulator_check.h - helpers for the tests of the emulated device: device memory for the kernels,
 * emulator settings, child processes.
 */
#ifndef SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_CHECK_H
#define SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_CHECK_H

#include <stdio.h>

#include "primitives/emulator/settings.h"
#include "tests/primitives/emulator/emulator_kernels.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"

enum { WORDS_BYTES = KERNEL_WORDS * sizeof(uint32_t), ALONE_SECONDS = 60 };

/* KERNEL_WORDS words of device memory, all 0. */
static inline uint32_t *get_words(void)
{
	void *p;

	assert_ok(sl_memory_get(SL_DEVICE, WORDS_BYTES, &p));
	assert_ok(sl_fill(p, 0, WORDS_BYTES, NULL));
	return (uint32_t *)p;
}

static inline void fetch(uint32_t *to, const uint32_t *words)
{
	assert_ok(sl_copy(to, words, WORDS_BYTES, NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* Runs a kernel and fetches the words, which were 0. */
static inline void run_kernel(const char *name, uint32_t *result)
{
	uint32_t *words = get_words();

	assert_ok(launch_kernel(name, words, NULL));
	fetch(result, words);
	sl_memory_give(SL_DEVICE, words);
}

/* Resets the settings to their defaults. */
static inline void as_by_default(void)
{
	sl_emulator_set_settings(
		&(struct sl_emulator_settings){.blocks = 1, .memory_bytes = (size_t)1 << 30});
}

/*
 * Runs this program again with that argument and those settings of SL_EMULATOR. The exit delay of
 * ThreadSanitizer, one second, is switched off, because no thread is left at the end.
 */
static inline void run_alone(const char *what, const char *choices, struct ending *e)
{
	const char *argv[] = {"/proc/self/exe", what, NULL};
	char setting[300];
	const char *const env[] = {setting, "TSAN_OPTIONS=atexit_sleep_ms=0", NULL};
	struct process p = {.argv = argv, .env = env};

	snprintf(setting, sizeof(setting), "SL_EMULATOR=%s", choices);
	process_run(&p, ALONE_SECONDS, e);
	if (e->timed_out)
		fail_msg("%s (%s) did not end in time", what, choices);
}

#endif
