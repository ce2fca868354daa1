/*
 * generate.cu - stage generate on a device, one thread per particle. Writes each column once.
 * Compiled for each model.
 */
#include "primitives/kernel/kernel.cuh"
#include "stages/batch/batch.h"
#include "stages/models/rules.h"

enum { BLOCK = 256 };

static __global__ void generate_kernel(
	sl_rules rules, uint64_t seed, const uint64_t *first_id, uint32_t n, struct sl_columns c)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		struct sl_particle p =
			SL_OF_MODEL(generate)(&rules, SL_EVERY_COLUMN, seed, *first_id + i);
		sl_store(&c, SL_STORED(SL_MODEL_FACT(COLUMNS)), i, &p);
	}
}

enum sl_status SL_RULE_KERNEL(generate)(
	const void *rules, uint64_t seed, const struct sl_batch *b, sl_stream s)
{
	return sl_launch(SL_QUOTED(SL_MODEL_NAME) "_kernel", generate_kernel, sl_grid(b->n, BLOCK),
		BLOCK, 0, s, *(const sl_rules *)rules, seed, b->first_id_on_device, b->n,
		b->columns);
}
