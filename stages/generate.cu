/* generate.cu - stage generate on a device, one thread per particle. Writes each column once. */
#include "primitives/kernel/kernel.cuh"
#include "stages/generate.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum { BLOCK = 256 };

#define MODEL(name)                                                                                \
	static __global__ void name##_kernel(struct sl_##name rules, uint64_t seed,                \
		uint64_t first_id, uint32_t n, struct sl_columns c)                                \
	{                                                                                          \
		uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                      \
                                                                                                   \
		if (i < n) {                                                                       \
			struct sl_particle p =                                                     \
				sl_##name##_generate(&rules, SL_EVERY_COLUMN, seed, first_id + i); \
			sl_store(&c, SL_STORED(SL_COLUMNS_##name), i, &p);                         \
		}                                                                                  \
	}
#include "stages/models/models.def"
#undef MODEL

enum sl_status SL_NAME(sl_queue_generate)(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, sl_stream s)
{
	switch (model) {
#define MODEL(name)                                                                \
	case SL_MODEL_##name:                                                      \
		return SL_LAUNCH(name##_kernel, sl_grid(b->n, BLOCK), BLOCK, 0, s, \
			*(const struct sl_##name *)rules, seed, b->first_id, b->n, b->columns);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}
