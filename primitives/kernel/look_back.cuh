/*
 * look_back.cuh - decoupled look-back: sums over all tiles before a tile, in the kernel that makes
 * the tiles' own sums. What makes a scan or a compaction of one pass possible.
 *
 * Each tile publishes the sum of its items as soon as it has it; then one warp walks back over the
 * tiles before, 128 at a time, and adds up their sums, until it meets one that already knows the
 *sum of all up to itself. With that it publishes the same for its own tile. (Merrill and Garland,
 * Single-pass parallel prefix scan with decoupled look-back, 2016.)
 *
 *	struct sl_look_back<uint32_t> state = sl_look_back_cut<uint32_t>(&arena, tiles);
 *	SL_TRY(sl_look_back_clear(state, stream));      then an early launch of one block a tile:
 *
 *	sl_wait_for_last();
 *	uint32_t tile = sl_look_back_ticket(state);     all threads of the block
 *	... total = the sum of the tile's items
 *	before = sl_look_back_sum(state, tile, total);  all lanes of one warp
 *
 * Tiles are handed out by a counter, in the order in which blocks begin. So all tiles that a tile
 * waits for belong to blocks that have begun, which a device keeps going, and the wait ends in
 * whatever order blocks are started.
 *
 * A value travels together with what it is, 32 bits of either in one word of 64; a value of 64 bits
 * in two such words, which belong together when both are the same kind, as each is written once
 * a kind. Words of 64 bits are read and written whole, so nothing has to be ordered; and nothing
 * else that a block has written is visible to another one because of these words.
 *
 * Moves 8 bytes a tile for u32 and 16 for u64, some times over, nearly all of it in the L2 cache.
 */
#ifndef SL_PRIMITIVES_KERNEL_LOOK_BACK_CUH
#define SL_PRIMITIVES_KERNEL_LOOK_BACK_CUH

#include "primitives/base/arena.h"
#include "kernel.cuh"

/* What is known of a tile. Nothing is 0, so clearing is a fill. */
enum sl_known { SL_KNOWN_NOTHING, SL_KNOWN_OWN, SL_KNOWN_ALL };

/* T: uint32_t or uint64_t; sums are modulo 2^32 or 2^64. */
template <typename T> struct sl_look_back {
	static constexpr uint32_t parts = sizeof(T) / sizeof(uint32_t);
	/* The counter has 256 bytes for itself: no poll meets its atomics. */
	static constexpr uint32_t counter_words = 32;

	uint64_t *words; /* the counter, then parts words a tile */
	uint32_t tiles;
};

/* Cuts or measures the state for up to so many tiles. */
template <typename T>
static inline struct sl_look_back<T> sl_look_back_cut(struct sl_arena *a, uint32_t tiles) {
	struct sl_look_back<T> state = {
		nullptr, tiles
	};
	uint64_t n = state.counter_words + (uint64_t)tiles * state.parts;

	state.words = (uint64_t *)sl_cut_items(a, n, sizeof(*state.words));
	return state;
}

template <typename T>
static __global__ void look_back_clear_kernel(struct sl_look_back<T> state)
{
	uint64_t n = state.counter_words + (uint64_t)state.tiles * state.parts;
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;

	sl_let_next_begin();
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		state.words[i] = 0;
}

/*
 * Queues what must come before each launch that uses state: by a kernel, so that the launch can be
 * early, whose threads wait for this one alone.
 */
template <typename T>
static inline enum sl_status sl_look_back_clear(struct sl_look_back<T> state, sl_stream stream)
{
	uint32_t blocks = sl_grid(state.counter_words + (uint64_t)state.tiles * state.parts, 1024);

	return SL_LAUNCH(look_back_clear_kernel<T>, blocks, 256, 0, stream, state);
}

/* The next tile, for one thread; once past state.tiles there is none. */
template <typename T>
static __device__ inline uint32_t sl_look_back_next(struct sl_look_back<T> state)
{
	uint32_t tile = (uint32_t)atomicAdd(state.words, 1);

	return tile;
}

/*
 * The next tile, for the whole block; once past state.tiles there is none. Contains a barrier; the
 * block must meet at another one before it calls this again.
 */
template <typename T>
static __device__ inline uint32_t sl_look_back_ticket(struct sl_look_back<T> state)
{
	SL_SHARED(uint32_t, ticket);

	if (threadIdx.x == 0)
		ticket = sl_look_back_next(state);
	__syncthreads();
	return ticket;
}

/* For one thread: sum is known of tile. */
template <typename T>
static __device__ inline void sl_look_back_publish(
	struct sl_look_back<T> state, uint32_t tile, enum sl_known known, T sum)
{
	uint64_t *at = state.words + state.counter_words + (uint64_t)tile * state.parts;

	SL_UNROLL
	for (uint32_t part = 0; part < state.parts; part++)
		sl_store_relaxed(at + part,
			(uint64_t)known << 32 | (uint32_t)((uint64_t)sum >> (32 * part)));
}

/* What is known of tile now, and the sum. */
template <typename T>
static __device__ inline enum sl_known sl_look_back_read(
	struct sl_look_back<T> state, uint32_t tile, T *sum)
{
	const uint64_t *at = state.words + state.counter_words + (uint64_t)tile * state.parts;
	uint64_t value = 0, known[state.parts];

	SL_UNROLL
	for (uint32_t part = 0; part < state.parts; part++) {
		uint64_t word = sl_load_relaxed(at + part);

		known[part] = word >> 32;
		value |= (uint64_t)(uint32_t)word << (32 * part);
	}
	*sum = (T)value;
	return known[0] == known[state.parts - 1] ? (enum sl_known)known[0] : SL_KNOWN_NOTHING;
}

/* Tiles that a lane looks at in one look, which takes no longer than to look at one. */
static constexpr uint32_t SL_LOOKS = 4;

/*
 * For a warp: one look at the tiles before *end, the nearest 32 first, up to the first that knows
 * all. Adds to *mine, over the lanes, the sums of all that are known up to one that is not, and
 * moves *end there; was all known? Before tile 0 all is known: it is nothing.
 */
template <typename T>
static __device__ inline bool sl_look_back_window(
	struct sl_look_back<T> state, uint32_t *end, T *mine)
{
	uint32_t lane = threadIdx.x % 32;
	enum sl_known known[SL_LOOKS];
	T sum[SL_LOOKS];

	SL_UNROLL
	for (uint32_t k = 0; k < SL_LOOKS; k++) {
		uint32_t back = lane + k * 32;

		sum[k] = 0;
		known[k] = back < *end ? sl_look_back_read(state, *end - 1 - back, &sum[k])
		                       : SL_KNOWN_ALL;
	}
	SL_UNROLL
	for (uint32_t k = 0; k < SL_LOOKS; k++) {
		uint32_t missing = __ballot_sync(SL_LANES, known[k] == SL_KNOWN_NOTHING);
		uint32_t all = __ballot_sync(SL_LANES, known[k] == SL_KNOWN_ALL);
		uint32_t needed = all ^ (all - 1); /* up to the first of all; each if none */

		if ((missing & needed) != 0)
			return false;
		*mine += needed >> lane & 1 ? sum[k] : 0;
		if (all != 0)
			return true;
		*end -= 32;
	}
	return false;
}

/* For a warp: the sum of all tiles before end, as soon as it is known. */
template <typename T>
static __device__ inline T sl_look_back_wait(struct sl_look_back<T> state, uint32_t end)
{
	uint32_t pause = 8;
	T mine = 0;

	for (uint32_t seen = end; !sl_look_back_window(state, &end, &mine); seen = end)
		if (end == seen) {
			sl_backoff(pause);
			pause = pause < 256 ? 2 * pause : pause;
		}
	for (uint32_t with = 16; with > 0; with /= 2)
		mine += __shfl_xor_sync(SL_LANES, mine, with);
	return mine;
}

/* For one thread: own is the sum of tile. */
template <typename T>
static __device__ inline void sl_look_back_own(struct sl_look_back<T> state, uint32_t tile, T own)
{
	sl_look_back_publish(state, tile, tile == 0 ? SL_KNOWN_ALL : SL_KNOWN_OWN, own);
}

/*
 * For all lanes of a warp, once a tile, whose own sum has been published: gives that of all tiles
 * before it.
 */
template <typename T>
static __device__ inline T sl_look_back_rest(struct sl_look_back<T> state, uint32_t tile, T own)
{
	T before = sl_look_back_wait(state, tile);

	if (threadIdx.x % 32 == 0 && tile > 0)
		sl_look_back_publish(state, tile, SL_KNOWN_ALL, (T)(before + own));
	return before;
}

/* Both, one behind the other. */
template <typename T>
static __device__ inline T sl_look_back_sum(struct sl_look_back<T> state, uint32_t tile, T own)
{
	if (threadIdx.x % 32 == 0)
		sl_look_back_own(state, tile, own);
	return sl_look_back_rest(state, tile, own);
}

#endif
