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
#ifndef SL_PRIMITIVES_SORT_BOOK_CUH
#define SL_PRIMITIVES_SORT_BOOK_CUH

#include "digits.cuh"

enum {
	TILES_A_READ = 16, /* by the book: in the time of a read some ten tiles come, on an H200 */
	PATIENCE = 50      /* reads, of about 0.4 microseconds each, while nothing comes */
};

struct book {
	uint32_t *counted;   /* DIGITS a tile */
	uint32_t *placed;    /* DIGITS a tile, right behind */
	uint32_t *next;      /* the same two of the book that is not in use */
	const uint32_t *all; /* keys of each digit in all tiles */
	uint32_t tiles;
};

/* Words of a book of so many tiles. The first one must be 0 before the first pass. */
static inline size_t book_words(uint32_t tiles)
{
	return 2 * (size_t)DIGITS * tiles;
}

static __device__ __forceinline__ uint64_t word_of(uint32_t tile, uint32_t digit)
{
	return (uint64_t)tile * DIGITS + digit;
}

/* Also clears the page of the tile in the other book. */
static __device__ __forceinline__ void write_count(
	const struct book &b, uint32_t tile, uint32_t digit, uint32_t count)
{
	sl_store_relaxed(&b.counted[word_of(tile, digit)], count + 1);
	b.next[word_of(tile, digit)] = 0;
	b.next[word_of(tile + b.tiles, digit)] = 0;
}

/* 2^32 - 1 is past all keys: of a digit that no tile has from here on. It may as well be less. */
static __device__ __forceinline__ void write_place(
	const struct book &b, uint32_t tile, uint32_t digit, uint32_t place)
{
	sl_store_relaxed(&b.placed[word_of(tile, digit)], place == UINT32_MAX ? place : place + 1);
}

/* 0: not known yet. */
static __device__ __forceinline__ uint32_t ask_place(
	const struct book &b, uint32_t tile, uint32_t digit)
{
	return sl_load_relaxed(&b.placed[word_of(tile, digit)]);
}

/* Where the first key of a digit goes; by one thread. */
static __device__ __forceinline__ uint32_t first_of(const struct book &b, uint32_t digit)
{
	uint32_t first = 0;

	for (uint32_t other = 0; other < digit; other++)
		first += b.all[other];
	return first;
}

/* The same, by a warp, whose lanes have digits one after another from a multiple of 32 on. */
static __device__ __forceinline__ uint32_t first_of_each(const struct book &b, uint32_t digit)
{
	uint32_t own = b.all[digit], first = 0;

	for (uint32_t other = lane_number(); other < digit - lane_number(); other += WARP)
		first += b.all[other];
	SL_UNROLL
	for (uint32_t distance = WARP / 2; distance > 0; distance /= 2)
		first += __shfl_xor_sync(SL_LANES, first, distance);
	return first + sum_up_to_lane(own) - own;
}

/* Adds up counts of the tiles before, from the nearest to one whose place is known. */
static __device__ __forceinline__ uint32_t walk_back(
	const struct book &b, uint32_t tile, uint32_t digit)
{
	uint32_t sum = 0, word;

	for (uint32_t at = tile; at > 0;) {
		at--;
		while ((word = sl_load_relaxed(&b.counted[word_of(at, digit)])) == 0)
			sl_backoff(100);
		sum += word - 1;
		word = ask_place(b, at, digit);
		if (word > 0)
			return word - 1 + sum;
	}
	return first_of(b, digit) + sum;
}

/* Where the tile's first key of that digit goes. asked: what ask_place() gave before. */
static __device__ __forceinline__ uint32_t wait_place(
	const struct book &b, uint32_t tile, uint32_t digit, uint32_t asked)
{
	uint32_t place;

	for (uint32_t reads = 0; asked == 0 && reads < PATIENCE; reads++) {
		sl_backoff(20);
		asked = ask_place(b, tile, digit);
	}
	if (asked > 0)
		return asked - 1;
	place = walk_back(b, tile, digit);
	write_place(b, tile, digit, place);
	return place;
}

/* Words of tiles from .. from + TILES_A_READ - 1 that are 0 are read again. Are all there? */
static __device__ __forceinline__ bool read_counts(
	const struct book &b, uint32_t from, uint32_t digit, uint32_t (&word)[TILES_A_READ])
{
	bool all = true;

	SL_UNROLL
	for (uint32_t i = 0; i < TILES_A_READ; i++)
		if (word[i] == 0) {
			all = false;
			word[i] = 1; /* behind the last tile: no keys */
			if (from + i < b.tiles)
				word[i] = sl_load_relaxed(&b.counted[word_of(from + i, digit)]);
		}
	return all;
}

/*
 * For DIGITS threads of a block, one a digit. The counts of the next tiles are asked for while the
 * places of these are written.
 */
static __device__ __forceinline__ void keep_book(const struct book &b, uint32_t digit)
{
	uint32_t word[TILES_A_READ] = {}, count[TILES_A_READ], place = first_of_each(b, digit);

	for (uint32_t from = 0; from < b.tiles; from += TILES_A_READ) {
		for (uint32_t reads = 0; !read_counts(b, from, digit, word); reads++) {
			if (reads == PATIENCE)
				return;
			sl_backoff(0);
		}
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_A_READ; i++) {
			count[i] = word[i] - 1;
			word[i] = 0;
		}
		read_counts(b, from + TILES_A_READ, digit, word);
		SL_UNROLL
		for (uint32_t i = 0; i < TILES_A_READ; i++) {
			if (from + i < b.tiles)
				write_place(b, from + i, digit, place);
			place += count[i];
		}
	}
}

#endif
