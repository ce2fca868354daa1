/*
 * advance.cu - stage advance on a device, one thread per particle.
 *
 * A particle stays in registers for all its flights; its columns are read and written once. A warp
 * runs as long as the longest of its histories, or at most the steps of a round. Compiled for each
 * model.
 */
#include "primitives/kernel/kernel.cuh"
#include "stages/batch/batch.h"
#include "stages/counting/sums.cuh"
#include "stages/models/rules.h"

/* Models that are recomputed take few registers, and need many threads while loads are under way. */
enum { BLOCK = 256, BLOCKS_PER_MULTIPROCESSOR = SL_MODEL_FACT(RECOMPUTED) ? 6 : 1 };

static __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_MULTIPROCESSOR)
	advance_kernel(sl_rules rules, uint64_t seed, const uint64_t *first_id,
		struct sl_active_set l, struct sl_columns batch, uint8_t *keep, uint64_t *alive)
{
	const sl_column_set set = SL_STORED(SL_MODEL_FACT(COLUMNS)) & ~l.zero;
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, active_set[1] = {};

	if (i < l.n) {
		struct sl_particle p = sl_active_set_load(&l, set, *first_id, (uint32_t)i);

		if (p.fate == SL_FATE_alive) {
			SL_OF_MODEL(advance)(&rules, SL_EVERY_COLUMN, seed, &p, l.steps);
			active_set[0] = sl_active_set_store(&l, set, &batch, (uint32_t)i, &p);
		}
		if (alive)
			keep[i] = (uint8_t)active_set[0];
	}
	if (alive)
		sl_block_add<sl_words_of<1>>(active_set, alive);
}

enum sl_status SL_RULE_KERNEL(advance)(
	const void *rules, uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s)
{
	return sl_launch(SL_QUOTED(SL_MODEL_NAME) "_kernel", advance_kernel,
		sl_grid(b->active_set.n, BLOCK), BLOCK, 0, s, *(const sl_rules *)rules, seed,
		b->first_id_on_device, b->active_set, b->columns, b->keep, alive);
}
