/* inputs.h - the sizes and distributions with which every primitive is tested and timed. */
#ifndef SL_TESTS_CASES_INPUTS_H
#define SL_TESTS_CASES_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/primitives.h"

enum sl_input {
	SL_INPUT_ZEROS,
	SL_INPUT_ONES,
	SL_INPUT_RANDOM,
	SL_INPUT_SORTED,   /* random, ascending, with equal neighbours */
	SL_INPUT_REVERSED, /* the same, descending */
	SL_INPUT_FEW,      /* random among 5 values */
	SL_INPUT_LARGEST,  /* every bit set: sums wrap, no pad value is larger */
	SL_INPUT_COUNT,    /* end of the inputs of sweeps; cross checks also use those below */
	/* 2 to 5 random words ANDed: a bit is set less often, and so has less entropy. */
	SL_INPUT_AND2 = SL_INPUT_COUNT,
	SL_INPUT_AND3,
	SL_INPUT_AND4,
	SL_INPUT_AND5,
	SL_INPUT_END
};

enum sl_alive {
	SL_ALIVE_NONE,
	SL_ALIVE_ONE,
	SL_ALIVE_FEW, /* 1 in 100, in clusters */
	SL_ALIVE_HALF,
	SL_ALIVE_MAX, /* 99 in 100 */
	SL_ALIVE_ALL,
	SL_ALIVE_COUNT,                      /* as above */
	SL_ALIVE_1_PERCENT = SL_ALIVE_COUNT, /* independent, not in clusters */
	SL_ALIVE_10_PERCENT,
	SL_ALIVE_90_PERCENT,
	SL_ALIVE_END
};

/* Backend k of a primitive in a space, from 0; NULL after the last. */
const struct sl_backend *sl_backend_of(enum sl_primitive p, enum sl_space space, size_t k);

/* The launcher of a kernel of the tests for the device in use. */
#ifdef SL_WITH_CUDA
#define SL_LAUNCHER(name) (sl_device_is_emulated() ? name##_emulated : name)
#else
#define SL_LAUNCHER(name) name##_emulated
#endif

/* "random", "half alive". */
const char *sl_distribution_name(enum sl_input input);
const char *sl_alive_name(enum sl_alive alive);

/* "u32", "f64". */
const char *sl_type_text(enum sl_type type);

/* Makes n items of type: equal for equal arguments, on any machine. */
void sl_input_fill(enum sl_input input, enum sl_type type, uint32_t n, void *items);

/* Makes n flags: nonzero where the item is alive. */
void sl_alive_fill(enum sl_alive alive, uint32_t n, uint8_t *keep);

/*
 * Sizes in ascending order: 0, 1, 2, near a warp, a block and a tile (4096 items), 2^20+3, and one
 * above 2^24, the last integer up to which float counts exactly.
 */
extern const uint32_t sl_sizes[];
extern const size_t sl_sizes_count;

/* Larger sizes take seconds, so they are tested with one distribution only. */
enum { SL_SIZE_LARGE = 1 << 24 };

/* A well-mixed 64-bit word of i. (Steele et al., SplitMix, 2014.) */
uint64_t sl_mixed(uint64_t i);

#endif
