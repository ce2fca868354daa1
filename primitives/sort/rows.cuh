/*
 * sort/rows.cuh - how a tile is dealt out: each warp has rows of 32 neighbours, one after another,
 * and each lane one item of every row.
 *
 * So a warp loads whole lines of memory, and what stands before what in the input can be told from
 * warp, row and lane in that order, which is what stable ranks need.
 */
#ifndef SL_PRIMITIVES_SORT_ROWS_CUH
#define SL_PRIMITIVES_SORT_ROWS_CUH

#include "pairs.cuh"
#include "warp.cuh"

/*
 * The caller's items in a tile of n: they stand at first, first + 32, ... in it. FULL: no row has
 * less than 32, and loops over rows have no branches.
 */
template <bool FULL> struct rows {
	uint32_t first, n;

	__device__ __forceinline__ rows(uint32_t items, uint32_t tile_n)
	{
		first = warp_number() * (WARP * items) + lane_number();
		n = tile_n;
	}

	__device__ __forceinline__ bool has(int row) const
	{
		return FULL || first + (uint32_t)row * WARP < n;
	}

	/* The same for all lanes: has none of them an item in that row? */
	__device__ __forceinline__ bool is_past(int row) const
	{
		return !FULL && first - lane_number() + (uint32_t)row * WARP >= n;
	}

	/* Past n stands the largest digit there is, behind all keys: so it moves none of them. */
	template <typename K>
	__device__ __forceinline__ uint32_t digit_of(K key, int row, struct digit_place d) const
	{
		return has(row) ? digit_in(key, d) : d.mask;
	}

	template <typename T, int ITEMS>
	__device__ __forceinline__ void load(const T *tile, T (&item)[ITEMS]) const
	{
		const T *from = tile + first; /* so that rows are at constant distances */

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
