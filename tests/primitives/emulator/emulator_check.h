/* emulator_check.h - helpers for the tests of the emulated device: memory for its kernels. */
#ifndef SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_CHECK_H
#define SL_TESTS_PRIMITIVES_EMULATOR_EMULATOR_CHECK_H

#include <stdio.h>

#include "primitives/emulator/settings.h"
#include "tests/primitives/emulator/emulator_kernels.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"

enum { WORDS_BYTES = KERNEL_WORDS * sizeof(uint32_t) };

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

#endif
