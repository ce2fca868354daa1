/* cub.h - CUB as backends and as a pipeline, for comparison only. CUDA devices only. */
#ifndef SL_BENCH_CUB_CUB_H
#define SL_BENCH_CUB_CUB_H

#include "primitives/primitives.h"
#include "stages/batch/batch.h"
#include "stages/models/models.h"

SL_C_BEGIN

/* CUB's primitives in the form of backends, for comparison only. CUDA devices only. */

/* Indexed by enum sl_primitive; there is none for SL_DEFLATE. */
extern const struct sl_backend sl_cub_backends[];

/* CCCL_VERSION: 3000001 for CCCL 3.0.1, which contains CUB; 0 in a build without CUDA. */
extern const int sl_cub_version;

/*
 * The batch as a user of CUB would write it: own kernels for particles and
 * columns, CUB for selection and sort. CUDA devices only.
 *
 * The order of the calls: generate, select, (the host reads n_survivors), keys, sort, gather.
 */

/* A batch made by simple kernels and CUB calls. Keys have at most 32 bits. */
struct sl_cub_pipeline {
	enum sl_model_number model;
	const void *rules; /* the struct sl_NAME of the model */
	uint64_t seed;
	sl_fate_set keep;
	uint32_t key_bits;
	sl_column_set needed; /* set of columns to store: of the key, of the table, fate */
	/* The caller sets n; sl_cub_pipeline_lay_out() sets columns, index and key. */
	struct sl_batch batch;
	uint32_t *n_survivors;             /* on the device */
	uint32_t *other_index, *other_key; /* second buffers of the sort */
	void *temporary;
	size_t temporary_bytes;
};

/* Cuts the memory of batches of n particles; batch.table has columns of 4 bytes. */
void sl_cub_pipeline_lay_out(struct sl_arena *a, uint32_t n, struct sl_cub_pipeline *p);

/* Queues the generation and the flight of all particles. */
enum sl_status sl_cub_pipeline_generate(const struct sl_cub_pipeline *p, sl_stream s);

/* Queues the selection: writes the indices of the survivors and *n_survivors. */
enum sl_status sl_cub_pipeline_select(const struct sl_cub_pipeline *p, sl_stream s);

/* Queues the sort of the pairs of key and index; the caller has set batch.n_survivors. */
enum sl_status sl_cub_pipeline_sort(struct sl_cub_pipeline *p, sl_stream s);

/* Queues the gather of the columns of the table. */
enum sl_status sl_cub_pipeline_gather(const struct sl_cub_pipeline *p, sl_stream s);

SL_C_END

#endif
