/*
 * scan/warp.cuh - vectors of 16 bytes, and sums over the lanes of a warp.
 */
#ifndef SL_PRIMITIVES_SCAN_WARP_CUH
#define SL_PRIMITIVES_SCAN_WARP_CUH

#include "primitives/kernel/kernel.cuh"

static constexpr uint32_t LANES = 32, WARPS_MOST = 32, VECTOR_BYTES = 16;

/* What a lane reads or writes at a time. */
template <typename T> struct alignas(VECTOR_BYTES) vector {
	T item[VECTOR_BYTES / sizeof(T)];
};

/* Sums up to and with each lane. (Hillis and Steele, Data parallel algorithms, 1986.) */
template <typename T> static __device__ inline T scan_warp(T sum, uint32_t lane)
{
	SL_UNROLL
	for (uint32_t by = 1; by < LANES; by *= 2) {
		T other = __shfl_up_sync(SL_LANES, sum, by);

		sum += lane >= by ? other : 0;
	}
	return sum;
}

/* The sum of all lanes, in each. */
template <typename T> static __device__ inline T sum_warp(T sum)
{
	SL_UNROLL
	for (uint32_t with = LANES / 2; with > 0; with /= 2)
		sum += __shfl_xor_sync(SL_LANES, sum, with);
	return sum;
}

#endif
