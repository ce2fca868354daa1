/*
 * blocks.h - a loop over blocks of rows on all cores, whose results can be used in order.
 *
 * Each thread takes the next block, makes it, waits until all blocks before it are used, and uses
 * it.
 */
#ifndef SL_PYTHON_LISTS_BLOCKS_H
#define SL_PYTHON_LISTS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/base/status.h"

enum { SL_PY_THREADS_MOST = 64 };

struct sl_py_blocks {
	size_t n;
	unsigned threads; /* of sl_py_blocks_threads(), or fewer */
	void *ctx;        /* the first argument of each function */
	/* Makes block k. At the same time no other thread has the same number, from 0. */
	enum sl_status (*make)(void *ctx, unsigned thread, size_t k);
	/* Uses what that thread has made, in the order of k; NULL: there is nothing to use. */
	enum sl_status (*use)(void *ctx, unsigned thread, size_t k);
	/* Called by the calling thread a few times a second; true ends the loop. Or NULL. */
	bool (*stop)(void *ctx);
};

/* The number of threads of a loop over n blocks: at least 1. */
unsigned sl_py_blocks_threads(size_t n);

/* Runs the loop. The first failure ends it; SL_STOPPED after stop(). */
enum sl_status sl_py_blocks_run(const struct sl_py_blocks *b);

#endif
