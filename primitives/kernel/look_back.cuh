/*
 * look_back.cuh - decoupled look-back: the sum over all tiles before a tile, within the kernel that
 * computes the sums of the tiles. It makes a scan or a compaction of a single pass possible.
 *
 * Each tile publishes the sum of its items as soon as it is known. One warp of its block then reads
 * the previous tiles, 128 at a time and the nearest first, and adds their sums up to the first tile
 * that has published its prefix: the sum of all tiles up to and including it. The warp then
 * publishes the prefix of its own tile. (D. Merrill and M. Garland, Single-pass parallel prefix
 * scan with decoupled look-back, 2016.)
 *
 *	struct sl_look_back<uint32_t> state = sl_look_back_cut<uint32_t>(&arena, tiles);
 *	SL_TRY(sl_look_back_clear(state, stream));      then an early launch, one block per tile:
 *
 *	sl_wait_for_previous();
 *	uint32_t tile = sl_look_back_ticket(state);     all threads of the block
 *	... total = the sum of the tile's items
 *	before = sl_look_back_sum(state, tile, total);  all lanes of one warp
 *
 * A counter assigns tiles in the order in which blocks start. So a tile only waits for tiles of
 * blocks that have started, which the device keeps running, and the wait ends in whatever order the
 * blocks start.
 *
 * A word of 64 bits contains the state of a tile and 32 bits of the value. A value of 64 bits takes
 * two words, which belong together if both have the same state, because each is written once per
 * state. Words are read and written as a whole, so no memory order is needed; and the words do not
 * make any other write of a block visible.
 *
 * Traffic: 8 bytes per tile for u32 and 16 for u64, a few times, nearly all of it in the L2 cache.
 */
#ifndef SL_PRIMITIVES_KERNEL_LOOK_BACK_CUH
#define SL_PRIMITIVES_KERNEL_LOOK_BACK_CUH

#include "kernel.cuh"
#include "primitives/base/arena.h"

/*
 * What a tile has published: nothing (INVALID), its own sum (AGGREGATE), or the sum of all tiles up
 * to and including it (PREFIX). The names are those of Merrill and Garland. SL_TILE_INVALID is 0,
 * so the states are cleared with zeros.
 */
enum sl_tile_status { SL_TILE_INVALID, SL_TILE_AGGREGATE, SL_TILE_PREFIX };

/* T: uint32_t or uint64_t; sums are modulo 2^32 or 2^64. */
template <typename T> struct sl_look_back {
	static constexpr uint32_t parts = sizeof(T) / sizeof(uint32_t);
	/*
	 * The counter shares its 256 bytes with nothing else, so that polls do not slow down its
	 * atomics.
	 */
	static constexpr uint32_t counter_words = 32;

	uint64_t *words; /* the counter, then `parts` words per tile */
	uint32_t tiles;
};

/* Cuts the state for that many tiles from an arena, or measures it. */
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

	sl_trigger_next();
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		state.words[i] = 0;
}

/*
 * Clears the state; required before each launch that uses it. It is a kernel rather than a fill so
 * that the next launch can be an early one.
 */
template <typename T>
static inline enum sl_status sl_look_back_clear(struct sl_look_back<T> state, sl_stream stream)
{
	uint32_t blocks = sl_grid(state.counter_words + (uint64_t)state.tiles * state.parts, 1024);

	return SL_LAUNCH(look_back_clear_kernel<T>, blocks, 256, 0, stream, state);
}

/*
 * Takes the next tile; called by one thread. There is none left when the result is >= state.tiles.
 */
template <typename T>
static __device__ inline uint32_t sl_look_back_next(struct sl_look_back<T> state)
{
	uint32_t tile = (uint32_t)atomicAdd(state.words, 1);

	return tile;
}

/*
 * Takes the next tile for the whole block; there is none left when the result is >= state.tiles.
 * Contains a barrier; the block needs another barrier before it calls this again.
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

/* Publishes the state and sum of a tile; called by one thread. */
template <typename T>
static __device__ inline void sl_look_back_publish(
	struct sl_look_back<T> state, uint32_t tile, enum sl_tile_status known, T sum)
{
	uint64_t *at = state.words + state.counter_words + (uint64_t)tile * state.parts;

	SL_UNROLL
	for (uint32_t part = 0; part < state.parts; part++)
		sl_store_relaxed(at + part,
			(uint64_t)known << 32 | (uint32_t)((uint64_t)sum >> (32 * part)));
}

/* The published state of a tile, and its sum. */
template <typename T>
static __device__ inline enum sl_tile_status sl_look_back_read(
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
	return known[0] == known[state.parts - 1] ? (enum sl_tile_status)known[0] : SL_TILE_INVALID;
}

/* Tiles that a lane reads at a time. The loads overlap, so they take no longer than one. */
static constexpr uint32_t SL_READS_PER_LANE = 4;

/*
 * By all lanes of a warp: reads the tiles before *end, the nearest 32 first. Adds the sums of
 * tiles, distributed over *mine of the lanes, up to the first SL_TILE_PREFIX, and returns true if
 * it met one. Stops before a group with a tile that has published nothing, and moves *end there.
 * What precedes tile 0 counts as SL_TILE_PREFIX with sum 0.
 */
template <typename T>
static __device__ inline bool sl_look_back_window(
	struct sl_look_back<T> state, uint32_t *end, T *mine)
{
	uint32_t lane = threadIdx.x % 32;
	enum sl_tile_status known[SL_READS_PER_LANE];
	T sum[SL_READS_PER_LANE];

	SL_UNROLL
	for (uint32_t k = 0; k < SL_READS_PER_LANE; k++) {
		uint32_t back = lane + k * 32;

		sum[k] = 0;
		known[k] = back < *end ? sl_look_back_read(state, *end - 1 - back, &sum[k])
		                       : SL_TILE_PREFIX;
	}
	SL_UNROLL
	for (uint32_t k = 0; k < SL_READS_PER_LANE; k++) {
		uint32_t missing = __ballot_sync(SL_LANES, known[k] == SL_TILE_INVALID);
		uint32_t all = __ballot_sync(SL_LANES, known[k] == SL_TILE_PREFIX);
		/* the lanes up to the first SL_TILE_PREFIX; all lanes if there is none */
		uint32_t needed = all ^ (all - 1);

		if ((missing & needed) != 0)
			return false;
		*mine += needed >> lane & 1 ? sum[k] : 0;
		if (all != 0)
			return true;
		*end -= 32;
	}
	return false;
}

/* By all lanes of a warp: waits for the sum of all tiles before end. */
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

/* Publishes own, the sum of the items of tile; called by one thread. */
template <typename T>
static __device__ inline void sl_look_back_publish_sum(
	struct sl_look_back<T> state, uint32_t tile, T own)
{
	sl_look_back_publish(state, tile, tile == 0 ? SL_TILE_PREFIX : SL_TILE_AGGREGATE, own);
}

/*
 * By all lanes of a warp, once per tile, after sl_look_back_publish_sum(): returns the sum of all
 * tiles before it.
 */
template <typename T>
static __device__ inline T sl_look_back_finish(struct sl_look_back<T> state, uint32_t tile, T own)
{
	T before = sl_look_back_wait(state, tile);

	if (threadIdx.x % 32 == 0 && tile > 0)
		sl_look_back_publish(state, tile, SL_TILE_PREFIX, (T)(before + own));
	return before;
}

/*
 * sl_look_back_publish_sum() followed by sl_look_back_finish(): the sum of all tiles before tile.
 */
template <typename T>
static __device__ inline T sl_look_back_sum(struct sl_look_back<T> state, uint32_t tile, T own)
{
	if (threadIdx.x % 32 == 0)
		sl_look_back_publish_sum(state, tile, own);
	return sl_look_back_finish(state, tile, own);
}

#endif
