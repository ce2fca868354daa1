/*
 * item_loops.cuh - the loops of kernels that treat each item alone, so that the kernel itself shows
 * only what happens to an item.
 *
 *	sl_for_items(n, [=](uint64_t i) { flag[i] = keep[i] != 0; });
 *	sl_map_items<4>(to, n, [=](uint64_t i) { return from[i] + 1; });
 *
 * Both are called by all threads of a grid and stride over n, which may be larger than the grid.
 */
#ifndef SL_PRIMITIVES_KERNEL_ITEM_LOOPS_CUH
#define SL_PRIMITIVES_KERNEL_ITEM_LOOPS_CUH

#include "kernel.cuh"

/* Calls each(i) for all i < n; neighbouring threads have neighbouring items. */
template <class Each>
static __device__ __forceinline__ void sl_for_items(uint64_t n, const Each &each)
{
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		each(i);
}

/*
 * to[i] = value(i) for all i < n. Each thread computes ITEMS items that are blockDim.x apart: loads
 * of a warp are contiguous, and all values are computed before the first is stored, so that their
 * loads are in flight together. value() must not read to.
 */
template <uint32_t ITEMS, typename T, class Value>
static __device__ __forceinline__ void sl_map_items(T *to, uint64_t n, const Value &value)
{
	uint64_t step = (uint64_t)blockDim.x * ITEMS;

	for (uint64_t at = blockIdx.x * step + threadIdx.x; at < n; at += gridDim.x * step) {
		T item[ITEMS];

		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			item[k] = at + (uint64_t)k * blockDim.x < n
			                  ? value(at + (uint64_t)k * blockDim.x)
			                  : 0;
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			if (at + (uint64_t)k * blockDim.x < n)
				to[at + (uint64_t)k * blockDim.x] = item[k];
	}
}

#endif
