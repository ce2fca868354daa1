/*
 * sort/digit_offset_table.cuh - per-pass table of tile digit offsets: one block prefix-sums the
 * digit counts of all tiles while the other blocks sort.
 *
 * A tile publishes how many keys of each digit it has, as soon as it has counted them. The block
 * with the first ticket reads these counts in tile order, several tiles at a time, adds them up,
 * and writes for each tile the global offset of its first key of each digit. A tile reads its 256
 * offsets after it has sorted itself in shared memory; mostly they are there by then, so the read
 * costs one access to the L2 cache per digit.
 *
 * This replaces the decoupled look-back of Onesweep (kernel/look_back.cuh), where each tile sums
 * its predecessors itself. With 256 sums per tile each step back costs a read of the L2 cache, 700
 * cycles under load. On an H200 a tile needed nine steps, a quarter of the time of a pass.
 *
 * Progress does not depend on the block that fills the table. It stops filling after POLLS_MAX
 * polls without progress and then sorts tiles like the others. A tile that has waited too long
 * looks back by itself over the counts of previous tiles, to the first one whose offset is known.
 * Counts are published before their block waits for anything, and tiles are taken in ticket order,
 * so every count that a look-back needs will be published, whatever the order and number of running
 * blocks.
 *
 * A word holds its number plus one; 0 means not yet written. Words are stored and loaded with
 * relaxed atomics, which suffices because a word carries all its information. Two tables are used
 * in turn: a tile clears its own entries of the table for the next pass.
 *
 * Memory: 2 KiB per tile and table.
 */
#ifndef SL_PRIMITIVES_SORT_DIGIT_OFFSET_TABLE_CUH
#define SL_PRIMITIVES_SORT_DIGIT_OFFSET_TABLE_CUH

#include "digit_histogram.cuh"

enum {
	TILES_PER_STEP = 16, /* tiles per read: about ten publish meanwhile on an H200 */
	POLLS_MAX = 50       /* polls of about 0.4 microseconds each without progress */
};

/* The table of one pass, as its kernel sees it. */
struct digit_offset_table {
	uint32_t *tile_count;        /* DIGITS words per tile: count + 1 */
	uint32_t *tile_offset;       /* DIGITS words per tile, right after: global offset + 1 */
	uint32_t *next_pass;         /* both arrays of the table for the next pass */
	const uint32_t *digit_total; /* keys of each digit in all tiles */
	uint32_t tiles;              /* room; with a count on the device fewer are in use */
};

/* Words of a table for so many tiles. The table of the first pass must be cleared before it. */
static inline size_t table_words(uint32_t tiles)
{
	return 2 * (size_t)DIGITS * tiles;
}

/* Index of a tile's word for a digit, in either array. */
static __device__ __forceinline__ uint64_t word_of(uint32_t tile, uint32_t digit)
{
	return (uint64_t)tile * DIGITS + digit;
}

/* Publishes the count of one digit of a tile, and clears the tile's words for the next pass. */
static __device__ __forceinline__ void write_count(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t count)
{
	sl_store_relaxed(&t.tile_count[word_of(tile, digit)], count + 1);
	t.next_pass[word_of(tile, digit)] = 0;
	t.next_pass[word_of(tile + t.tiles, digit)] = 0;
}

/*
 * An offset of 2^32 - 1 is possible only for a digit without keys from this tile on, so it may be
 * stored as one less.
 */
static __device__ __forceinline__ void write_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t offset)
{
	sl_store_relaxed(
		&t.tile_offset[word_of(tile, digit)], offset == UINT32_MAX ? offset : offset + 1);
}

/* The published word of an offset; 0: not known yet. */
static __device__ __forceinline__ uint32_t poll_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit)
{
	return sl_load_relaxed(&t.tile_offset[word_of(tile, digit)]);
}

/* Global offset of the first key of a digit, by one thread. */
static __device__ __forceinline__ uint32_t digit_start(
	const struct digit_offset_table &t, uint32_t digit)
{
	uint32_t first = 0;

	for (uint32_t other = 0; other < digit; other++)
		first += t.digit_total[other];
	return first;
}

/* Same for 32 digits by a warp, one per lane, starting at a multiple of 32. */
static __device__ __forceinline__ uint32_t digit_starts(
	const struct digit_offset_table &t, uint32_t digit)
{
	uint32_t own = t.digit_total[digit], first = 0;

	for (uint32_t other = lane_index(); other < digit - lane_index(); other += WARP)
		first += t.digit_total[other];
	SL_UNROLL
	for (uint32_t distance = WARP / 2; distance > 0; distance /= 2)
		first += __shfl_xor_sync(SL_LANES, first, distance);
	return first + sum_up_to_lane(own) - own;
}

/*
 * Sums the counts of previous tiles, from the nearest back to the first one whose offset is known.
 */
static __device__ __forceinline__ uint32_t look_back(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit)
{
	uint32_t sum = 0, word;

	for (uint32_t at = tile; at > 0;) {
		at--;
		while ((word = sl_load_relaxed(&t.tile_count[word_of(at, digit)])) == 0)
			sl_backoff(100);
		sum += word - 1;
		word = poll_offset(t, at, digit);
		if (word > 0)
			return word - 1 + sum;
	}
	return digit_start(t, digit) + sum;
}

/*
 * Returns the global offset of the tile's first key of a digit. polled: result of an earlier
 * poll_offset(). Polls POLLS_MAX times, then looks back itself and publishes the result.
 */
static __device__ __forceinline__ uint32_t wait_for_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t polled)
{
	uint32_t offset;

	for (uint32_t reads = 0; polled == 0 && reads < POLLS_MAX; reads++) {
		sl_backoff(20);
		polled = poll_offset(t, tile, digit);
	}
	if (polled > 0)
		return polled - 1;
	offset = look_back(t, tile, digit);
	write_offset(t, tile, digit, offset);
	return offset;
}

/*
 * Reads those counts of tiles from .. from + TILES_PER_STEP - 1 again that are still 0 in word[].
 * Returns true if none was.
 */
static __device__ __forceinline__ bool read_counts(const struct digit_offset_table &t,
	uint32_t tiles, uint32_t from, uint32_t digit, uint32_t (&word)[TILES_PER_STEP])
{
	bool all = true;

	SL_UNROLL
	for (uint32_t i = 0; i < TILES_PER_STEP; i++)
		if (word[i] == 0) {
			all = false;
			word[i] = 1; /* past the last tile: no keys */
			if (from + i < tiles)
				word[i] = sl_load_relaxed(&t.tile_count[word_of(from + i, digit)]);
		}
	return all;
}

/*
 * Fills the table for the tiles in use; for DIGITS threads of a block, one per digit. Reads the
 * counts of the next tiles while it writes the offsets of these. Returns early if no count arrives.
 */
static __device__ __forceinline__ void fill_table(
	const struct digit_offset_table &t, uint32_t tiles, uint32_t digit)
{
	uint32_t word[TILES_PER_STEP] = {}, count[TILES_PER_STEP], offset = digit_starts(t, digit);

	for (uint32_t from = 0; from < tiles; from += TILES_PER_STEP) {
		for (uint32_t reads = 0; !read_counts(t, tiles, from, digit, word); reads++) {
			if (reads == POLLS_MAX)
				return;
			sl_backoff(0);
		}
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_PER_STEP; i++) {
			count[i] = word[i] - 1;
			word[i] = 0;
		}
		read_counts(t, tiles, from + TILES_PER_STEP, digit, word);
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_PER_STEP; i++) {
			if (from + i < tiles)
				write_offset(t, from + i, digit, offset);
			offset += count[i];
		}
	}
}

#endif
