/*
 * rounds.cu - moves active particles to a new active set, in the order of an index, on a device.
 *
 * One thread per particle, which copies all its columns and its place. Memory traffic: each column is
 * read and written once.
 */
#include "primitives/kernel/kernel.cuh"
#include "stages/rounds/rounds.h"

enum { BLOCK = 256 };

static __global__ void move_kernel(
	struct sl_active_set from, const uint32_t *index, struct sl_active_set to)
{
	uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (j < to.n) {
		uint32_t i = index[j];

#define COLUMN(name, type, unit, record, component, help) \
	if (to.columns.name)                              \
		to.columns.name[j] = from.columns.name[i];
#include "stages/particle/columns.def"
#undef COLUMN
		to.place[j] = from.place ? from.place[i] : i;
	}
}

enum sl_status SL_NAME(sl_queue_move)(
	const struct sl_batch *b, const struct sl_active_set *to, sl_stream s)
{
	return SL_LAUNCH(
		move_kernel, sl_grid(to->n, BLOCK), BLOCK, 0, s, b->active_set, b->index, *to);
}
