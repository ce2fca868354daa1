/*
 * grid.cu - counts the particles of a batch in the grids, on a device in staged mode.
 *
 * Memory traffic: reads fate, weight if weights differ, and the columns of each grid; one atomic
 * addition per grid and particle, or three where weights differ.
 */
#include "stages/counting/grid.h"

#include "stages/counting/grid.cuh"

enum { BLOCK = 256 };

static __global__ void grids_kernel(const struct sl_grid_set *grids, float weight_scale,
	struct sl_columns c, uint32_t n, uint64_t *sums)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && c.fate[i] < SL_FATE_COUNT)
		sl_grids_count_one(grids, &c, i, c.fate[i], grids->weighted ? c.weight[i] : 1.0f,
			weight_scale, sl_grids_copy(grids, sums));
}

static __global__ void total_kernel(
	const uint64_t *sums, uint32_t copies, uint64_t words, uint64_t *sum)
{
	uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, total = 0;

	if (k >= words)
		return;
	for (uint32_t copy = 0; copy < copies; copy++)
		total += sums[copy * words + k];
	sum[k] = total;
}

enum sl_status SL_NAME(sl_queue_grids)(const struct sl_grid_set *grids, float weight_scale,
	const struct sl_batch *b, uint64_t *sums, sl_stream s)
{
	return SL_LAUNCH(grids_kernel, sl_grid(b->n, BLOCK), BLOCK, 0, s, grids, weight_scale,
		b->columns, b->n, sums);
}

enum sl_status SL_NAME(sl_queue_grids_total)(
	const struct sl_grid_set *grids, const uint64_t *sums, uint64_t *sum, sl_stream s)
{
	uint64_t words = sl_grid_words(grids);

	return SL_LAUNCH(
		total_kernel, sl_grid(words, BLOCK), BLOCK, 0, s, sums, grids->copies, words, sum);
}
