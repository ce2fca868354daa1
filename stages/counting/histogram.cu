/*
 * histogram.cu - fills the histograms of a batch on a device, in staged mode.
 *
 * A thread processes particles in strides of the grid; block_histogram.cuh counts them per block.
 *
 * Memory traffic: reads fate, weight if weights differ, and the column of each histogram.
 */
#include "stages/counting/histogram.h"

#include "stages/counting/block_histogram.cuh"

enum {
	BLOCK = 256,
	PARTICLES_PER_THREAD =
		16,       /* particles per thread, at least, to amortise the sum over a block */
	BLOCKS_MAX = 1024 /* about eight per multiprocessor on the largest devices */
};

static __global__ void bins_kernel(struct sl_histogram_set bins, float weight_scale,
	struct sl_columns c, uint32_t n, uint64_t *sum)
{
	SL_SHARED_DYNAMIC(unsigned char, counters);
	struct sl_block_histogram block_bins = sl_block_histogram_at(&bins, counters, sum);
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;

	sl_block_histogram_clear(&bins, block_bins);
	__syncthreads();
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
		if (c.fate[i] < SL_FATE_COUNT)
			sl_block_histogram_count(
				&bins, block_bins, &c, i, c.fate[i], c.weight[i], weight_scale);
	__syncthreads();
	sl_block_histogram_add(&bins, block_bins, sum);
}

enum sl_status SL_NAME(sl_queue_histograms)(const struct sl_histogram_set *bins, float weight_scale,
	const struct sl_batch *b, uint64_t *sum, sl_stream s)
{
	uint32_t blocks = sl_grid(b->n, BLOCK * PARTICLES_PER_THREAD);

	return SL_LAUNCH(bins_kernel, blocks < BLOCKS_MAX ? blocks : (uint32_t)BLOCKS_MAX, BLOCK,
		sl_histogram_shared(bins->n_counters, bins->weighted), s, *bins, weight_scale,
		b->columns, b->n, sum);
}
