/*
 * deflate_inputs.h - jobs of deflate_check() with inputs of many kinds: each needs another part of
 * an encoder. The output of a device must equal that of its specification.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_INPUTS_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_INPUTS_H

#include "tests/support/formats/deflate_check.h"

/* Kinds of input. */
enum deflate_input {
	DEFLATE_CONSTANT,
	DEFLATE_RANDOM,
	DEFLATE_HIGH, /* random bytes from 144 on, for which the fixed code has 9 bits */
	DEFLATE_TEXT,
	DEFLATE_TWO,       /* two symbols, at random */
	DEFLATE_FIBONACCI, /* symbol counts that give Huffman codes of more than 15 bits */
	DEFLATE_RUNS,      /* of few symbols, of 1 to 600 bytes */
	DEFLATE_REPEATS,   /* random bytes that repeat at short and long distances */
	DEFLATE_IDS,       /* u64 ids of a half of the particles */
	DEFLATE_KEYS,      /* u32, sorted */
	DEFLATE_FLOATS,    /* uniform in 0 .. 1 */
	DEFLATE_INPUTS
};

/* Makes an input, the same for the same arguments. */
void deflate_input_make(enum deflate_input kind, size_t bytes, void *to);

/*
 * Tests every kind of input, sizes near slices, rounds and segments, and many chunk sizes, up to
 * most bytes; on the emulated device the share of sampling.h.
 */
void deflate_sweep(const struct sl_backend *b, size_t most);

/* Runs the random job with this number, of up to most bytes. */
void deflate_random(const struct sl_backend *b, uint64_t number, size_t most);

#endif
