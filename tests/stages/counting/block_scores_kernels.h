/*
 * block_scores_kernels.h - a kernel that adds to the counters of scores of its block, for
 * block_scores.c.
 */
#ifndef SL_TESTS_STAGES_COUNTING_BLOCK_SCORES_KERNELS_H
#define SL_TESTS_STAGES_COUNTING_BLOCK_SCORES_KERNELS_H

#include "primitives/device/device.h"

SL_C_BEGIN

enum { CELLS = 3, THREADS = 64, BLOCKS = 2 };

/*
 * Thread t of each block adds to counter t % CELLS: so many pieces and a score, or a collision if
 * pieces is 0.
 */
enum sl_status block_scores_add(uint64_t pieces, uint64_t score, uint64_t *count, uint64_t *sum);

SL_C_END

#endif
