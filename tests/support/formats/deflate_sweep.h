/*
 * deflate_sweep.h - many jobs of deflate_check() with a backend: every kind and size of input, and
 * random jobs. The output must equal that of the specification.
 */
#ifndef SL_TESTS_SUPPORT_FORMATS_DEFLATE_SWEEP_H
#define SL_TESTS_SUPPORT_FORMATS_DEFLATE_SWEEP_H

#include "primitives/primitives.h"

/*
 * Tests every kind of input, sizes near slices, rounds and segments, and many chunk sizes, up to most bytes; on the
 * emulated device the share of sampling.h.
 */
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

#endif
