/*
 * score.cu - stage advance on a device for a slab with scores, one thread per particle.
 *
 * The steps are those of advance.cu. After each step that ends in a collision a thread adds to the
 * counters of the scores, which are in global memory.
 */
#include "stages/counting/score.h"

#include "stages/counting/score.cuh"
#include "stages/counting/sums.cuh"

enum { BLOCK = 256 };

static __global__ void scored_kernel(struct sl_slab rules, uint64_t seed, uint64_t first_id,
	struct sl_active_set l, struct sl_columns batch, uint8_t *keep,
	const struct sl_grid_set *grids, uint64_t *sums, uint64_t *alive)
{
	static constexpr sl_column_set set = SL_STORED(SL_COLUMNS_slab);
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, active_set[1] = {};

	if (i < l.n) {
		if (l.columns.fate[i] == SL_FATE_alive) {
			struct sl_particle p = sl_active_set_load(&l, set, first_id, (uint32_t)i);

			sl_slab_advance_scored(
				&rules, seed, &p, l.steps, grids, sl_grids_copy(grids, sums));
			active_set[0] = sl_active_set_store(&l, set, &batch, (uint32_t)i, &p);
		}
		if (alive)
			keep[i] = (uint8_t)active_set[0];
	}
	if (alive)
		sl_block_add<sl_words_of<1>>(active_set, alive);
}

enum sl_status SL_NAME(sl_queue_scored)(const void *rules, uint64_t seed, const struct sl_batch *b,
	const struct sl_grid_set *grids, uint64_t *sums, uint64_t *alive, sl_stream s)
{
	return SL_LAUNCH(scored_kernel, sl_grid(b->active_set.n, BLOCK), BLOCK, 0, s,
		*(const struct sl_slab *)rules, seed, b->first_id, b->active_set, b->columns,
		b->keep, grids, sums, alive);
}
