/*
 * sort/warp.cuh - what a warp knows of the digits of its 32 lanes, by votes: who else has mine, and
 * how many of those stand before me.
 *
 * A vote on each bit of a digit tells a lane which others agree with it on that bit; those that
 * agree on all have its digit. So equal digits find each other in as many steps as a digit has
 * bits, whatever they are. (Ashkiani, Davidson, Meyer and Owens, GPU multisplit, 2016.)
 */
#ifndef SL_PRIMITIVES_SORT_WARP_CUH
#define SL_PRIMITIVES_SORT_WARP_CUH

#include "primitives/kernel/kernel.cuh"

enum { WARP = 32 };

static __device__ __forceinline__ uint32_t lane_number(void)
{
	return threadIdx.x % WARP;
}

static __device__ __forceinline__ uint32_t warp_number(void)
{
	return threadIdx.x / WARP;
}

/* How many of lanes stand before the caller. */
static __device__ __forceinline__ uint32_t count_below(uint32_t lanes)
{
	return (uint32_t)__popc(lanes & ((1u << lane_number()) - 1));
}

/* For each bit of a digit, the lanes that have it. */
template <int BITS> struct votes {
	uint32_t lanes[BITS];
};

template <int BITS> static __device__ __forceinline__ struct votes<BITS> vote(uint32_t digit) {
	struct votes<BITS> v;

	SL_UNROLL
	for (int bit = 0; bit < BITS; bit++)
		v.lanes[bit] = __ballot_sync(SL_LANES, digit >> bit & 1);
	return v;
}

/* The lanes that have that digit. */
template <int BITS>
static __device__ __forceinline__ uint32_t lanes_with(const struct votes<BITS> &v, uint32_t digit)
{
	uint32_t lanes = SL_LANES;

	SL_UNROLL
	for (int bit = 0; bit < BITS; bit++)
		lanes &= digit >> bit & 1 ? v.lanes[bit] : ~v.lanes[bit];
	return lanes;
}

/* Sums over the lanes up to and with the caller. */
static __device__ __forceinline__ uint32_t sum_up_to_lane(uint32_t value)
{
	SL_UNROLL
	for (uint32_t distance = 1; distance < WARP; distance *= 2) {
		uint32_t other = __shfl_up_sync(SL_LANES, value, distance);

		value += lane_number() >= distance ? other : 0;
	}
	return value;
}

#endif
