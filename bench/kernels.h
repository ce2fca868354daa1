/*
 * kernels.h - what of the bench is compiled by nvcc: CUB, and what stands before a call that is
 * timed. CUDA alone.
 */
#ifndef SL_BENCH_KERNELS_H
#define SL_BENCH_KERNELS_H

#include "primitives/primitives.h"
#include "stages/batch/batch.h"
#include "stages/models/model.h"

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

/* --- in cub_pipeline.cu ----------------------------------------------------------------------- */

/* A batch made the usual way: kernels of one's own, CUB for the rest. Keys of up to 32 bits. */
struct sl_cub_pipeline {
	enum sl_model_number model;
	const void *rules; /* its struct sl_NAME */
	uint64_t seed;
	sl_fate_set keep;
	uint32_t key_bits;
	uint32_t needed; /* set of columns: of the key, of the table, fate */
	/* Its columns, index, key and table are laid out by sl_cub_lay_out(); n is the caller's. */
	struct sl_batch batch;
	uint32_t *n_survivors; /* on the device */
	uint32_t *other_index, *other_key;
	void *temporary;
	size_t temporary_bytes;
};

/* Cuts what batches of n particles need; batch.table has its columns, all of 4 bytes. */
void sl_cub_lay_out(struct sl_arena *a, uint32_t n, struct sl_cub_pipeline *p);

/* Queue: particles made and moved; the indices of those kept, and their number; pairs of key and
 * index sorted, once batch.n_survivors and batch.key are set; the table. */
enum sl_status sl_cub_generate(const struct sl_cub_pipeline *p, sl_stream s);
enum sl_status sl_cub_select(const struct sl_cub_pipeline *p, sl_stream s);
enum sl_status sl_cub_sort(struct sl_cub_pipeline *p, sl_stream s);
enum sl_status sl_cub_gather(const struct sl_cub_pipeline *p, sl_stream s);

SL_C_END

#endif
