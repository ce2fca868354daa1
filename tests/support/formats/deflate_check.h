/*
 * deflate_check.h - runs a deflate job on any backend: zlib and libdeflate must restore the input,
 * and on request the output must equal that of the specification (cpu).
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H

#include "primitives/primitives.h"

/* What there is to compress. */
enum deflate_input {
	DEFLATE_CONSTANT,
	DEFLATE_RANDOM,
	DEFLATE_TEXT,
	DEFLATE_TWO,       /* two symbols, at random */
	DEFLATE_FIBONACCI, /* counts by which codes would get longer than 15 bits */
	DEFLATE_RUNS,      /* of few symbols, of 1 to 600 bytes */
	DEFLATE_REPEATS,   /* random bytes that come back, from near and far */
	DEFLATE_IDS,       /* u64, of the half that has survived */
	DEFLATE_KEYS,      /* u32, sorted */
	DEFLATE_FLOATS,    /* evenly in 0 .. 1 */
	DEFLATE_INPUTS
};

const char *deflate_input_name(enum deflate_input kind);

/* The same for the same arguments. */
void deflate_input_make(enum deflate_input kind, size_t bytes, void *to);

/* A job by its choices; 0 everywhere is as in struct sl_deflate_job. */
struct deflate_try {
	size_t chunk_bytes;
	uint32_t item_bytes;
	bool whole_chunks;
	enum sl_wrapper wrapper;
	size_t used; /* bytes of out that are taken already */
	bool exact;  /* is b to write what cpu writes? */
};

/*
 * Tries b with it, in scratch and outputs poisoned in two ways, and once with a byte of scratch too
 * little. Fails the test that runs when anything is wrong. Gives the bytes of all streams.
 */
size_t deflate_check(
	const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t);

/* Every kind, edges of slices, rounds and segments, and every cut, of at most so many bytes. */
void deflate_walk(const struct sl_backend *b, size_t most);

/* The job of that number: pieces of all kinds, cut somehow, of most bytes at most. Gives how many
 * inputs it has. */
size_t deflate_random(const struct sl_backend *b, uint64_t number, size_t most);

/*
 * Jobs from number 0 on, and says how many inputs they had.
 *
 *	SLUICE_DEFLATE_JOBS=1000          so many
 *	SLUICE_DEFLATE_JOBS=1000..5000    those of these numbers
 */
void deflate_random_jobs(const struct sl_backend *b, uint64_t jobs, size_t most);

#endif
