/*
 * grid.cu - counts the particles of a batch in the tallies, on a device in staged mode.
 *
 * Counters of blocks: a thread processes particles in strides of the grid. Memory traffic: reads
 * fate, weight if weights differ, and the columns of each tally; for counters in global memory one
 * atomic addition per tally and particle, or three where weights differ.
 */
#include "stages/counting/grid.h"

#include "stages/counting/block_grids.cuh"
#include "stages/counting/grid.cuh"

enum {
	BLOCK = 256,
	PARTICLES_PER_THREAD =
		16,       /* particles per thread, at least, to amortise the sum over a block */
	BLOCKS_MAX = 1024 /* about eight per multiprocessor on the largest devices */
};

static __global__ void in_blocks_kernel(struct sl_block_grids grids, float weight_scale,
	float square_scale, struct sl_columns c, uint32_t n, uint64_t *sum)
{
	SL_SHARED_DYNAMIC(unsigned char, counters);
	struct sl_block_sums sums = sl_block_sums_at(&grids, counters, sum);
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;

	sl_block_sums_clear(&grids, sums);
	__syncthreads();
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
		if (c.fate[i] < SL_FATE_COUNT)
			sl_block_sums_count(&grids, sums, &c, i, c.fate[i],
				grids.weighted ? c.weight[i] : 1.0f, weight_scale, square_scale);
	__syncthreads();
	sl_block_sums_add(&grids, sums);
}

template <bool EACH_STEP>
static __global__ void grids_kernel(const struct sl_grid_set *grids, float weight_scale,
	float square_scale, struct sl_columns c, uint32_t n, uint64_t *copies)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (EACH_STEP && i < n)
		sl_grids_count_one(grids, SL_SCORE_EACH_STEP, &c, i, SL_SCORE_ROW, 1.0f, 1.0f, 1.0f,
			sl_grids_copy(grids, copies));
	else if (i < n && c.fate[i] < SL_FATE_COUNT)
		sl_grids_count_one(grids, SL_SCORE_ENDS, &c, i, c.fate[i],
			grids->weighted ? c.weight[i] : 1.0f, weight_scale, square_scale,
			sl_grids_copy(grids, copies));
}

static __global__ void total_kernel(
	const uint64_t *sums, uint32_t copies, uint64_t words, uint64_t *sum)
{
	uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, total = 0;

	if (k >= words)
		return;
	for (uint32_t copy = 0; copy < copies; copy++)
		total += sums[copy * words + k];
	sum[k] += total;
}

enum sl_status SL_NAME(sl_queue_grids)(const struct sl_grid_set *grids,
	const struct sl_grid_set *device_grids, bool each_step, float weight_scale,
	float square_scale, const struct sl_batch *b, uint64_t *copies, uint64_t *sum, sl_stream s)
{
	uint32_t blocks = sl_grid(b->n, BLOCK * PARTICLES_PER_THREAD);

	if (each_step)
		return SL_LAUNCH(grids_kernel<true>, sl_grid(b->n, BLOCK), BLOCK, 0, s,
			device_grids, weight_scale, square_scale, b->columns, b->n, copies);
	if (grids->ends)
		SL_TRY(SL_LAUNCH(grids_kernel<false>, sl_grid(b->n, BLOCK), BLOCK, 0, s,
			device_grids, weight_scale, square_scale, b->columns, b->n, copies));
	if (grids->block.n == 0)
		return SL_OK;
	return SL_LAUNCH(in_blocks_kernel, blocks < BLOCKS_MAX ? blocks : (uint32_t)BLOCKS_MAX,
		BLOCK, sl_block_grids_bytes(&grids->block), s, grids->block, weight_scale,
		square_scale, b->columns, b->n, sum);
}

enum sl_status SL_NAME(sl_queue_grids_total)(
	const struct sl_grid_set *grids, const uint64_t *copies, uint64_t *sum, sl_stream s)
{
	uint64_t words = sl_grid_words(grids);

	if (grids->copies == 0)
		return SL_OK;
	return SL_LAUNCH(total_kernel, sl_grid(words, BLOCK), BLOCK, 0, s, copies, grids->copies,
		words, sum);
}
