/*
 * block.h - a segment as one block of DEFLATE: its codes, its header, its bits.
 *
 * A block begins and ends with a whole byte, so that blocks are joined by putting one behind the
 * other: one of codes, unless it is the last, is followed by empty ones. Those of fixed codes have
 * 10 bits, so up to three of them fill up any even number of bits; behind an odd one is an empty
 * stored block, as by a sync flush, of 35 to 42. (RFC 1951, 3.2; pigz does so.)
 */
#ifndef SL_PRIMITIVES_DEFLATE_BLOCK_H
#define SL_PRIMITIVES_DEFLATE_BLOCK_H

#include "tokens.h"

enum {
	SL_CODE_LENGTH_SYMBOLS = 19,     /* the alphabet that lengths of codes are written in */
	SL_CODE_LENGTH_MAX = 7,          /* bits of a code of it */
	SL_BLOCK_WORDS = SL_SEGMENT / 4, /* a block of codes has no more bytes than the segment */
	SL_EMPTY_BLOCK = 2,              /* an empty block of fixed codes, ... */
	SL_EMPTY_BLOCK_BITS = 10         /* ... of 3 bits and the end of 7 */
};

struct sl_block {
	/* Literals, the end and lengths; then distances. */
	uint32_t count[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint8_t length[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint16_t code[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	struct sl_costs cost;
	/* The header: how many lengths there are, and these as symbols, what follows one above it.
	 */
	uint32_t n_lengths, n_distances, n_code_lengths, n_symbols;
	uint16_t symbol[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint32_t length_count[SL_CODE_LENGTH_SYMBOLS];
	uint8_t length_length[SL_CODE_LENGTH_SYMBOLS];
	uint16_t length_code[SL_CODE_LENGTH_SYMBOLS];
};

/* --- bits ------------------------------------------------------------------------------------- */

/* Bits on their way to words, which are 0 at first and may be shared with others' bits. */
struct sl_bit_writer {
	uint32_t *word;
	uint64_t held;
	uint32_t n; /* bits held, fewer than 32 */
};

SL_HD void sl_bits_or(uint32_t *word, uint32_t value)
{
#if defined(__CUDA_ARCH__) || defined(SL_EMULATED)
	atomicOr(word, value);
#else
	*word |= value;
#endif
}

SL_HD struct sl_bit_writer sl_bit_writer_at(uint32_t *word, uint32_t bit)
{
	struct sl_bit_writer b = {word + bit / 32, 0, bit % 32};

	return b;
}

/* Up to 32 of them, of which value has no more. */
SL_HD void sl_bit_writer_put(struct sl_bit_writer *b, uint32_t value, uint32_t bits)
{
	b->held |= (uint64_t)value << b->n;
	b->n += bits;
	if (b->n < 32)
		return;
	sl_bits_or(b->word++, (uint32_t)b->held);
	b->held >>= 32;
	b->n -= 32;
}

SL_HD void sl_bit_writer_flush(const struct sl_bit_writer *b)
{
	if (b->n > 0)
		sl_bits_or(b->word, (uint32_t)b->held);
}

/* --- the header ------------------------------------------------------------------------------- */

/* Bits behind a symbol of the header: a repetition's count. */
SL_HD uint32_t sl_repeat_bits(uint32_t symbol)
{
	return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

SL_HD void sl_block_header_add(struct sl_block *b, uint32_t at, uint32_t symbol, uint32_t extra)
{
	sl_counter_add(&b->length_count[symbol], 1);
	b->symbol[at] = (uint16_t)(symbol | extra << 8);
}

/* n lengths that are alike, as symbols from at on: as they are, or as repetitions. Gives the place
 * behind. */
SL_HD uint32_t sl_block_header_repeat(struct sl_block *b, uint32_t at, uint32_t length, uint32_t n)
{
	if (length > 0) {
		sl_block_header_add(b, at++, length, 0);
		n--;
	}
	while (n >= 3) {
		uint32_t most = length > 0 ? 6 : 138, part = n < most ? n : most;

		if (length > 0)
			sl_block_header_add(b, at++, 16, part - 3);
		else if (part <= 10)
			sl_block_header_add(b, at++, 17, part - 3);
		else
			sl_block_header_add(b, at++, 18, part - 11);
		n -= part;
	}
	for (; n > 0; n--)
		sl_block_header_add(b, at++, length, 0);
	return at;
}

/* How many symbols that makes. */
SL_HD uint32_t sl_repeat_symbols(uint32_t length, uint32_t n)
{
	uint32_t first = length > 0, most = length > 0 ? 6 : 138, rest = (n - first) % most;

	return first + (n - first) / most + (rest < 3 ? rest : 1);
}

/* Lengths used in an alphabet of n: those behind are 0. */
SL_HD uint32_t sl_lengths_used(const uint8_t *length, uint32_t n)
{
	while (length[n - 1] == 0)
		n--;
	return n;
}

/* In the order in which the header has them: 16, 17, 18, 0, 8, 7, 9, 6, ... 1, 15. A table would be
 * in memory of its own for each thread. */
SL_HD uint32_t sl_code_length_at(uint32_t i)
{
	if (i < 4)
		return i == 3 ? 0 : 16 + i;
	return i % 2 == 0 ? 6 + i / 2 : 9 - i / 2;
}

/* The i-th length that it lists: of literals and lengths, then of distances. */
SL_HD uint32_t sl_block_header_length(const struct sl_block *b, uint32_t i)
{
	return b->length[i < b->n_lengths ? i : i + SL_LITLEN_SYMBOLS - b->n_lengths];
}

/* From the lengths of both alphabets: the symbols, and how often each is there. */
SL_HD void sl_block_header_make(struct sl_block *b)
{
	uint32_t n, same;

	b->n_symbols = 0;
	for (uint32_t s = 0; s < SL_CODE_LENGTH_SYMBOLS; s++)
		b->length_count[s] = 0;
	b->n_lengths = sl_lengths_used(b->length, SL_LITLEN_SYMBOLS);
	b->n_distances = sl_lengths_used(b->length + SL_LITLEN_SYMBOLS, SL_DISTANCE_SYMBOLS);
	n = b->n_lengths + b->n_distances;
	for (uint32_t i = 0; i < n; i += same) {
		uint32_t length = sl_block_header_length(b, i);

		same = 1;
		while (i + same < n && sl_block_header_length(b, i + same) == length)
			same++;
		b->n_symbols = sl_block_header_repeat(b, b->n_symbols, length, same);
	}
}

/* How many lengths of codes for symbols the header has, by these lengths. */
SL_HD uint32_t sl_code_lengths_used(const struct sl_block *b)
{
	uint32_t n = SL_CODE_LENGTH_SYMBOLS;

	while (b->length_length[sl_code_length_at(n - 1)] == 0)
		n--;
	return n;
}

SL_HD uint32_t sl_block_header_bits(const struct sl_block *b)
{
	uint32_t bits = 3 + 5 + 5 + 4 + 3 * b->n_code_lengths;

	for (uint32_t s = 0; s < SL_CODE_LENGTH_SYMBOLS; s++)
		bits += b->length_count[s] * (b->length_length[s] + sl_repeat_bits(s));
	return bits;
}

SL_HD void sl_block_header_write(const struct sl_block *b, bool last, uint32_t *word)
{
	struct sl_bit_writer to = sl_bit_writer_at(word, 0);

	sl_bit_writer_put(&to, (last ? 1u : 0u) | 2u << 1, 3);
	sl_bit_writer_put(&to, b->n_lengths - 257, 5);
	sl_bit_writer_put(&to, b->n_distances - 1, 5);
	sl_bit_writer_put(&to, b->n_code_lengths - 4, 4);
	for (uint32_t i = 0; i < b->n_code_lengths; i++)
		sl_bit_writer_put(&to, b->length_length[sl_code_length_at(i)], 3);
	for (uint32_t i = 0; i < b->n_symbols; i++) {
		uint32_t symbol = b->symbol[i] & 0xffu;

		sl_bit_writer_put(&to, b->length_code[symbol], b->length_length[symbol]);
		sl_bit_writer_put(&to, b->symbol[i] >> 8, sl_repeat_bits(symbol));
	}
	sl_bit_writer_flush(&to);
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Their bits. */
SL_HD uint32_t sl_tokens_bits(const struct sl_block *b, const struct sl_tokens *tokens)
{
	uint32_t bits = 0, token[SL_LOADS_IN_FLIGHT];

	for (uint32_t i = 0; i < tokens->n; i += SL_LOADS_IN_FLIGHT) {
		sl_tokens_load(tokens->first, tokens->step, i, tokens->n, token);
		for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT && i + k < tokens->n; k++) {
			uint32_t t = token[k], length = sl_token_length(t);

			if (length > 0) {
				struct sl_symbol l = sl_length_symbol(length);
				struct sl_symbol d = sl_distance_symbol(sl_token_distance(t));

				bits += b->length[l.symbol] + l.extra_bits + d.extra_bits;
				t = SL_LITLEN_SYMBOLS + d.symbol;
			}
			bits += b->length[t];
		}
	}
	return bits;
}

/* A symbol of both alphabets, and the bits behind it. */
SL_HD void sl_symbol_put(struct sl_bit_writer *to, const struct sl_block *b, struct sl_symbol s)
{
	uint32_t bits = b->length[s.symbol];

	sl_bit_writer_put(to, b->code[s.symbol] | s.extra << bits, bits + s.extra_bits);
}

SL_HD void sl_token_put(struct sl_bit_writer *to, const struct sl_block *b, uint32_t token)
{
	uint32_t length = sl_token_length(token);
	struct sl_symbol s = {token, 0, 0};

	if (length > 0) {
		sl_symbol_put(to, b, sl_length_symbol(length));
		s = sl_distance_symbol(sl_token_distance(token));
		s.symbol += SL_LITLEN_SYMBOLS;
	}
	sl_symbol_put(to, b, s);
}

SL_HD void sl_tokens_write(
	const struct sl_block *b, const struct sl_tokens *tokens, uint32_t *word, uint32_t bit)
{
	struct sl_bit_writer to = sl_bit_writer_at(word, bit);
	uint32_t token[SL_LOADS_IN_FLIGHT];

	for (uint32_t i = 0; i < tokens->n; i += SL_LOADS_IN_FLIGHT) {
		sl_tokens_load(tokens->first, tokens->step, i, tokens->n, token);
		for (uint32_t k = 0; k < SL_LOADS_IN_FLIGHT && i + k < tokens->n; k++)
			sl_token_put(&to, b, token[k]);
	}
	sl_bit_writer_flush(&to);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Empty blocks of fixed codes that make a whole byte of an even number of bits. */
SL_HD uint32_t sl_empty_blocks(uint32_t bits)
{
	return (8 - bits % 8) % 8 / 2;
}

/* Bytes of a block of codes: header and tokens have so many bits; then the end of the block. */
SL_HD uint32_t sl_block_bytes(const struct sl_block *b, bool last, uint32_t bits)
{
	bits += b->length[SL_END_OF_BLOCK];
	if (last)
		return (bits + 7) / 8;
	return bits % 2 ? (bits + 3 + 7) / 8 + 4
	                : (bits + SL_EMPTY_BLOCK_BITS * sl_empty_blocks(bits)) / 8;
}

/* The end of the block behind so many bits, and the empty ones if it is not the last. */
SL_HD void sl_block_end(const struct sl_block *b, bool last, uint32_t *word, uint32_t bits)
{
	struct sl_bit_writer to = sl_bit_writer_at(word, bits);
	uint32_t end = bits + b->length[SL_END_OF_BLOCK];

	sl_bit_writer_put(&to, b->code[SL_END_OF_BLOCK], b->length[SL_END_OF_BLOCK]);
	for (uint32_t k = 0; !last && end % 2 == 0 && k < sl_empty_blocks(end); k++)
		sl_bit_writer_put(&to, SL_EMPTY_BLOCK, SL_EMPTY_BLOCK_BITS);
	sl_bit_writer_flush(&to);
	if (last || end % 2 == 0)
		return;
	to = sl_bit_writer_at(word, 8 * (sl_block_bytes(b, last, bits) - 2));
	sl_bit_writer_put(&to, 0xffff, 16);
	sl_bit_writer_flush(&to);
}

#endif
