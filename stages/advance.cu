/*
 * advance.cu - stage advance on a device, one thread per particle.
 *
 * A particle stays in registers for all its flights; its columns are read and written once. A warp
 * runs as long as the longest of its histories, or at most the steps of a round.
 */
#include "primitives/kernel/kernel.cuh"
#include "stages/advance.h"
#include "stages/counting/sums.cuh"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum { BLOCK = 256 };

#define MODEL(name)                                                                                \
	static __global__ void name##_kernel(struct sl_##name rules, uint64_t seed,                \
		uint64_t first_id, struct sl_active_set l, struct sl_columns batch, uint8_t *keep, \
		uint64_t *alive)                                                                   \
	{                                                                                          \
		static constexpr sl_column_set set = SL_STORED(SL_COLUMNS_##name);                 \
		uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, active_set[1] = {};  \
                                                                                                   \
		if (i < l.n) {                                                                     \
			if (l.columns.fate[i] == SL_FATE_alive) {                                  \
				struct sl_particle p =                                             \
					sl_active_set_load(&l, set, first_id, (uint32_t)i);        \
				sl_##name##_advance(&rules, SL_EVERY_COLUMN, seed, &p, l.steps);   \
				active_set[0] =                                                    \
					sl_active_set_store(&l, set, &batch, (uint32_t)i, &p);     \
			}                                                                          \
			if (alive)                                                                 \
				keep[i] = (uint8_t)active_set[0];                                  \
		}                                                                                  \
		if (alive)                                                                         \
			sl_block_add<sl_words_of<1>>(active_set, alive);                           \
	}
#include "stages/models/models.def"
#undef MODEL

enum sl_status SL_NAME(sl_queue_advance)(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s)
{
	switch (model) {
#define MODEL(name)                                                                           \
	case SL_MODEL_##name:                                                                 \
		return SL_LAUNCH(name##_kernel, sl_grid(b->active_set.n, BLOCK), BLOCK, 0, s, \
			*(const struct sl_##name *)rules, seed, b->first_id, b->active_set,   \
			b->columns, b->keep, alive);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}
