/*
 * score.cu - stage advance on a device for a slab with scores, one thread per particle.
 *
 * The steps are those of advance.cu. After each step a thread adds its collision and its flight to the
 * counters of the scores, which are in global memory.
 */
#include "stages/counting/score.h"

#include "stages/counting/score.cuh"
#include "stages/counting/sums.cuh"

enum { BLOCK = 256 };

/*
 * Blocks per multiprocessor: they limit the compiler to 48 registers, or to 128 if flights are scored. 48 are enough
 * for collisions alone. One kernel for both would use 96 in every run with scores.
 */
template <bool flights> static constexpr int BLOCKS_PER_MULTIPROCESSOR = flights ? 2 : 5;

template <class Rules, sl_column_set set, bool flights>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR<flights>)
	scored_kernel(Rules rules, uint64_t seed, uint64_t first_id, struct sl_active_set l,
		struct sl_columns batch, uint8_t *keep, const struct sl_grid_set *grids,
		uint64_t *sums, uint64_t *alive)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, active_set[1] = {};

	if (i < l.n) {
		if (l.columns.fate[i] == SL_FATE_alive) {
			struct sl_particle p = sl_active_set_load(&l, set, first_id, (uint32_t)i);

			sl_slab_advance_scored<flights>(
				&rules, seed, &p, l.steps, grids, sl_grids_copy(grids, sums));
			active_set[0] = sl_active_set_store(&l, set, &batch, (uint32_t)i, &p);
		}
		if (alive)
			keep[i] = (uint8_t)active_set[0];
	}
	if (alive)
		sl_block_add<sl_words_of<1>>(active_set, alive);
}

template <class Rules, sl_column_set set, bool flights>
static enum sl_status queue_as(const void *rules, uint64_t seed, const struct sl_batch *b,
	const struct sl_grid_set *grids, uint64_t *sums, uint64_t *alive, sl_stream s)
{
	return SL_LAUNCH((scored_kernel<Rules, set, flights>), sl_grid(b->active_set.n, BLOCK),
		BLOCK, 0, s, *(const Rules *)rules, seed, b->first_id, b->active_set, b->columns,
		b->keep, grids, sums, alive);
}

template <class Rules, sl_column_set set>
static enum sl_status queue(const void *rules, uint64_t seed, const struct sl_batch *b,
	bool flights, const struct sl_grid_set *grids, uint64_t *sums, uint64_t *alive, sl_stream s)
{
	return flights ? queue_as<Rules, set, true>(rules, seed, b, grids, sums, alive, s)
	               : queue_as<Rules, set, false>(rules, seed, b, grids, sums, alive, s);
}

enum sl_status SL_NAME(sl_queue_scored)(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, bool flights, const struct sl_grid_set *grids,
	uint64_t *sums, uint64_t *alive, sl_stream s)
{
	if (model == SL_MODEL_slab)
		return queue<struct sl_slab, SL_STORED(SL_COLUMNS_slab)>(
			rules, seed, b, flights, grids, sums, alive, s);
	return queue<struct sl_slab_paths, SL_STORED(SL_COLUMNS_slab_paths)>(
		rules, seed, b, flights, grids, sums, alive, s);
}
