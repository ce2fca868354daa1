/*
 * tokens.h - what a segment is said with: literals, and matches with what came before.
 *
 * For each place two hashes, of the next three bytes and of six, give an earlier place where they
 * may stand, the last in an earlier round: rounds of many places are looked up together, then put
 * into the tables together, so that the answer does not depend on who comes first. Slices are then
 * parsed by themselves, greedily; a match is taken when it costs fewer bits than its bytes as
 * literals would, at what literals cost if all were.
 */
#ifndef SL_DEFLATE_TOKENS_H
#define SL_DEFLATE_TOKENS_H

#include "huffman.h"
#include "streams.h"

enum {
	SL_MATCH_LEAST = 3,
	SL_MATCH_MOST = 258,
	SL_SLICE = SL_MATCH_MOST, /* bytes that one thread parses: of a long run one match */
	SL_SLICES = SL_SEGMENT / SL_SLICE + 1, /* of a segment, at most */
	SL_ROUND = 256,                        /* places looked up at a time */
	SL_PROBE = 16 * SL_ROUND, /* bytes from which it is told if looking up is worth it, ... */
	SL_FOUND_BYTES = 4,       /* ... by places that have so many of them before them: */
	SL_FOUND_LEAST = 4,       /* random bytes have fewer */
	SL_SHORT = 3,             /* bytes that have a hash, in a table of 2^13 ... */
	SL_SHORT_BITS = 13,
	SL_LONG = 6, /* ... and, as what is the same for longer is worth more, of 2^12 */
	SL_LONG_BITS = 12,
	SL_END = 256,     /* the symbol behind all literals */
	SL_LENGTHS = 286, /* literals, the end and lengths */
	SL_DISTANCES = 30,
	SL_IS_MATCH = 1 << 15, /* in a token: a length; the next has the distance */
	SL_BIT = 16            /* costs are counted in 16ths of a bit */
};

/* Places that have a certain hash, the last of all, plus 1; 0: none. */
struct sl_places {
	uint32_t of_short[1 << SL_SHORT_BITS], of_long[1 << SL_LONG_BITS];
};

/* The power of two in x, from 0; x is not 0. */
SL_HD uint32_t sl_log2_below(uint32_t x)
{
#ifdef __CUDA_ARCH__
	return 31u - (uint32_t)__clz((int)x);
#else
	return 31u - (uint32_t)__builtin_clz(x);
#endif
}

/* log2 x in 256ths, between powers of two a line; x below 2^16. */
SL_HD uint32_t sl_log2(uint32_t x)
{
	uint32_t k = sl_log2_below(x);

	return 256 * k + (x << (16 - k) & 0xffff) / 256;
}

/* What a literal costs that is there so many times among n; one bit at least. */
SL_HD uint8_t sl_literal_cost(uint32_t count, uint32_t n)
{
	uint32_t cost = count ? (sl_log2(n) - sl_log2(count)) * SL_BIT / 256 : 255;

	return (uint8_t)(cost < SL_BIT ? (uint32_t)SL_BIT : cost);
}

/* What they all take with ideal codes, in 256ths of a bit. */
SL_HD uint32_t sl_literal_sum(uint32_t count, uint32_t n)
{
	return count ? count * (sl_log2(n) - sl_log2(count)) : 0;
}

/*
 * Are n bytes, of that sum, no shorter as codes, the least that a header of all of them takes
 * included? Then they are stored, but for long matches.
 */
SL_HD bool sl_is_dull(uint32_t sum, uint32_t n)
{
	return sum / (8 * 256) + 96 >= n;
}

/* What so many bytes are as a number, the first lowest. */
SL_HD uint32_t sl_bytes_at(const uint8_t *p, uint32_t n)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < n; i++)
		word |= (uint32_t)p[i] << 8 * i;
	return word;
}

/* (Knuth, The art of computer programming 3, 6.4: the golden section of 2^32.) */
SL_HD uint32_t sl_hash_short(const uint8_t *p)
{
	return sl_bytes_at(p, SL_SHORT) * 2654435761u >> (32 - SL_SHORT_BITS);
}

SL_HD uint32_t sl_hash_long(const uint8_t *p)
{
	uint32_t rest = sl_bytes_at(p + SL_SHORT, SL_LONG - SL_SHORT) * 2246822519u;

	return (sl_bytes_at(p, SL_SHORT) + rest) * 2654435761u >> (32 - SL_LONG_BITS);
}

/* Of a run, only the first place is ever found again: so that what follows a run fits as well. */
SL_HD bool sl_is_landmark(const uint8_t *data, uint32_t at)
{
	return at == 0 || data[at] != data[at - 1];
}

/* Places that have a hash: those with so many bytes to the end. */
SL_HD uint32_t sl_hashed_places(uint32_t bytes)
{
	return bytes < SL_LONG ? 0 : bytes - SL_LONG + 1;
}

/* A symbol, and the bits that follow its code. */
struct sl_symbol {
	uint32_t symbol, extra_bits, extra;
};

/* RFC 1951, 3.2.5, whose tables are these steps. */
SL_HD struct sl_symbol sl_length_symbol(uint32_t length)
{
	uint32_t l = length - SL_MATCH_LEAST, bits = l < 8 ? 0 : sl_log2_below(l) - 2;
	struct sl_symbol s = {SL_END + 1 + 4 * bits + (l >> bits), bits, l & ((1u << bits) - 1)};
	struct sl_symbol longest = {SL_LENGTHS - 1, 0, 0};

	return length == SL_MATCH_MOST ? longest : s;
}

SL_HD struct sl_symbol sl_distance_symbol(uint32_t distance)
{
	uint32_t d = distance - 1, bits = d < 4 ? 0 : sl_log2_below(d) - 1;
	struct sl_symbol s = {2 * bits + (d >> bits), bits, d & ((1u << bits) - 1)};

	return s;
}

/* How many bytes at place at, most at most, are those of so far back. */
SL_HD uint32_t sl_match_length(const uint8_t *data, uint32_t at, uint32_t back, uint32_t most)
{
	uint32_t n = 0;

	while (n < most && data[at + n] == data[at + n - back])
		n++;
	return n;
}

/* Do so many bytes at a place, given plus 1, and at at stand the same? No place: no. */
SL_HD bool sl_is_same(const uint8_t *data, uint32_t place, uint32_t at, uint32_t bytes)
{
	return place > 0 && sl_match_length(data, at, at + 1 - place, bytes) == bytes;
}

/* The place before at, plus 1, where the same bytes may stand, many if there are; 0: none. */
SL_HD uint32_t sl_look_up(const struct sl_places *last, const uint8_t *data, uint32_t at)
{
	uint32_t place = last->of_long[sl_hash_long(data + at)];

	return sl_is_same(data, place, at, SL_LONG) ? place
	                                            : last->of_short[sl_hash_short(data + at)];
}

/* How far back a place is; 0: nowhere. */
SL_HD uint16_t sl_distance_to(uint32_t place, uint32_t at)
{
	return (uint16_t)(place > 0 ? at + 1 - place : 0);
}

/*
 * About: what codes of usual lengths and distances take, and the bits behind them. 5 and 10 bits
 * make columns of particles smallest.
 */
SL_HD uint32_t sl_match_cost(uint32_t length, uint32_t distance)
{
	uint32_t bits = sl_length_symbol(length).extra_bits;

	return SL_BIT *
	       (distance == 1 ? 5 + bits : 10 + bits + sl_distance_symbol(distance).extra_bits);
}

/* Is a match cheaper than its bytes? */
SL_HD bool sl_match_pays(
	const uint8_t *data, uint32_t length, uint32_t distance, const uint8_t *cost)
{
	uint32_t most = sl_match_cost(length, distance), sum = 0;

	for (uint32_t i = 0; i < length; i++) {
		sum += cost[data[i]];
		if (sum > most)
			return true;
	}
	return false;
}

struct sl_match {
	uint32_t length, distance; /* length 0: none */
};

/* The better of a run and what the hash has found so far back (0: nothing), if it pays. */
SL_HD struct sl_match sl_match_at(
	const uint8_t *data, uint32_t at, uint32_t back, uint32_t most, const uint8_t *cost)
{
	uint32_t run = at > 0 ? sl_match_length(data, at, 1, most) : 0;
	uint32_t far = back > 0 ? sl_match_length(data, at, back, most) : 0;
	struct sl_match m = {run, 1}, none = {0, 0};

	if (far > run) {
		m.length = far;
		m.distance = back;
	}
	return m.length >= SL_MATCH_LEAST && sl_match_pays(data + at, m.length, m.distance, cost)
	               ? m
	               : none;
}

/*
 * Bytes from .. to - 1 of a segment become tokens, which take the place of what the hash has found
 * for them: a match takes two and has three bytes at least. Gives the end of the tokens.
 */
SL_HD uint32_t sl_parse_slice(
	const uint8_t *data, uint32_t from, uint32_t to, const uint8_t *cost, uint16_t *token)
{
	uint32_t out = from;

	for (uint32_t at = from; at < to;) {
		uint32_t most = to - at < SL_MATCH_MOST ? to - at : (uint32_t)SL_MATCH_MOST;
		struct sl_match m = sl_match_at(data, at, token[at], most, cost);

		if (m.length == 0) {
			token[out++] = data[at++];
			continue;
		}
		token[out++] = (uint16_t)(SL_IS_MATCH | m.length);
		token[out++] = (uint16_t)m.distance;
		at += m.length;
	}
	return out;
}

#endif
