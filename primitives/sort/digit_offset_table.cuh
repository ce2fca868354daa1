/*
 * sort/book.cuh - the book of a pass: what every tile has of each digit, added up by one block
 * while the others work.
 *
 * A tile writes down how many keys of each digit it has, as soon as it has counted them. The block
 * that came first reads these counts in the order of the tiles, several tiles at a time, adds them
 * up, and writes for each tile where in all its first key of each digit goes. A tile reads that
 * when it has sorted itself: its answer is one word a digit, and mostly there before it asks.
 *
 * In decoupled look-back (base/look_back.cuh) each tile adds up what it needs. With 256 sums a tile
 * that costs a read of the L2 cache, 700 cycles under load, for every tile walked back over, and
 * they were nine on an H200: a quarter of the time of a pass. A book costs one read.
 *
 * Nobody depends on the book. Its block gives up, and sorts tiles like the others, when it has
 * waited too long; a tile that has waited too long walks back by itself, over counts, to one whose
 * place is known. Counts are written before their block waits for anything, and tiles are taken in
 * the order of tickets, so all that a walk meets comes, in whatever order and however few at a time
 * blocks are run.
 *
 * Words are one more than the number that they carry: 0 is none yet. There are two books, used in
 * turns; a tile clears its page of the one that the next pass will use.
 */
#ifndef SL_PRIMITIVES_SORT_DIGIT_OFFSET_TABLE_CUH
#define SL_PRIMITIVES_SORT_DIGIT_OFFSET_TABLE_CUH

#include "digit_histogram.cuh"

enum {
	TILES_PER_STEP =
		16,    /* by the book: in the time of a read some ten tiles come, on an H200 */
	POLLS_MAX = 50 /* reads, of about 0.4 microseconds each, while nothing comes */
};

struct digit_offset_table {
	uint32_t *tile_count;        /* DIGITS a tile */
	uint32_t *tile_offset;       /* DIGITS a tile, right behind */
	uint32_t *next_pass;         /* the same two of the book that is not in use */
	const uint32_t *digit_total; /* keys of each digit in all tiles */
	uint32_t tiles;
};

/* Words of a book of so many tiles. The first one must be 0 before the first pass. */
static inline size_t table_words(uint32_t tiles)
{
	return 2 * (size_t)DIGITS * tiles;
}

static __device__ __forceinline__ uint64_t word_of(uint32_t tile, uint32_t digit)
{
	return (uint64_t)tile * DIGITS + digit;
}

/* Also clears the page of the tile in the other book. */
static __device__ __forceinline__ void write_count(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t count)
{
	sl_store_relaxed(&t.tile_count[word_of(tile, digit)], count + 1);
	t.next_pass[word_of(tile, digit)] = 0;
	t.next_pass[word_of(tile + t.tiles, digit)] = 0;
}

/* 2^32 - 1 is past all keys: of a digit that no tile has from here on. It may as well be less. */
static __device__ __forceinline__ void write_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t place)
{
	sl_store_relaxed(
		&t.tile_offset[word_of(tile, digit)], place == UINT32_MAX ? place : place + 1);
}

/* 0: not known yet. */
static __device__ __forceinline__ uint32_t poll_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit)
{
	return sl_load_relaxed(&t.tile_offset[word_of(tile, digit)]);
}

/* Where the first key of a digit goes; by one thread. */
static __device__ __forceinline__ uint32_t digit_start(
	const struct digit_offset_table &t, uint32_t digit)
{
	uint32_t first = 0;

	for (uint32_t other = 0; other < digit; other++)
		first += t.digit_total[other];
	return first;
}

/* The same, by a warp, whose lanes have digits one after another from a multiple of 32 on. */
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

/* Adds up counts of the tiles before, from the nearest to one whose place is known. */
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

/* Where the tile's first key of that digit goes. asked: what ask_place() gave before. */
static __device__ __forceinline__ uint32_t wait_for_offset(
	const struct digit_offset_table &t, uint32_t tile, uint32_t digit, uint32_t polled)
{
	uint32_t place;

	for (uint32_t reads = 0; polled == 0 && reads < POLLS_MAX; reads++) {
		sl_backoff(20);
		polled = poll_offset(t, tile, digit);
	}
	if (polled > 0)
		return polled - 1;
	place = look_back(t, tile, digit);
	write_offset(t, tile, digit, place);
	return place;
}

/* Words of tiles from .. from + TILES_A_READ - 1 that are 0 are read again. Are all there? */
static __device__ __forceinline__ bool read_counts(const struct digit_offset_table &t,
	uint32_t from, uint32_t digit, uint32_t (&word)[TILES_PER_STEP])
{
	bool all = true;

	SL_UNROLL
	for (uint32_t i = 0; i < TILES_PER_STEP; i++)
		if (word[i] == 0) {
			all = false;
			word[i] = 1; /* behind the last tile: no keys */
			if (from + i < t.tiles)
				word[i] = sl_load_relaxed(&t.tile_count[word_of(from + i, digit)]);
		}
	return all;
}

/*
 * For DIGITS threads of a block, one a digit. The counts of the next tiles are asked for while the
 * places of these are written.
 */
static __device__ __forceinline__ void fill_table(
	const struct digit_offset_table &t, uint32_t digit)
{
	uint32_t word[TILES_PER_STEP] = {}, count[TILES_PER_STEP], place = digit_starts(t, digit);

	for (uint32_t from = 0; from < t.tiles; from += TILES_PER_STEP) {
		for (uint32_t reads = 0; !read_counts(t, from, digit, word); reads++) {
			if (reads == POLLS_MAX)
				return;
			sl_backoff(0);
		}
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_PER_STEP; i++) {
			count[i] = word[i] - 1;
			word[i] = 0;
		}
		read_counts(t, from + TILES_PER_STEP, digit, word);
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_PER_STEP; i++) {
			if (from + i < t.tiles)
				write_offset(t, from + i, digit, place);
			place += count[i];
		}
	}
}

#endif
