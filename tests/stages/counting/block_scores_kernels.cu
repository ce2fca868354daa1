/* block_scores_kernels.cu - see block_scores_kernels.h. Compiled for the emulated device alone. */
#include "tests/stages/counting/block_scores_kernels.h"

#include "stages/counting/collision_score.cuh"

static __global__ void add_kernel(uint64_t pieces, uint64_t score, uint64_t *count, uint64_t *sum)
{
	SL_SHARED_DYNAMIC(struct sl_block_counter, counter);
	const struct sl_block_scores scores = {counter, CELLS, {count, sum}};

	scores.clear();
	__syncthreads();
	if (pieces > 0)
		scores.add_pieces(threadIdx.x % CELLS, pieces, score);
	else
		scores.add(threadIdx.x % CELLS, score);
	__syncthreads();
	scores.add_to_batch();
}

enum sl_status block_scores_add(uint64_t pieces, uint64_t score, uint64_t *count, uint64_t *sum)
{
	return SL_LAUNCH(add_kernel, BLOCKS, THREADS, CELLS * sizeof(struct sl_block_counter), NULL,
		pieces, score, count, sum);
}
