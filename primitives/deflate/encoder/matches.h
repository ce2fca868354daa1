/*
 * encoder/matches.h - candidates for LZ77 matches at a position of a segment, and their costs;
 * shared by host and device.
 *
 * For each position, the last SL_CANDIDATES previous positions with the same hash of three bytes
 * are compared by their first eight bytes. Of those that agree in all eight, the most recent two
 * are extended to their full length. The longest match wins, of equal ones the nearest. It is kept
 * if it costs fewer bits than its bytes as literals, with the literal costs of a code for literals
 * only. Shorter matches and matches at later positions are not compared with it: on a device that
 * took most of the time and saved nothing.
 *
 * Positions count from SL_HISTORY bytes before the segment; of these bytes all or none are present.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_MATCHES_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_MATCHES_H

#include "huffman.h"
#include "streams.h"

enum {
	SL_MATCH_MIN = 3,
	SL_MATCH_MAX = 258,
	SL_SLICE = 128, /* bytes that one thread parses; also the longest match except runs */
	SL_SLICES = SL_SEGMENT / SL_SLICE, /* of a segment, at most */
	SL_CANDIDATES = 10, /* candidates compared per position; with 4, output is 1 % larger */
	SL_CANDIDATES_EXTENDED = 2, /* of these, candidates that are extended beyond eight bytes */
	SL_PREFIX_BYTES = 8,
	SL_HASHED = 3,     /* bytes that are hashed ... */
	SL_HASH_BITS = 12, /* ... to this number of bits */
	SL_PAD = 12,       /* bytes after a segment that are read but not used */
	SL_POSITIONS = SL_HISTORY + SL_SEGMENT, /* history and segment */
	SL_RUN_START_WORDS = SL_POSITIONS / 32, /* one bit per position that starts a run */
	SL_END_OF_BLOCK = 256,                  /* the end-of-block symbol, after all literals */
	SL_LITLEN_SYMBOLS = 286,                /* literals, end of block, lengths */
	SL_DISTANCE_SYMBOLS = 30,
	SL_DISTANCE_MAX = 1 << 15, /* less than SL_POSITIONS */
	SL_LENGTH_SHIFT = 16,      /* match token: length << SL_LENGTH_SHIFT | distance */
	SL_COST_BIT = 16           /* unit of costs: 1 / SL_COST_BIT bit */
};

/* How a segment is encoded: stored, literals and runs only, or literals and matches. */
enum sl_match_mode { SL_MODE_STORED, SL_MODE_RUNS, SL_MODE_MATCHES };

/* floor(log2 x), x > 0. */
SL_HD uint32_t sl_floor_log2(uint32_t x)
{
#ifdef __CUDA_ARCH__
	return 31u - (uint32_t)__clz((int)x);
#else
	return 31u - (uint32_t)__builtin_clz(x);
#endif
}

/* Number of trailing zeros; 32 for x = 0. */
SL_HD uint32_t sl_trailing_zeros(uint32_t x)
{
#ifdef __CUDA_ARCH__
	return (uint32_t)__clz((int)__brev(x));
#else
	return x ? (uint32_t)__builtin_ctz(x) : 32u;
#endif
}

/* log2 x in units of 1 / 256, linear between powers of two; 0 < x < 2^16. */
SL_HD uint32_t sl_log2_256ths(uint32_t x)
{
	uint32_t k = sl_floor_log2(x);

	return 256 * k + (x << (16 - k) & 0xffff) / 256;
}

/* Cost of a literal that occurs count times among n, in 1 / SL_COST_BIT bit; at least one bit. */
SL_HD uint8_t sl_literal_cost(uint32_t count, uint32_t n)
{
	uint32_t cost =
		count ? (sl_log2_256ths(n) - sl_log2_256ths(count)) * SL_COST_BIT / 256 : 255;

	return (uint8_t)(cost < SL_COST_BIT ? (uint32_t)SL_COST_BIT : cost);
}

/* Cost of all count occurrences under an ideal code, in 1 / 256 bit. */
SL_HD uint32_t sl_literal_entropy(uint32_t count, uint32_t n)
{
	return count ? count * (sl_log2_256ths(n) - sl_log2_256ths(count)) : 0;
}

/*
 * True if n bytes with this total cost do not become shorter by Huffman coding, including 96 bytes
 * for the code of all literals. Such segments are stored, unless they have long matches.
 */
SL_HD bool sl_is_incompressible(uint32_t sum, uint32_t n)
{
	return sum / (8 * 256) + 96 >= n;
}

/* --- positions -------------------------------------------------------------------------------- */

/* Four bytes as a little-endian number; data is aligned to 4 bytes. */
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

/*
 * Multiplicative hash of the lowest three bytes. (Knuth, The Art of Computer Programming 3, 6.4:
 * the golden section of 2^32.)
 */
SL_HD uint32_t sl_hash(uint32_t bytes)
{
	return (bytes << 8) * 2654435761u >> (32 - SL_HASH_BITS);
}

/* True if a run of equal bytes starts at this position; begin is the first position that exists. */
SL_HD bool sl_starts_run(const uint8_t *data, uint32_t begin, uint32_t at)
{
	return at == begin || data[at] != data[at - 1];
}

/* End of the positions of a segment that can be hashed; all positions of the history can. */
SL_HD uint32_t sl_hashed_end(uint32_t end)
{
	uint32_t hashed = end - (SL_HASHED - 1);

	return hashed > SL_HISTORY ? hashed : (uint32_t)SL_HISTORY;
}

/* A symbol of a code, with the extra bits that follow it. */
struct sl_symbol {
	uint32_t symbol, extra_bits, extra;
};

/* Length symbol of a match. (The formula replaces the tables of RFC 1951, 3.2.5.) */
SL_HD struct sl_symbol sl_length_symbol(uint32_t length)
{
	uint32_t l = length - SL_MATCH_MIN, bits = l < 8 ? 0 : sl_floor_log2(l) - 2;
	struct sl_symbol s = {
		SL_END_OF_BLOCK + 1 + 4 * bits + (l >> bits), bits, l & ((1u << bits) - 1)};
	struct sl_symbol longest = {SL_LITLEN_SYMBOLS - 1, 0, 0};

	return length == SL_MATCH_MAX ? longest : s;
}

/* Distance symbol of a match. */
SL_HD struct sl_symbol sl_distance_symbol(uint32_t distance)
{
	uint32_t d = distance - 1, bits = d < 4 ? 0 : sl_floor_log2(d) - 1;
	struct sl_symbol s = {2 * bits + (d >> bits), bits, d & ((1u << bits) - 1)};

	return s;
}

/* --- matches ---------------------------------------------------------------------------------- */

/*
 * Number of equal bytes at positions at and position, most at most; the first SL_PREFIX_BYTES are
 * known to be equal.
 */
SL_HD uint32_t sl_match_length(const uint8_t *data, uint32_t at, uint32_t position, uint32_t most)
{
	uint32_t n = SL_PREFIX_BYTES, different = 0;

	for (; n < most && different == 0; n += different ? sl_trailing_zeros(different) / 8 : 4)
		different = sl_bytes_at(data, at + n) ^ sl_bytes_at(data, position + n);
	return n < most ? n : most;
}

/*
 * Number of positions from at on, most at most, that do not start a run: bytes equal to the one
 * before.
 */
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
 * Estimated cost of a match: typical code lengths (5 bits for a run, 10 for a length and a
 * distance) plus the exact extra bits. 5 and 10 gave the smallest columns of particles.
 */
SL_HD uint32_t sl_match_cost(uint32_t length, uint32_t distance)
{
	uint32_t bits = sl_length_symbol(length).extra_bits;

	return SL_COST_BIT *
	       (distance == 1 ? 5 + bits : 10 + bits + sl_distance_symbol(distance).extra_bits);
}

/* Costs of the literals, and their minimum. */
struct sl_costs {
	uint8_t literal[SL_END_OF_BLOCK];
	uint32_t min;
};

/* True if a match is cheaper than its bytes as literals. The minimum cost decides most cases. */
SL_HD bool sl_match_is_cheaper(
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

/* Token of a match; tokens below 256 are literals. */
SL_HD uint32_t sl_match_token(uint32_t length, uint32_t distance)
{
	return length << SL_LENGTH_SHIFT | distance;
}

/* Length of a token's match; 0: a literal. */
SL_HD uint32_t sl_token_length(uint32_t token)
{
	return token >> SL_LENGTH_SHIFT;
}

/* Distance of a token's match. */
SL_HD uint32_t sl_token_distance(uint32_t token)
{
	return token & ((1u << SL_LENGTH_SHIFT) - 1);
}

/* Bytes from at to the end of its slice, in a segment that ends at end. */
SL_HD uint32_t sl_slice_left(uint32_t at, uint32_t end)
{
	uint32_t left = SL_SLICE - (at - SL_HISTORY) % SL_SLICE;

	return left < end - at ? left : end - at;
}

/* True if the token is a match that is cheaper than its bytes as literals. */
SL_HD bool sl_token_is_cheaper(
	const uint8_t *data, uint32_t at, uint32_t token, const struct sl_costs *cost)
{
	uint32_t length = sl_token_length(token);

	return length >= SL_MATCH_MIN &&
	       sl_match_is_cheaper(data + at, length, sl_token_distance(token), cost);
}

/* The first eight bytes at a position. */
struct sl_bytes8 {
	uint32_t low, high;
};

/* Eight bytes at any position; on the device by two aligned loads and a funnel shift each. */
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

/* Number of equal leading bytes. */
SL_HD uint32_t sl_common_prefix(struct sl_bytes8 a, struct sl_bytes8 b)
{
	uint32_t low = a.low ^ b.low, high = a.high ^ b.high;

	return (low ? 0 : 4) + sl_trailing_zeros(low ? low : high) / 8;
}

/*
 * A candidate as one number: equal bytes above its position, so that of two the larger is longer or
 * nearer.
 */
SL_HD uint32_t sl_candidate(uint32_t common, uint32_t position)
{
	return common << SL_LENGTH_SHIFT | position;
}

/*
 * The better of a new candidate and the best one so far; both agree in the first eight bytes. First
 * compares the last bytes that the new one needs to be longer.
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

/* The best candidate as a match token if it is cheaper than literals; 0: a literal. */
SL_HD uint32_t sl_candidate_token(
	const uint8_t *data, uint32_t at, uint32_t most, const struct sl_costs *cost, uint32_t best)
{
	uint32_t length = sl_token_length(best), distance = at - sl_token_distance(best);
	uint32_t token = sl_match_token(length < most ? length : most, distance);

	return distance <= SL_DISTANCE_MAX && sl_token_is_cheaper(data, at, token, cost) ? token
	                                                                                 : 0;
}

/* The run at a position as a match token of distance 1 if it is cheaper than literals; else 0. */
SL_HD uint32_t sl_run_at(const uint8_t *data, const uint32_t *run_starts, uint32_t at,
	uint32_t most, const struct sl_costs *cost)
{
	uint32_t token = sl_match_token(sl_run_length(run_starts, at, most), 1);

	return sl_token_is_cheaper(data, at, token, cost) ? token : 0;
}

#endif
