/*
 * kernels.h - what of the bench is compiled by nvcc: CUB, and what stands before a call that is
 * timed. CUDA alone.
 */
#ifndef SL_BENCH_KERNELS_H
#define SL_BENCH_KERNELS_H

#include "primitives/primitives.h"

SL_C_BEGIN

/* --- in hold.cu ------------------------------------------------------------------------------- */

/* The words of a hold, in pinned memory. */
enum { SL_HOLD_RELEASED, SL_HOLD_GAVE_UP, SL_HOLD_WORDS };

/* Queues a kernel that ends when hold[SL_HOLD_RELEASED] is not 0, or, after some 30 ms and having
 * set hold[SL_HOLD_GAVE_UP], by itself. */
enum sl_status sl_queue_hold(uint32_t *hold, sl_stream s);

/* Queues a kernel that reads all of a block of zeros: nothing else is left in the caches, and
 * nothing that would have to be written back. */
enum sl_status sl_queue_flush(void *block, size_t bytes, sl_stream s);

/* The second-level cache of the current device. */
size_t sl_cache_bytes(void);

/* --- in cub.cu -------------------------------------------------------------------------------- */

/* CUB as a backend of each primitive, by enum sl_primitive: for the bench alone. */
extern const struct sl_backend sl_bench_cub[];

/* 3000001 for CCCL 3.0.1, whose CUB it is. */
extern const int sl_bench_cccl;

SL_C_END

#endif
