/*
 * encoder/match_search.cuh - finds the best match at every position of a segment, with all threads
 * of a block.
 *
 * The positions are sorted by the hash of their first three bytes, in two passes of a stable radix
 * sort. Positions with the same hash are then adjacent and in their original order, so the
 * candidates of a position, which cpu.c finds through linked lists, are the entries directly before
 * it. Each warp sorts a contiguous part; a scan of all digit counts gives the target of each warp
 * and digit. For the search, each warp keeps a window of 64 sorted positions with their first eight
 * bytes in shared memory, so that lanes read candidates from there instead of following pointers in
 * memory.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_MATCH_SEARCH_CUH
#define SL_PRIMITIVES_DEFLATE_ENCODER_MATCH_SEARCH_CUH

#include "block.h"
#include "checksum.h"
#include "primitives/kernel/kernel.cuh"

enum {
	THREADS = 256, /* of a block: one per byte value, and one per slice */
	WARPS = THREADS / 32,
	DIGIT_BITS = SL_HASH_BITS / 2,
	DIGITS = 1 << DIGIT_BITS,
	POSITION_BITS = 16, /* the hash is above the position */
	ROWS = 4, /* rows of positions that a warp loads at a time, to overlap latencies */
	PADDING_POSITIONS = 64, /* read past the sorted positions; nothing is searched there */
	SORTED_POSITIONS = SL_POSITIONS + PADDING_POSITIONS
};

/*
 * Sorted positions of a warp: 32 previous ones and its current 32, with the first eight bytes of
 * each.
 */
struct window {
	uint64_t prefix[64];
	uint16_t position[64];
};

/* Shared memory of steps that do not overlap in time. */
union shared_scratch {
	struct {
		uint32_t crc[SL_CRC_TABLE];
		struct sl_deflate_checksum of_slice[SL_SLICES];
	} checksums;
	struct {
		uint32_t next[WARPS][DIGITS]; /* digit counts, then the next target */
		uint32_t total[WARPS];
	} sort;
	struct window window[WARPS];
	struct sl_huffman_work work;
};

enum { LITERALS, DISTANCES, CODE_LENGTHS, ALPHABETS };

/* Of the alphabet being built: number of used symbols, last one plus 1, codes of each length. */
struct symbol_stats {
	uint32_t used, end, of_length[SL_CODE_MAX + 1];
};

/* Shared memory of a block. */
struct block_memory {
	uint8_t data[SL_POSITIONS + SL_PAD]; /* aligned to 4; later the encoded words */
	uint32_t run_starts[SL_RUN_START_WORDS];
	struct sl_deflate_block block;
	union shared_scratch scratch;
	uint16_t run[SL_SLICES]; /* last run start of each slice, plus 1 */
	uint32_t bits[WARPS];    /* bits of the tokens of each warp */
	uint64_t segment;
	uint32_t sum, found, runs; /* cost of all literals; matches in the probe; number of runs */
	uint32_t probe[2];         /* cost of the probe by runs and by matches */
	struct symbol_stats symbol_stats[ALPHABETS];
	struct sl_deflate_checksum checksum;
};

/* A segment and the block's memory for it. */
struct segment_task {
	struct block_memory *mem;
	uint32_t *found; /* tokens found, slices interleaved; before, half-sorted positions */
	uint16_t *sorted;
	uint32_t *token; /* tokens of the parse, slices interleaved */
	struct sl_segment segment;
	uint32_t begin, end, slices; /* positions: start of history, end of segment */
};

/* First position of a slice. */
static __device__ inline uint32_t slice_from(uint32_t slice)
{
	return SL_HISTORY + slice * SL_SLICE;
}

/* End of a slice. */
static __device__ inline uint32_t slice_to(const struct segment_task &p, uint32_t slice)
{
	uint32_t end = slice_from(slice + 1);

	return end < p.end ? end : p.end;
}

/* Where the token found at a position is stored. */
static __device__ inline uint32_t *found_at(const struct segment_task &p, uint32_t position)
{
	uint32_t slice = (position - SL_HISTORY) / SL_SLICE;

	return &p.found[(position - slice_from(slice)) * SL_SLICES + slice];
}

/* --- sort of positions ------------------------------------------------------------------------ */

/*
 * Sort key q: the hash above the position; from: output of the previous pass, NULL for the first.
 */
static __device__ inline uint32_t key_at(
	const struct segment_task &p, const uint32_t *from, uint32_t q)
{
	uint32_t position = p.begin + q;

	return from ? from[q]
	            : sl_hash(sl_bytes_at(p.mem->data, position)) << POSITION_BITS | position;
}

/* For a block: turns the digit counts of the warps into targets; ordered by digit, then by warp. */
static __device__ inline void scan_digits(const struct segment_task &p)
{
	enum { PER_THREAD = WARPS * DIGITS / THREADS };
	uint32_t first = threadIdx.x * PER_THREAD, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t count[PER_THREAD], all = 0, before = 0, up;

	for (uint32_t k = 0; k < PER_THREAD; k++) {
		count[k] = p.mem->scratch.sort.next[(first + k) % WARPS][(first + k) / WARPS];
		all += count[k];
	}
	up = all;
	for (uint32_t by = 1; by < 32; by *= 2) {
		uint32_t below = __shfl_up_sync(SL_LANES, up, by);

		up += lane >= by ? below : 0;
	}
	if (lane == 31)
		p.mem->scratch.sort.total[warp] = up;
	__syncthreads();
	for (uint32_t w = 0; w < warp; w++)
		before += p.mem->scratch.sort.total[w];
	before += up - all;
	for (uint32_t k = 0; k < PER_THREAD; k++) {
		p.mem->scratch.sort.next[(first + k) % WARPS][(first + k) / WARPS] = before;
		before += count[k];
	}
}

/* Loads a lane's keys of ROWS rows, starting at q; keys from end on are 0. */
static __device__ inline void keys_at(
	const struct segment_task &p, const uint32_t *from, uint32_t q, uint32_t end, uint32_t *key)
{
	SL_UNROLL
	for (uint32_t k = 0; k < ROWS; k++)
		key[k] = q + 32 * k < end ? key_at(p, from, q + 32 * k) : 0;
}

/*
 * For a warp: stores one row at its targets. Equal digits keep their order: the lane's rank among
 * them is added.
 */
template <class T>
static __device__ inline void store_row(
	uint32_t *next, T *to, uint32_t key, uint32_t digit, uint32_t equal)
{
	uint32_t lane = threadIdx.x % 32, below = (uint32_t)__popc(equal & ((1u << lane) - 1));
	uint32_t at = digit < DIGITS ? next[digit] + below : 0;

	if (digit < DIGITS)
		to[at] = (T)key;
	__syncwarp();
	if (digit < DIGITS && below == 0)
		next[digit] = at + (uint32_t)__popc(equal);
	__syncwarp();
}

/*
 * One pass of the sort, by the digit at bit shift; T without room for the hash keeps the position
 * only.
 */
template <class T>
static __device__ inline void sort_pass(
	const struct segment_task &p, const uint32_t *from, T *to, uint32_t n, uint32_t shift)
{
	uint32_t each = (n + THREADS - 1) / THREADS * 32, lane = threadIdx.x % 32;
	uint32_t warp = threadIdx.x / 32, first = warp * each, end = first + each;
	uint32_t *next = p.mem->scratch.sort.next[warp], key[ROWS], digit[ROWS], equal[ROWS];

	end = end < n ? end : n;
	for (uint32_t d = lane; d < DIGITS; d += 32)
		next[d] = 0;
	__syncwarp();
	for (uint32_t row = first; row < end; row += 32 * ROWS) {
		keys_at(p, from, row + lane, end, key);
		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++)
			if (row + 32 * k + lane < end)
				atomicAdd(&next[(key[k] >> shift) % DIGITS], 1);
	}
	__syncthreads();
	scan_digits(p);
	__syncthreads();
	for (uint32_t row = first; row < end; row += 32 * ROWS) {
		keys_at(p, from, row + lane, end, key);
		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++) {
			digit[k] = row + 32 * k + lane < end ? (key[k] >> shift) % DIGITS
			                                     : (uint32_t)DIGITS;
			equal[k] = sl_match_lanes<DIGIT_BITS + 1>(digit[k]);
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++)
			store_row(next, to, key[k], digit[k], equal[k]);
	}
	__syncthreads();
}

/* --- search ----------------------------------------------------------------------------------- */

static __device__ inline struct sl_bytes8 window_at(const struct window *w, uint32_t i)
{
	return {(uint32_t)w->prefix[i], (uint32_t)(w->prefix[i] >> 32)};
}

static __device__ inline void window_put(
	struct window *w, uint32_t i, const struct sl_bytes8 &prefix, uint32_t position)
{
	w->prefix[i] = (uint64_t)prefix.high << 32 | prefix.low;
	w->position[i] = (uint16_t)position;
}

/*
 * For a warp: eight bytes to place before the first position, chosen so that they match none of the
 * first positions: their first byte occurs at none of them.
 */
static __device__ inline struct sl_bytes8 unmatched_prefix(const struct segment_task &p, uint32_t n)
{
	uint32_t lane = threadIdx.x % 32, first = 0;
	bool is_candidate = lane < SL_CANDIDATES && lane < n;
	uint32_t mine = is_candidate ? p.mem->data[p.sorted[lane]] : 256u;

	while (__any_sync(SL_LANES, mine == first))
		first++;
	return {first, 0};
}

/*
 * Best match at the lane's position, as a token; 0: none. Positions with another hash cannot have
 * three equal bytes, so the hash is not compared. A candidate is ranked by its number of equal
 * bytes, then by its distance in the sorted order.
 */
static __device__ inline uint32_t search_position(const struct segment_task &p,
	const struct window *w, uint32_t at, const struct sl_bytes8 &mine)
{
	const uint8_t *data = p.mem->data;
	uint32_t most = sl_slice_left(at, p.end), best = 0, longest, q = threadIdx.x % 32 + 32;
	uint32_t full_prefixes = 0; /* bit k: candidate k has all eight bytes in common */

	SL_UNROLL
	for (uint32_t k = 1; k <= SL_CANDIDATES; k++) {
		uint32_t equal = sl_common_prefix(mine, window_at(w, q - k)),
			 candidate = equal * 32 + 32 - k;

		full_prefixes |= (uint32_t)(equal == SL_PREFIX_BYTES) << k;
		best = candidate > best ? candidate : best;
	}
	if (at < SL_HISTORY || best / 32 < SL_MATCH_MIN)
		return 0;
	longest = sl_candidate(best / 32, w->position[q - (32 - best % 32)]);
	for (uint32_t k = 0; k < SL_CANDIDATES_EXTENDED && full_prefixes > 0; k++) {
		uint32_t position = w->position[q - sl_trailing_zeros(full_prefixes)];

		longest = sl_candidate_extend(data, at, position, most, longest);
		full_prefixes &= full_prefixes - 1;
	}
	return sl_candidate_token(data, at, most, &p.mem->block.cost, longest);
}

/*
 * For a warp: searches sorted positions first .. end - 1 of n; returns how many of the lane's have
 * a match. Positions of the history are only candidates.
 */
static __device__ inline uint32_t search_range(
	const struct segment_task &p, uint32_t first, uint32_t end, uint32_t n)
{
	struct window *w = &p.mem->scratch.window[threadIdx.x / 32];
	uint32_t lane = threadIdx.x % 32, found = 0, at, next;

	if (first >= n)
		return 0;
	at = p.sorted[first + lane];
	if (first > 0) {
		uint32_t before = p.sorted[first - 32 + lane];

		window_put(w, lane, sl_bytes8_at(p.mem->data, before), before);
	} else {
		window_put(w, lane, unmatched_prefix(p, n), 0);
	}
	for (uint32_t row = first; row < end && row < n; row += 32, at = next) {
		const struct sl_bytes8 mine = sl_bytes8_at(p.mem->data, at);
		uint32_t token;

		next = p.sorted[row + 32 + lane];
		window_put(w, 32 + lane, mine, at);
		__syncwarp();
		token = search_position(p, w, at, mine);
		__syncwarp();
		window_put(w, lane, mine, at);
		if (at >= SL_HISTORY) {
			*found_at(p, at) = token;
			found += token > 0;
		}
	}
	return found;
}

/*
 * For a block: searches all positions before end. For the probe, mem->found then counts the
 * matches.
 */
static __device__ inline void search_positions(const struct segment_task &p, uint32_t end)
{
	uint32_t n = end - p.begin, each = (n + THREADS - 1) / THREADS * 32;
	uint32_t first = threadIdx.x / 32 * each;

	if (threadIdx.x < PADDING_POSITIONS)
		p.sorted[n + threadIdx.x] = 0;
	sort_pass(p, NULL, p.found, n, POSITION_BITS);
	sort_pass(p, p.found, p.sorted, n, POSITION_BITS + DIGIT_BITS);
	atomicAdd(&p.mem->found, search_range(p, first, first + each, n));
	if (threadIdx.x < SL_HASHED - 1) /* the last positions have no hash */
		*found_at(p, end + threadIdx.x) = 0;
	__syncthreads();
}

#endif
