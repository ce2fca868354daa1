/*
 * sort/tile_sort.cuh - sorts a tile of keys by one digit: keys in the registers of a block, ranks
 * and the sorted tile in its shared memory.
 *
 * Each warp counts its digits in shared counters. A scan over digits and warps gives the position
 * of the first key of each digit of each warp in the sorted tile. Then each warp ranks its keys row
 * by row with ballots (warp_ballot.cuh), and every item is stored at its rank. Keys and indices are
 * in separate arrays. The order of (warp, row, lane) is the input order, so the sort is stable.
 */
#ifndef SL_PRIMITIVES_SORT_TILE_SORT_CUH
#define SL_PRIMITIVES_SORT_TILE_SORT_CUH

#include "digit_offset_table.cuh"
#include "warp_striped.cuh"

/* With 512 threads a thread may use 128 registers, enough for all its items without spilling. */
static constexpr uint32_t BLOCK_MAX = 512;

/* The threads of a block form groups of one thread per digit. */
static constexpr uint32_t GROUP = DIGITS, GROUP_WARPS = GROUP / WARP;

/* Shared memory of a block. INDEXED: pairs; otherwise keys only. */
template <typename K, bool INDEXED, int BLOCK, int ITEMS> struct tile_memory {
	static constexpr int warps = BLOCK / WARP, groups = BLOCK / GROUP, items = BLOCK * ITEMS;

	K key[items]; /* the sorted tile */
	uint32_t index[INDEXED ? items : 1];
	/* number of the warp's keys of a digit, then position of the next one in the sorted tile */
	uint32_t count[warps][DIGITS];
	uint32_t output_delta[DIGITS]; /* output index minus position in the sorted tile */
	uint32_t in_group[groups][DIGITS];
	uint32_t in_warp[warps];
	uint32_t ticket;
	uint32_t n; /* pairs of all tiles */
};

/* Positions of the thread's keys in the sorted tile, two per register. */
template <int ITEMS> struct tile_ranks {
	static_assert(BLOCK_MAX * ITEMS <= 1 << 16, "positions in a tile have 16 bits");
	uint32_t packed[(ITEMS + 1) / 2];

	/* Call for rows in ascending order: an even row overwrites the register. */
	__device__ __forceinline__ void put(int row, uint32_t rank)
	{
		packed[row / 2] = row % 2 ? packed[row / 2] | rank << 16 : rank;
	}

	__device__ __forceinline__ uint32_t of(int row) const
	{
		return row % 2 ? packed[row / 2] >> 16 : packed[row / 2] & 0xffff;
	}
};

/* For a warp: sets its counters to 0. */
static __device__ __forceinline__ void clear_counts(uint32_t *s_count)
{
	SL_UNROLL
	for (uint32_t digit = lane_index(); digit < DIGITS; digit += WARP)
		s_count[digit] = 0;
	__syncwarp();
}

/* For a warp: counts the digits of its keys; the counters must be 0. */
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

/*
 * Position of the first key of the calling thread's digit in the sorted tile: an exclusive scan
 * over the digits, done by each group for itself.
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
 * Turns count[warp][digit] into the position of the warp's first key of that digit in the sorted
 * tile. Each group handles the counts of 8 warps. Publishes the tile's counts in the table, if
 * there is one, as soon as they are known. Returns the position of the first key of the calling
 * thread's digit.
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

/*
 * For a warp: positions of its keys in the sorted tile. s_count is private to the warp, so
 * __syncwarp() suffices.
 */
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
		equal = sl_match_lanes<DIGIT_BITS>(digit);
		before = count_lower_lanes(equal);
		rank = s_count[digit] + before;
		__syncwarp(); /* all lanes have read s_count */
		if (before == 0)
			s_count[digit] = rank + (uint32_t)__popc(equal);
		__syncwarp(); /* the update is visible to the next row */
		ranks.put(row, rank);
	}
	return ranks;
}

/* Stores every item of the thread at its position in the sorted tile. */
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
