/*
 * deflate/lookup.cuh - what the bytes at each place of a segment are the same as, by a block.
 *
 * Places are sorted by the hash of the bytes that stand there, in two passes of a radix sort that
 * keeps the order of places: those with the same hash then follow each other, and those before one
 * are the places that cpu.c has in its lists. Each warp sorts a part of the places; where it puts
 * those of a digit is known from the counts of all. Lanes then see in a window of their warp what
 * stands at the places before theirs.
 */
#ifndef SL_PRIMITIVES_DEFLATE_MATCH_SEARCH_CUH
#define SL_PRIMITIVES_DEFLATE_MATCH_SEARCH_CUH

#include "primitives/kernel/kernel.cuh"
#include "block.h"
#include "checksum.h"

enum {
	THREADS = 256, /* of a block: one a byte's value, and one a slice */
	WARPS = THREADS / 32,
	DIGIT_BITS = SL_HASH_BITS / 2,
	DIGITS = 1 << DIGIT_BITS,
	PLACE_BITS = 16, /* below a place's hash */
	ROWS = 4,        /* of places that a warp reads at a time, as memory is far away */
	PADDING_POSITIONS =
		64, /* places behind those in order, in the history: nothing is said there */
	SORTED_POSITIONS = SL_POSITIONS + PADDING_POSITIONS
};

/* Places in order, those of a warp and the 32 before them, and the eight bytes at each. */
struct window {
	uint64_t prefix[64];
	uint16_t position[64];
};

/* What is needed at one time, and then no more. */
union shared_scratch {
	struct {
		uint32_t crc[SL_CRC_TABLE];
		struct sl_deflate_checksum of_slice[SL_SLICES];
	} checksums;
	struct {
		uint32_t next[WARPS][DIGITS]; /* how many; then where the next goes */
		uint32_t total[WARPS];
	} sort;
	struct window window[WARPS];
	struct sl_huffman_work work;
};

enum { LITERALS, DISTANCES, CODE_LENGTHS, ALPHABETS };

/* Of the symbols that one is made for: how many, and the last plus 1; codes of each length. */
struct symbol_stats {
	uint32_t used, end, of_length[SL_CODE_MAX + 1];
};

/* What a block has in shared memory. */
struct block_memory {
	uint8_t data[SL_POSITIONS +
		     SL_PAD]; /* at a multiple of 4; later the words that are written */
	uint32_t run_starts[SL_RUN_START_WORDS];
	struct sl_block block;
	union shared_scratch scratch;
	uint16_t run[SL_SLICES]; /* where the last of a slice begins, plus 1 */
	uint32_t bits[WARPS];    /* of what the slices of a warp say */
	uint64_t segment;
	uint32_t sum, found, runs; /* what literals would take; what the probe finds; runs */
	uint32_t probe[2];         /* what its slices take, by runs and by matches */
	struct symbol_stats symbol_stats[ALPHABETS];
	struct sl_deflate_checksum checksum;
};

/* A segment and what the block has for it. */
struct segment_task {
	struct block_memory *mem;
	uint32_t *found; /* at each place, slices side by side; before, places half in order */
	uint16_t *sorted;
	uint32_t *token; /* the same, of what is said */
	struct sl_segment segment;
	uint32_t begin, end, slices; /* places of the history and the segment */
};

static __device__ inline uint32_t slice_from(uint32_t slice)
{
	return SL_HISTORY + slice * SL_SLICE;
}

static __device__ inline uint32_t slice_to(const struct segment_task &p, uint32_t slice)
{
	uint32_t end = slice_from(slice + 1);

	return end < p.end ? end : p.end;
}

/* What is found at a place. */
static __device__ inline uint32_t *found_at(const struct segment_task &p, uint32_t position)
{
	uint32_t slice = (position - SL_HISTORY) / SL_SLICE;

	return &p.found[(position - slice_from(slice)) * SL_SLICES + slice];
}

/* --- order ------------------------------------------------------------------------------------ */

/* The q-th place before a pass, and the hash of what stands there above it: places from from
 * (NULL: as they are). */
static __device__ inline uint32_t key_at(
	const struct segment_task &p, const uint32_t *from, uint32_t q)
{
	uint32_t position = p.begin + q;

	return from ? from[q]
	            : sl_hash(sl_bytes_at(p.mem->data, position)) << PLACE_BITS | position;
}

/* From how many of each digit a warp has to where they go: by digits, then by warps. */
static __device__ inline void scan_digits(const struct segment_task &p)
{
	enum { EACH = WARPS * DIGITS / THREADS };
	uint32_t first = threadIdx.x * EACH, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t count[EACH], all = 0, before = 0, up;

	for (uint32_t k = 0; k < EACH; k++) {
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
	for (uint32_t k = 0; k < EACH; k++) {
		p.mem->scratch.sort.next[(first + k) % WARPS][(first + k) / WARPS] = before;
		before += count[k];
	}
}

/* The keys of a lane in some rows, its first the q-th; from end on there is none. */
static __device__ inline void keys_at(
	const struct segment_task &p, const uint32_t *from, uint32_t q, uint32_t end, uint32_t *key)
{
	SL_UNROLL
	for (uint32_t k = 0; k < ROWS; k++)
		key[k] = q + 32 * k < end ? key_at(p, from, q + 32 * k) : 0;
}

/* A row to where its places go, those of a digit behind each other. */
template <class T>
static __device__ inline void place_row(
	uint32_t *next, T *to, uint32_t key, uint32_t digit, uint32_t alike)
{
	uint32_t lane = threadIdx.x % 32, below = (uint32_t)__popc(alike & ((1u << lane) - 1));
	uint32_t at = digit < DIGITS ? next[digit] + below : 0;

	if (digit < DIGITS)
		to[at] = (T)key;
	__syncwarp();
	if (digit < DIGITS && below == 0)
		next[digit] = at + (uint32_t)__popc(alike);
	__syncwarp();
}

/* n places from from to to, with their hash if it has room for it, by the digit from bit shift on.
 */
template <class T>
static __device__ inline void sort_pass(
	const struct segment_task &p, const uint32_t *from, T *to, uint32_t n, uint32_t shift)
{
	uint32_t each = (n + THREADS - 1) / THREADS * 32, lane = threadIdx.x % 32;
	uint32_t warp = threadIdx.x / 32, first = warp * each, end = first + each;
	uint32_t *next = p.mem->scratch.sort.next[warp], key[ROWS], digit[ROWS], alike[ROWS];

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
			alike[k] = sl_lanes_alike<DIGIT_BITS + 1>(digit[k]);
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++)
			place_row(next, to, key[k], digit[k], alike[k]);
	}
	__syncthreads();
}

/* --- what is found ---------------------------------------------------------------------------- */

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

/* What stands before the first of n places in order: nothing that those behind it begin with. */
static __device__ inline struct sl_bytes8 prefix_of_none(const struct segment_task &p, uint32_t n)
{
	uint32_t lane = threadIdx.x % 32, first = 0;
	bool is_candidate = lane < SL_CANDIDATES && lane < n;
	uint32_t mine = is_candidate ? p.mem->data[p.sorted[lane]] : 256u;

	while (__any_sync(SL_LANES, mine == first))
		first++;
	return {first, 0};
}

/*
 * What is best said at the lane's place. Where the hash is another three bytes are never alike, so
 * that it need not be asked. A try is how many bytes are alike, then how near the place is in
 * order.
 */
static __device__ inline uint32_t search_position(const struct segment_task &p,
	const struct window *w, uint32_t at, const struct sl_bytes8 &mine)
{
	const uint8_t *data = p.mem->data;
	uint32_t most = sl_slice_left(at, p.end), best = 0, longest, q = threadIdx.x % 32 + 32;
	uint32_t full_prefixes = 0; /* a bit for each that has as many */

	SL_UNROLL
	for (uint32_t k = 1; k <= SL_CANDIDATES; k++) {
		uint32_t alike = sl_common_prefix(mine, window_at(w, q - k)),
			 candidate = alike * 32 + 32 - k;

		full_prefixes |= (uint32_t)(alike == SL_PREFIX_BYTES) << k;
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

/* Places in order from first on, some of n, by a warp, which gives how many of the lane's have a
 * match. In the history nothing is said. */
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
		window_put(w, lane, prefix_of_none(p, n), 0);
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

/* Places up to end; of the segment's first SL_PROBE, how many have a match, is known then. */
static __device__ inline void search_positions(const struct segment_task &p, uint32_t end)
{
	uint32_t n = end - p.begin, each = (n + THREADS - 1) / THREADS * 32;
	uint32_t first = threadIdx.x / 32 * each;

	if (threadIdx.x < PADDING_POSITIONS)
		p.sorted[n + threadIdx.x] = 0;
	sort_pass(p, NULL, p.found, n, PLACE_BITS);
	sort_pass(p, p.found, p.sorted, n, PLACE_BITS + DIGIT_BITS);
	atomicAdd(&p.mem->found, search_range(p, first, first + each, n));
	if (threadIdx.x < SL_HASHED - 1) /* the last places have no hash */
		*found_at(p, end + threadIdx.x) = 0;
	__syncthreads();
}

#endif
