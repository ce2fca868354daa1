/* deflate_inputs.h - inputs of the tests of deflate: each kind needs another part of an encoder. */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_INPUTS_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_INPUTS_H

#include <stddef.h>

/* Kinds of input. */
enum deflate_input {
	DEFLATE_CONSTANT,
	DEFLATE_RANDOM,
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

#endif
