/*
 * scan/warp.cuh - vectors of 16 bytes, and warp-wide sums by shuffles.
 *
 * Used by both kernels of scan/shared. All functions must be called by all 32 lanes of a warp.
 */
#ifndef SL_PRIMITIVES_SCAN_WARP_CUH
#define SL_PRIMITIVES_SCAN_WARP_CUH

#include "primitives/kernel/kernel.cuh"

static constexpr uint32_t LANES = 32, WARPS_MAX = 32, VECTOR_BYTES = 16;

/* The widest load or store of a lane: 4 u32 or 2 u64 items. */
template <typename T> struct alignas(VECTOR_BYTES) vector {
	T item[VECTOR_BYTES / sizeof(T)];
};

/*
 * Inclusive scan over the lanes in 5 shuffle steps. (Hillis and Steele, Data parallel algorithms,
 * 1986.)
 */
template <typename T> static __device__ inline T scan_warp(T sum, uint32_t lane)
{
	SL_UNROLL
	for (uint32_t by = 1; by < LANES; by *= 2) {
		T other = __shfl_up_sync(SL_LANES, sum, by);

		sum += lane >= by ? other : 0;
	}
	return sum;
}

/* Sum over all lanes, returned to every lane (butterfly reduction). */
template <typename T> static __device__ inline T sum_warp(T sum)
{
	SL_UNROLL
	for (uint32_t with = LANES / 2; with > 0; with /= 2)
		sum += __shfl_xor_sync(SL_LANES, sum, with);
	return sum;
}

#endif
