/*
 * matches.h - what may be said at a place of a segment: a match with what came before, or a run.
 *
 * The last places that have the same hash of three bytes before a place are tried for it, by the
 * eight bytes at each; of those that have all of these the last two are measured to the end. The
 * longest match, of these the nearest, is kept if it costs fewer bits than its bytes as literals
 * would, at what literals cost if all were: what each try that is lost would have paid is not
 * asked, as on a device this took most of the time and gained nothing.
 *
 * Places are counted from SL_HISTORY bytes before the segment, of which all or none are there.
 */
#ifndef SL_PRIMITIVES_DEFLATE_MATCHES_H
#define SL_PRIMITIVES_DEFLATE_MATCHES_H

#include "huffman.h"
#include "streams.h"

enum {
	SL_MATCH_MIN = 3,
	SL_MATCH_MAX = 258,
	SL_SLICE = 128, /* bytes that one thread parses, and the longest match but runs */
	SL_SLICES = SL_SEGMENT / SL_SLICE, /* of a segment, at most */
	SL_CANDIDATES = 10,                /* places that are tried for one: 4 cost 1 in 100 */
	SL_CANDIDATES_EXTENDED = 2,        /* of these, that have eight bytes */
	SL_PREFIX_BYTES = 8,
	SL_HASHED = 3,     /* bytes that have a hash, ... */
	SL_HASH_BITS = 12, /* ... of so many bits */
	SL_PAD = 12,       /* bytes behind a segment that are read, but not used */
	SL_POSITIONS = SL_HISTORY + SL_SEGMENT, /* of history and segment */
	SL_RUN_START_WORDS = SL_POSITIONS / 32, /* a bit for each place that begins a run */
	SL_END_OF_BLOCK = 256,                  /* the symbol behind all literals */
	SL_LITLEN_SYMBOLS = 286,                /* literals, the end and lengths */
	SL_DISTANCE_SYMBOLS = 30,
	SL_DISTANCE_MAX = 1 << 15, /* less than SL_PLACES */
	SL_LENGTH_SHIFT = 16,      /* of a match, as a token: its length above its distance */
	SL_COST_BIT = 16           /* costs are counted in 16ths of a bit */
};

/* How a segment is said. */
enum sl_match_mode { SL_MODE_STORED, SL_MODE_RUNS, SL_MODE_MATCHES };

/* The power of two in x, from 0; x is not 0. */
SL_HD uint32_t sl_floor_log2(uint32_t x)
{
#ifdef __CUDA_ARCH__
	return 31u - (uint32_t)__clz((int)x);
#else
	return 31u - (uint32_t)__builtin_clz(x);
#endif
}

/* Zeros below the lowest 1 of x; of 0 all 32. */
SL_HD uint32_t sl_trailing_zeros(uint32_t x)
{
#ifdef __CUDA_ARCH__
	return (uint32_t)__clz((int)__brev(x));
#else
	return x ? (uint32_t)__builtin_ctz(x) : 32u;
#endif
}

/* log2 x in 256ths, between powers of two a line; x below 2^16. */
SL_HD uint32_t sl_log2_256ths(uint32_t x)
{
	uint32_t k = sl_floor_log2(x);

	return 256 * k + (x << (16 - k) & 0xffff) / 256;
}

/* What a literal costs that is there so many times among n; one bit at least. */
SL_HD uint8_t sl_literal_cost(uint32_t count, uint32_t n)
{
	uint32_t cost =
		count ? (sl_log2_256ths(n) - sl_log2_256ths(count)) * SL_COST_BIT / 256 : 255;

	return (uint8_t)(cost < SL_COST_BIT ? (uint32_t)SL_COST_BIT : cost);
}

/* What they all take with ideal codes, in 256ths of a bit. */
SL_HD uint32_t sl_literal_entropy(uint32_t count, uint32_t n)
{
	return count ? count * (sl_log2_256ths(n) - sl_log2_256ths(count)) : 0;
}

/*
 * Are n bytes, of that sum, no shorter as codes, the least that a header of all of them takes
 * included? Then they are stored, but for long matches.
 */
SL_HD bool sl_is_incompressible(uint32_t sum, uint32_t n)
{
	return sum / (8 * 256) + 96 >= n;
}

/* --- places ----------------------------------------------------------------------------------- */

/* Four bytes as a number, the first lowest; data is at a multiple of 4. */
SL_HD uint32_t sl_bytes_at(const uint8_t *data, uint32_t at)
{
#ifdef __CUDA_ARCH__
	const uint32_t *word = (const uint32_t *)data + at / 4;

	return __funnelshift_r(word[0], word[1], 8 * (at % 4));
#else
	data += at;
	return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
#endif
}

/* The hash of the lowest three bytes. (Knuth, The art of computer programming 3, 6.4: the golden
 * section of 2^32.) */
SL_HD uint32_t sl_hash(uint32_t bytes)
{
	return (bytes << 8) * 2654435761u >> (32 - SL_HASH_BITS);
}

/* Does a run begin here? The first place of all is begin. */
SL_HD bool sl_starts_run(const uint8_t *data, uint32_t begin, uint32_t at)
{
	return at == begin || data[at] != data[at - 1];
}

/* The end of those places of a segment up to end that have a hash: all of the history have. */
SL_HD uint32_t sl_hashed_end(uint32_t end)
{
	uint32_t hashed = end - (SL_HASHED - 1);

	return hashed > SL_HISTORY ? hashed : (uint32_t)SL_HISTORY;
}

/* A symbol, and the bits that follow its code. */
struct sl_symbol {
	uint32_t symbol, extra_bits, extra;
};

/* RFC 1951, 3.2.5, whose tables are these steps. */
SL_HD struct sl_symbol sl_length_symbol(uint32_t length)
{
	uint32_t l = length - SL_MATCH_MIN, bits = l < 8 ? 0 : sl_floor_log2(l) - 2;
	struct sl_symbol s = {
		SL_END_OF_BLOCK + 1 + 4 * bits + (l >> bits), bits, l & ((1u << bits) - 1)};
	struct sl_symbol longest = {SL_LITLEN_SYMBOLS - 1, 0, 0};

	return length == SL_MATCH_MAX ? longest : s;
}

SL_HD struct sl_symbol sl_distance_symbol(uint32_t distance)
{
	uint32_t d = distance - 1, bits = d < 4 ? 0 : sl_floor_log2(d) - 1;
	struct sl_symbol s = {2 * bits + (d >> bits), bits, d & ((1u << bits) - 1)};

	return s;
}

/* --- matches ---------------------------------------------------------------------------------- */

/* How many bytes at at, most at most, are those of an earlier place, the first SL_EIGHT known. */
SL_HD uint32_t sl_match_length(const uint8_t *data, uint32_t at, uint32_t position, uint32_t most)
{
	uint32_t n = SL_PREFIX_BYTES, unlike = 0;

	for (; n < most && unlike == 0; n += unlike ? sl_trailing_zeros(unlike) / 8 : 4)
		unlike = sl_bytes_at(data, at + n) ^ sl_bytes_at(data, position + n);
	return n < most ? n : most;
}

/* How many places from at on, most at most, begin no run: their bytes are the one before. */
SL_HD uint32_t sl_run_length(const uint32_t *run_starts, uint32_t at, uint32_t most)
{
	uint32_t n = 0;

	while (n < most) {
		uint32_t word = run_starts[(at + n) / 32] >> (at + n) % 32;

		if (word) {
			n += sl_trailing_zeros(word);
			break;
		}
		n += 32 - (at + n) % 32;
	}
	return n < most ? n : most;
}

/*
 * About: what codes of usual lengths and distances take, and the bits behind them. 5 and 10 bits
 * make columns of particles smallest.
 */
SL_HD uint32_t sl_match_cost(uint32_t length, uint32_t distance)
{
	uint32_t bits = sl_length_symbol(length).extra_bits;

	return SL_COST_BIT *
	       (distance == 1 ? 5 + bits : 10 + bits + sl_distance_symbol(distance).extra_bits);
}

/* What literals cost, and the least of these. */
struct sl_costs {
	uint8_t literal[SL_END_OF_BLOCK];
	uint32_t min;
};

/* Is a match cheaper than its bytes? For most the least is enough to know. */
SL_HD bool sl_match_pays(
	const uint8_t *data, uint32_t length, uint32_t distance, const struct sl_costs *cost)
{
	uint32_t most = sl_match_cost(length, distance), sum = 0;

	if (length * cost->min > most)
		return true;
	for (uint32_t i = 0; i < length; i++) {
		sum += cost->literal[data[i]];
		if (sum > most)
			return true;
	}
	return false;
}

/* A match as a token, which no literal is. */
SL_HD uint32_t sl_match_token(uint32_t length, uint32_t distance)
{
	return length << SL_LENGTH_SHIFT | distance;
}

/* 0: a literal. */
SL_HD uint32_t sl_token_length(uint32_t token)
{
	return token >> SL_LENGTH_SHIFT;
}

SL_HD uint32_t sl_token_distance(uint32_t token)
{
	return token & ((1u << SL_LENGTH_SHIFT) - 1);
}

/* Bytes from at to the end of its slice, of a segment up to end. */
SL_HD uint32_t sl_slice_left(uint32_t at, uint32_t end)
{
	uint32_t left = SL_SLICE - (at - SL_HISTORY) % SL_SLICE;

	return left < end - at ? left : end - at;
}

/* Does it pay? */
SL_HD bool sl_token_pays(
	const uint8_t *data, uint32_t at, uint32_t token, const struct sl_costs *cost)
{
	uint32_t length = sl_token_length(token);

	return length >= SL_MATCH_MIN &&
	       sl_match_pays(data + at, length, sl_token_distance(token), cost);
}

/* Eight bytes. */
struct sl_bytes8 {
	uint32_t low, high;
};

SL_HD struct sl_bytes8 sl_bytes8_at(const uint8_t *data, uint32_t at)
{
#ifdef __CUDA_ARCH__
	const uint32_t *word = (const uint32_t *)data + at / 4;
	struct sl_bytes8 e = {__funnelshift_r(word[0], word[1], 8 * (at % 4)),
		__funnelshift_r(word[1], word[2], 8 * (at % 4))};
#else
	struct sl_bytes8 e = {sl_bytes_at(data, at), sl_bytes_at(data, at + 4)};
#endif

	return e;
}

/* How many of them are alike, from the first on. */
SL_HD uint32_t sl_common_prefix(struct sl_bytes8 a, struct sl_bytes8 b)
{
	uint32_t low = a.low ^ b.low, high = a.high ^ b.high;

	return (low ? 0 : 4) + sl_trailing_zeros(low ? low : high) / 8;
}

/* An earlier place and how many bytes are alike: of two the larger is better, as it is longer, or
 * nearer. */
SL_HD uint32_t sl_candidate(uint32_t common, uint32_t position)
{
	return common << SL_LENGTH_SHIFT | position;
}

/*
 * The better of two places that have the same eight bytes, of which one is measured. The last bytes
 * that the other has to have more are asked first.
 */
SL_HD uint32_t sl_candidate_extend(
	const uint8_t *data, uint32_t at, uint32_t position, uint32_t most, uint32_t best)
{
	uint32_t length = sl_token_length(best), last = length - 3;

	if (length >= most || sl_bytes_at(data, at + last) != sl_bytes_at(data, position + last))
		return best;
	last = sl_match_length(data, at, position, most);
	return last > length ? sl_candidate(last, position) : best;
}

/* The best try as a token, if it pays; 0: a literal. */
SL_HD uint32_t sl_candidate_token(
	const uint8_t *data, uint32_t at, uint32_t most, const struct sl_costs *cost, uint32_t best)
{
	uint32_t length = sl_token_length(best), distance = at - sl_token_distance(best);
	uint32_t token = sl_match_token(length < most ? length : most, distance);

	return distance <= SL_DISTANCE_MAX && sl_token_pays(data, at, token, cost) ? token : 0;
}

/* The run at a place, if it pays; 0: a literal. */
SL_HD uint32_t sl_run_at(const uint8_t *data, const uint32_t *run_starts, uint32_t at,
	uint32_t most, const struct sl_costs *cost)
{
	uint32_t token = sl_match_token(sl_run_length(run_starts, at, most), 1);

	return sl_token_pays(data, at, token, cost) ? token : 0;
}

#endif
