/*
 * sort/tile.cuh - a tile of keys, in a block's registers, ordered by a digit in its shared memory.
 *
 * Each warp counts its digits; a sum over digits and warps tells where the first key of each digit
 * of each warp goes; then each warp ranks its keys row by row, by votes. Items are put to their
 * ranks in shared memory, keys and indices apart.
 */
#ifndef SL_PRIMITIVES_SORT_TILE_SORT_CUH
#define SL_PRIMITIVES_SORT_TILE_SORT_CUH

#include "digit_offset_table.cuh"
#include "warp_striped.cuh"

/* 512 threads of 128 registers each: room for all items of a thread, and no spill. */
static constexpr uint32_t BLOCK_MAX = 512;

/* Threads of a block come in shares of one a digit. */
static constexpr uint32_t GROUP = DIGITS, GROUP_WARPS = GROUP / WARP;

/* The shared memory of a block. INDEXED: for pairs, not for keys alone. */
template <typename K, bool INDEXED, int BLOCK, int ITEMS> struct tile_memory {
	static constexpr int warps = BLOCK / WARP, groups = BLOCK / GROUP, items = BLOCK * ITEMS;

	K key[items]; /* the sorted tile */
	uint32_t index[INDEXED ? items : 1];
	/* keys of a digit that the warp has; then where the next of them goes in the sorted tile */
	uint32_t count[warps][DIGITS];
	uint32_t to[DIGITS]; /* what to add to a place in the sorted tile to have that in all */
	uint32_t in_group[groups][DIGITS];
	uint32_t in_warp[warps];
	uint32_t ticket;
};

/* Where the caller's keys go in the sorted tile, two to a register. */
template <int ITEMS> struct tile_ranks {
	static_assert(BLOCK_MAX * ITEMS <= 1 << 16, "places of a tile have 16 bits");
	uint32_t two[(ITEMS + 1) / 2];

	/* Even rows before odd ones. */
	__device__ __forceinline__ void put(int row, uint32_t rank)
	{
		two[row / 2] = row % 2 ? two[row / 2] | rank << 16 : rank;
	}

	__device__ __forceinline__ uint32_t of(int row) const
	{
		return row % 2 ? two[row / 2] >> 16 : two[row / 2] & 0xffff;
	}
};

/* For a warp: its counters begin at 0. */
static __device__ __forceinline__ void clear_counts(uint32_t *s_count)
{
	SL_UNROLL
	for (uint32_t digit = lane_index(); digit < DIGITS; digit += WARP)
		s_count[digit] = 0;
	__syncwarp();
}

/* The calling warp's digits, in counters that are 0. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ void count_digits(const struct warp_striped<FULL> &r,
	const K (&key)[ITEMS], struct digit_field d, uint32_t *s_count)
{
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		atomicAdd(&s_count[r.digit_of(key[row], row, d)], 1);
	}
}

/* Where the first key of the calling thread's digit goes in the sorted tile: a sum in each share.
 */
static __device__ __forceinline__ uint32_t start_of_digit(uint32_t count, uint32_t *s_in_warp)
{
	uint32_t warp = warp_index(), up_to = sum_up_to_lane(count), start = up_to - count;

	if (lane_index() == WARP - 1)
		s_in_warp[warp] = up_to;
	__syncthreads();
	SL_UNROLL
	for (uint32_t w = 0; w < GROUP_WARPS; w++)
		start += w < warp % GROUP_WARPS ? s_in_warp[warp / GROUP_WARPS * GROUP_WARPS + w]
		                                : 0;
	return start;
}

/*
 * count[warp][digit] become the place of the warp's first key of that digit in the sorted tile. A
 * share has the counts of 8 warps. The tile's own are written in the book, if there is one, at
 * once. Gives the start of the calling thread's digit.
 */
template <typename K, bool INDEXED, int BLOCK, int ITEMS>
static __device__ __forceinline__ uint32_t scan_warp_counts(const struct digit_offset_table *table,
	uint32_t tile, struct tile_memory<K, INDEXED, BLOCK, ITEMS> *s)
{
	uint32_t digit = threadIdx.x % GROUP, group = threadIdx.x / GROUP;
	uint32_t own[GROUP_WARPS], in_group = 0, in_tile = 0, before = 0, start;

	SL_UNROLL
	for (uint32_t w = 0; w < GROUP_WARPS; w++) {
		own[w] = s->count[group * GROUP_WARPS + w][digit];
		in_group += own[w];
	}
	s->in_group[group][digit] = in_group;
	__syncthreads();
	SL_UNROLL
	for (uint32_t k = 0; k < s->groups; k++) {
		uint32_t of_k = s->in_group[k][digit];

		before += k < group ? of_k : 0;
		in_tile += of_k;
	}
	if (table && group == 0)
		write_count(*table, tile, digit, in_tile);
	start = start_of_digit(in_tile, s->in_warp);
	before += start;
	SL_UNROLL
	for (uint32_t w = 0; w < GROUP_WARPS; w++) {
		s->count[group * GROUP_WARPS + w][digit] = before;
		before += own[w];
	}
	return start;
}

/* s_count is the warp's own: no other touches it. */
template <bool FULL, typename K, int ITEMS>
static __device__ __forceinline__ tile_ranks<ITEMS> rank_keys(const struct warp_striped<FULL> &r,
	const K (&key)[ITEMS], struct digit_field d, uint32_t *s_count)
{
	tile_ranks<ITEMS> ranks = {};

	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		uint32_t digit = r.digit_of(key[row], row, d), equal, before, rank;

		if (r.is_past(row))
			break;
		equal = sl_lanes_alike<DIGIT_BITS>(digit);
		before = count_lower_lanes(equal);
		rank = s_count[digit] + before;
		__syncwarp(); /* all have read */
		if (before == 0)
			s_count[digit] = rank + (uint32_t)__popc(equal);
		__syncwarp(); /* for the next row */
		ranks.put(row, rank);
	}
	return ranks;
}

/* Through shared memory: every item goes to its place in the sorted tile. */
template <bool FULL, typename T, int ITEMS>
static __device__ __forceinline__ void scatter_to_shared(const struct warp_striped<FULL> &r,
	const T (&item)[ITEMS], const tile_ranks<ITEMS> &ranks, T *s_sorted)
{
	SL_UNROLL
	for (int row = 0; row < ITEMS; row++) {
		if (r.is_past(row))
			break;
		s_sorted[ranks.of(row)] = item[row];
	}
}

#endif
