/*
 * deflate_check.h - runs a deflate job on any backend: zlib and libdeflate must restore the input,
 * and on request the output must equal that of the specification (cpu).
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_CHECK_H

#include "primitives/primitives.h"

/* Parameters of a job; the first four are those of struct sl_deflate_job. */
struct deflate_try {
	size_t chunk_bytes;
	uint32_t item_bytes;
	bool whole_chunks;
	enum sl_wrapper wrapper;
	size_t used; /* *out_used before the call: bytes of out that are already used */
	bool exact;  /* the output must equal that of cpu */
	int level;   /* 0: 6 */
};

/*
 * Runs b twice, without allocations of memory, with scratch and outputs filled with different bytes, which must not change the streams.
 * One byte of scratch too little must be refused. Returns the bytes of all streams.
 */
size_t deflate_check(
	const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t);

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
