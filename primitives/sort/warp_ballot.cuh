/*
 * sort/warp_ballot.cuh - ranks digits within a warp by ballots: which lanes have the same digit,
 * and how many of them precede the caller.
 *
 * One ballot per bit tells a lane which lanes agree with it on that bit; lanes that agree on all
 * bits have the same digit. So equal digits are found in as many ballots as a digit has bits,
 * whatever the values are. (Ashkiani, Davidson, Meyer and Owens, GPU Multisplit, 2016.)
 */
#ifndef SL_PRIMITIVES_SORT_WARP_BALLOT_CUH
#define SL_PRIMITIVES_SORT_WARP_BALLOT_CUH

#include "primitives/kernel/kernel.cuh"

enum { WARP = 32 };

static __device__ __forceinline__ uint32_t lane_index(void)
{
	return threadIdx.x % WARP;
}

static __device__ __forceinline__ uint32_t warp_index(void)
{
	return threadIdx.x / WARP;
}

/* Number of set bits of lanes below the calling lane. */
static __device__ __forceinline__ uint32_t count_lower_lanes(uint32_t lanes)
{
	return (uint32_t)__popc(lanes & ((1u << lane_index()) - 1));
}

/* Bit masks of a warp: for each bit of the digit, the lanes where it is set. */
template <int BITS> struct votes {
	uint32_t lanes[BITS];
};

/* For a warp: one ballot per bit of the digit. */
template <int BITS> static __device__ __forceinline__ struct votes<BITS> vote(uint32_t digit) {
	struct votes<BITS> v;

	SL_UNROLL
	for (int bit = 0; bit < BITS; bit++)
		v.lanes[bit] = __ballot_sync(SL_LANES, digit >> bit & 1);
	return v;
}

/* The lanes whose digit is equal to digit. */
template <int BITS>
static __device__ __forceinline__ uint32_t lanes_with(const struct votes<BITS> &v, uint32_t digit)
{
	uint32_t lanes = SL_LANES;

	SL_UNROLL
	for (int bit = 0; bit < BITS; bit++)
		lanes &= digit >> bit & 1 ? v.lanes[bit] : ~v.lanes[bit];
	return lanes;
}

/* Inclusive scan over the lanes. (Hillis and Steele.) */
static __device__ __forceinline__ uint32_t sum_up_to_lane(uint32_t value)
{
	SL_UNROLL
	for (uint32_t distance = 1; distance < WARP; distance *= 2) {
		uint32_t other = __shfl_up_sync(SL_LANES, value, distance);

		value += lane_index() >= distance ? other : 0;
	}
	return value;
}

#endif
