/*
 * deflate_check.h - runs a deflate job on any backend: zlib must restore the input (libdeflate does
 * so in fuzz/deflate.c), and on request the output must equal that of the specification (cpu or
 * cpu_fast).
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
	size_t used; /* *out_used before the call; SIZE_MAX - 4096 and more: no output is left */
	bool exact;  /* the output must equal that of the specification */
	int level;   /* 0: 6 */
	uint32_t
		parts; /* the input in so many parts of different sizes, chunks and items; 0: the job has no parts */
};

/*
 * Runs b with enough output, with exactly the bytes that it needs, and with fewer, where the
 * streams that fit are written in order and all later ones have 0 bytes. Scratch and outputs
 * contain other bytes each time, which must not change the streams. Backends of the host allocate
 * no memory. One byte of scratch too little is refused. Returns the bytes of all streams.
 */
size_t deflate_check(
	const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t);

#endif
