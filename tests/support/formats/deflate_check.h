/*
 * deflate_check.h - runs a deflate job on any backend: zlib and libdeflate must restore the input,
 * and on request the output must equal that of the specification (cpu).
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H

#include "primitives/primitives.h"

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

const char *deflate_input_name(enum deflate_input kind);

/* Makes an input, the same for the same arguments. */
void deflate_input_make(enum deflate_input kind, size_t bytes, void *to);

/* Parameters of a job; the first four are those of struct sl_deflate_job. */
struct deflate_try {
	size_t chunk_bytes;
	uint32_t item_bytes;
	bool whole_chunks;
	enum sl_wrapper wrapper;
	size_t used; /* *out_used before the call: bytes of out that are already used */
	bool exact;  /* the output must equal that of cpu */
};

/*
 * Runs b twice, with scratch and outputs filled with different bytes, which must not change the streams.
 * One byte of scratch too little must be refused. Returns the bytes of all streams.
 */
size_t deflate_check(
	const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t);

/* Tests every kind of input, sizes near slices, rounds and segments, and many chunk sizes, up to most bytes. */
void deflate_sweep(const struct sl_backend *b, size_t most);

/* Runs the random job with this number: up to most bytes of parts of all kinds. Returns the number of
 * chunks. */
size_t deflate_random(const struct sl_backend *b, uint64_t number, size_t most);

/*
 * Runs the random jobs from 0 to jobs - 1, and prints the number of chunks.
 *
 *	SLUICE_DEFLATE_JOBS=1000          number of jobs
 *	SLUICE_DEFLATE_JOBS=1000..5000    first number, and number after the last
 */
void deflate_random_jobs(const struct sl_backend *b, uint64_t jobs, size_t most);

/* Expects that a job writes nothing if *out_used, up to SIZE_MAX, leaves too few bytes of out. */
void deflate_check_full_output(const struct sl_backend *b);

/*
 * Runs jobs of 1 to SL_DEFLATE_PARTS_MAX parts of up to most bytes each, empty ones among them, with
 * enough room and with too little: the output must equal that of a job for each part.
 */
void deflate_check_parts(const struct sl_backend *b, size_t most);

/* Returns the deflate backend of that name. */
const struct sl_backend *deflate_backend(const char *name);

#endif
