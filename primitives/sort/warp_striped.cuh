/*
 * sort/warp_striped.cuh - warp-striped arrangement of a tile: each warp owns consecutive rows of 32
 * items, and each lane one item of every row.
 *
 * Loads of a warp are then contiguous, and the input order is the order of (warp, row, lane), which
 * stable ranking needs.
 */
#ifndef SL_PRIMITIVES_SORT_WARP_STRIPED_CUH
#define SL_PRIMITIVES_SORT_WARP_STRIPED_CUH

#include "pairs.cuh"
#include "warp_ballot.cuh"

/*
 * The items of the calling thread in a tile of n items: first, first + 32, ... With FULL every row
 * has 32 items, and loops over rows have no branches.
 */
template <bool FULL> struct warp_striped {
	uint32_t first, n;

	__device__ __forceinline__ warp_striped(uint32_t items, uint32_t tile_n)
	{
		first = warp_index() * (WARP * items) + lane_index();
		n = tile_n;
	}

	__device__ __forceinline__ bool has(int row) const
	{
		return FULL || first + (uint32_t)row * WARP < n;
	}

	/* Uniform over the warp: true if no lane has an item in the row. */
	__device__ __forceinline__ bool is_past(int row) const
	{
		return !FULL && first - lane_index() + (uint32_t)row * WARP >= n;
	}

	/*
	 * An absent item counts as the largest digit: it is ranked after all keys and moves none of
	 * them.
	 */
	template <typename K>
	__device__ __forceinline__ uint32_t digit_of(K key, int row, struct digit_field d) const
	{
		return has(row) ? digit_in(key, d) : d.mask;
	}

	template <typename T, int ITEMS>
	__device__ __forceinline__ void load(const T *tile, T (&item)[ITEMS]) const
	{
		const T *from =
			tile + first; /* base pointer, so that the rows are at constant offsets */

		SL_UNROLL
		for (int row = 0; row < ITEMS; row++)
			item[row] = has(row) ? from[row * WARP] : 0;
	}

	template <typename T, int ITEMS>
	__device__ __forceinline__ void store(const T (&item)[ITEMS], T *tile) const
	{
		SL_UNROLL
		for (int row = 0; row < ITEMS; row++)
			if (has(row))
				tile[first + (uint32_t)row * WARP] = item[row];
	}
};

#endif
