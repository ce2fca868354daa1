/*
 * deflate/lookup.cuh - what the bytes at each place of a segment are the same as, by a block.
 *
 * Places are sorted by the hash of the bytes that stand there, in two passes of a radix sort that
 * keeps the order of places: those with the same hash then follow each other, and those before one
 * are the places that cpu.c has in its lists. Each warp sorts a part of the places; where it puts
 * those of a digit is known from the counts of all.
 */
#ifndef SL_DEFLATE_LOOKUP_CUH
#define SL_DEFLATE_LOOKUP_CUH

#include "primitives/base/kernel.cuh"
#include "block.h"
#include "check.h"

enum {
	THREADS = 256, /* of a block: one a byte's value, and two a slice */
	WARPS = THREADS / 32,
	DIGIT_BITS = SL_HASH_BITS / 2,
	DIGITS = 1 << DIGIT_BITS,
	PLACE_BITS = 16 /* below a place's hash */
};

/* What is needed at one time, and then no more. */
union scratch_room {
	struct {
		uint32_t crc[SL_CRC_TABLE];
		struct sl_check of_slice[SL_SLICES];
	} checks;
	struct {
		uint32_t next[WARPS][DIGITS]; /* how many; then where the next goes */
		uint32_t total[WARPS];
	} sort;
	struct sl_huffman_work work;
};

/* What a block has in shared memory. */
struct room {
	uint8_t data[SL_PLACES + SL_PAD]; /* at a multiple of 4; later the words that are written */
	uint32_t breaks[SL_BREAK_WORDS];
	struct sl_block block;
	union scratch_room u;
	uint32_t tokens[SL_SLICES];   /* how many a slice has */
	uint16_t bits[2 * SL_SLICES]; /* of halves of slices; before, where the last run begins */
	uint64_t segment;
	uint32_t sum, found, runs; /* what literals would take; what the probe finds; runs */
	uint32_t used[3];          /* symbols of each alphabet */
	struct sl_check check;
};

/* A segment and what the block has for it. */
struct part {
	struct room *r;
	uint32_t *found; /* at each place, slices side by side; before, places half in order */
	uint16_t *order;
	uint32_t *token;
	struct sl_segment segment;
	uint32_t begin, end, slices; /* places of the history and the segment */
};

static __device__ inline uint32_t slice_from(uint32_t slice)
{
	return SL_HISTORY + slice * SL_SLICE;
}

static __device__ inline uint32_t slice_to(const struct part &p, uint32_t slice)
{
	uint32_t end = slice_from(slice + 1);

	return end < p.end ? end : p.end;
}

/* What is found at a place. */
static __device__ inline uint32_t *found_at(const struct part &p, uint32_t place)
{
	uint32_t slice = (place - SL_HISTORY) / SL_SLICE;

	return &p.found[(place - slice_from(slice)) * SL_SLICES + slice];
}

/* --- order ------------------------------------------------------------------------------------ */

/* The q-th place before a pass, and the hash of what stands there above it: places from from
 * (NULL: as they are). */
static __device__ inline uint32_t key_at(const struct part &p, const uint32_t *from, uint32_t q)
{
	uint32_t place = p.begin + q;

	return from ? from[q] : sl_hash(sl_bytes_at(p.r->data, place)) << PLACE_BITS | place;
}

/* From how many of each digit a warp has to where they go: by digits, then by warps. */
static __device__ inline void scan_digits(const struct part &p)
{
	enum { EACH = WARPS * DIGITS / THREADS };
	uint32_t first = threadIdx.x * EACH, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	uint32_t count[EACH], all = 0, before = 0, up;

	for (uint32_t k = 0; k < EACH; k++) {
		count[k] = p.r->u.sort.next[(first + k) % WARPS][(first + k) / WARPS];
		all += count[k];
	}
	up = all;
	for (uint32_t by = 1; by < 32; by *= 2) {
		uint32_t below = __shfl_up_sync(SL_LANES, up, by);

		up += lane >= by ? below : 0;
	}
	if (lane == 31)
		p.r->u.sort.total[warp] = up;
	__syncthreads();
	for (uint32_t w = 0; w < warp; w++)
		before += p.r->u.sort.total[w];
	before += up - all;
	for (uint32_t k = 0; k < EACH; k++) {
		p.r->u.sort.next[(first + k) % WARPS][(first + k) / WARPS] = before;
		before += count[k];
	}
}

/* n places from from to to, with their hash if it has room for it, by the digit from bit shift on.
 */
template <class T>
static __device__ inline void sort_pass(
	const struct part &p, const uint32_t *from, T *to, uint32_t n, uint32_t shift)
{
	uint32_t each = (n + THREADS - 1) / THREADS * 32, lane = threadIdx.x % 32;
	uint32_t warp = threadIdx.x / 32, first = warp * each, end = first + each;
	uint32_t *next = p.r->u.sort.next[warp];

	end = end < n ? end : n;
	for (uint32_t d = lane; d < DIGITS; d += 32)
		next[d] = 0;
	__syncwarp();
	for (uint32_t q = first + lane; q < end; q += 32)
		atomicAdd(&next[(key_at(p, from, q) >> shift) % DIGITS], 1);
	__syncthreads();
	scan_digits(p);
	__syncthreads();
	for (uint32_t round = first; round < end; round += 32) {
		uint32_t q = round + lane, key = q < end ? key_at(p, from, q) : 0;
		uint32_t digit = q < end ? (key >> shift) % DIGITS : (uint32_t)DIGITS;
		uint32_t alike = sl_lanes_alike<DIGIT_BITS + 1>(digit);
		uint32_t below = (uint32_t)__popc(alike & ((1u << lane) - 1));
		uint32_t at = q < end ? next[digit] + below : 0;

		if (q < end)
			to[at] = (T)key;
		__syncwarp();
		if (q < end && below == 0)
			next[digit] = at + (uint32_t)__popc(alike);
		__syncwarp();
	}
	__syncthreads();
}

/* --- what is found ---------------------------------------------------------------------------- */

/* That at the k-th before the lane's, of a warp's places and the 32 before them. */
static __device__ inline struct sl_eight eight_before(
	const struct sl_eight &last, const struct sl_eight &mine, uint32_t k)
{
	uint32_t lane = threadIdx.x % 32;
	bool is_mine = lane < 32 - k;
	int from = (int)((lane - k) % 32);

	return {__shfl_sync(SL_LANES, is_mine ? mine.low : last.low, from),
		__shfl_sync(SL_LANES, is_mine ? mine.high : last.high, from)};
}

/* What stands before the first of n places in order: nothing that those behind it begin with. */
static __device__ inline struct sl_eight eight_of_none(const struct part &p, uint32_t n)
{
	uint32_t lane = threadIdx.x % 32, first = 0;
	bool is_asked = lane < SL_TRIED && lane < n;
	uint32_t mine = is_asked ? p.r->data[p.order[lane]] : 256u;

	while (__any_sync(SL_LANES, mine == first))
		first++;
	return {first, 0};
}

/*
 * What is best said at the lane's place, the q-th in order. Where the hash is another three bytes
 * are never alike, so that it need not be asked. A try is how many bytes are alike, then how near
 * the place is in order.
 */
static __device__ inline uint32_t look_up_at(const struct part &p, uint32_t q, uint32_t at,
	const struct sl_eight &last, const struct sl_eight &mine)
{
	const uint8_t *data = p.r->data;
	uint32_t most = sl_slice_left(at, p.end), best = 0, longest;
	uint32_t eights = 0; /* a bit for each that has as many */

	SL_UNROLL
	for (uint32_t k = 1; k <= SL_TRIED; k++) {
		uint32_t alike = sl_alike(mine, eight_before(last, mine, k));
		uint32_t tried = alike * 32 + (32 - k);

		eights |= (uint32_t)(alike == SL_EIGHT) << k;
		best = tried > best ? tried : best;
	}
	if (at < SL_HISTORY || best / 32 < SL_MATCH_LEAST)
		return 0;
	longest = sl_try(best / 32, p.order[q - (32 - best % 32)]);
	for (uint32_t k = 0; k < SL_MEASURED && eights > 0; k++) {
		uint32_t place = p.order[q - sl_zeros_below(eights)];

		longest = sl_longer(data, at, place, most, longest);
		eights &= eights - 1;
	}
	return sl_try_token(data, at, most, p.r->block.cost, longest);
}

/* Places up to end; of the segment's first SL_PROBE, how many have a match, is known then. In the
 * history nothing is said. */
static __device__ inline void look_up_places(const struct part &p, uint32_t end)
{
	uint32_t n = end - p.begin, found = 0, lane = threadIdx.x % 32;
	uint32_t each = (n + THREADS - 1) / THREADS * 32, first = threadIdx.x / 32 * each;
	struct sl_eight last = {}, mine;

	sort_pass(p, NULL, p.found, n, PLACE_BITS);
	sort_pass(p, p.found, p.order, n, PLACE_BITS + DIGIT_BITS);
	if (first < n)
		last = first > 0 ? sl_eight_at(p.r->data, p.order[first - 32 + lane])
		                 : eight_of_none(p, n);
	for (uint32_t round = first; round < first + each && round < n; round += 32, last = mine) {
		uint32_t q = round + lane, at = q < n ? p.order[q] : 0;

		mine = sl_eight_at(p.r->data, at);
		uint32_t token = look_up_at(p, q, at, last, mine);

		if (at >= SL_HISTORY) {
			*found_at(p, at) = token;
			found += token > 0;
		}
	}
	for (uint32_t i = end + threadIdx.x; i < p.end; i += THREADS)
		*found_at(p, i) = 0;
	atomicAdd(&p.r->found, found);
	__syncthreads();
}

#endif
