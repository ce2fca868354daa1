/* expand/search.cuh - binary search among the ends of runs, for one thread. */
#ifndef SL_PRIMITIVES_EXPAND_SEARCH_CUH
#define SL_PRIMITIVES_EXPAND_SEARCH_CUH

#include "primitives/kernel/kernel.cuh"

/* The number of the n ascending ends that are at most slot: the index of the run of that slot. */
template <class E>
static __device__ __forceinline__ uint32_t ends_up_to(const E *end, uint32_t n, uint64_t slot)
{
	uint32_t first = 0;

	while (n > 0) {
		uint32_t half = n / 2;

		if (end[first + half] <= slot) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first;
}

#endif
