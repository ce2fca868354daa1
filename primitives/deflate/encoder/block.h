/*
 * encoder/block.h - writes one segment as one DEFLATE block: its codes, its header, its tokens;
 * shared by host and device.
 *
 * A block starts and ends at a byte boundary, so blocks of different segments can be concatenated.
 * A block with dynamic codes that is not the last one is therefore padded with empty blocks. An
 * empty block of fixed codes has 10 bits, so up to three of them pad any even number of bits; after
 * an odd number an empty stored block (35 to 42 bits) follows, as after a sync flush of zlib. (RFC
 * 1951, 3.2; pigz pads in the same way.)
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_BLOCK_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_BLOCK_H

#include "tokens.h"

enum {
	SL_CODE_LENGTH_SYMBOLS = 19,     /* alphabet in which code lengths are transmitted */
	SL_CODE_LENGTH_MAX = 7,          /* longest code of that alphabet */
	SL_BLOCK_WORDS = SL_SEGMENT / 4, /* a coded block is never longer than its segment */
	SL_EMPTY_BLOCK = 2,              /* the bits of an empty block of fixed codes */
	SL_EMPTY_BLOCK_BITS = 10         /* 3 bits of header, 7 of end-of-block */
};

/* Everything about a block but its tokens. */
struct sl_deflate_block {
	/* Both alphabets: literals, end of block and lengths; then distances. */
	uint32_t count[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint8_t length[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint16_t code[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	struct sl_costs cost;
	/*
	 * The header: numbers of code lengths, and the lengths as run-length coded symbols, with
	 * the repeat count above bit 8.
	 */
	uint32_t n_lengths, n_distances, n_code_lengths, n_symbols;
	uint16_t symbol[SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS];
	uint32_t length_count[SL_CODE_LENGTH_SYMBOLS];
	uint8_t length_length[SL_CODE_LENGTH_SYMBOLS];
	uint16_t length_code[SL_CODE_LENGTH_SYMBOLS];
};

/* --- bits ------------------------------------------------------------------------------------- */

/*
 * Appends bits to words, which must be 0 before; the first and last word may be shared with the
 * bits of other writers.
 */
struct sl_bit_writer {
	uint32_t *word;
	uint64_t held;
	uint32_t n; /* bits in held that are not stored yet, fewer than 32 */
};

/* Stores bits into a word that other threads may write at the same time. */
SL_HD void sl_bits_or(uint32_t *word, uint32_t value)
{
#if defined(__CUDA_ARCH__) || defined(SL_EMULATED)
	atomicOr(word, value);
#else
	*word |= value;
#endif
}

/* A writer that starts at a bit position. */
SL_HD struct sl_bit_writer sl_bit_writer_at(uint32_t *word, uint32_t bit)
{
	struct sl_bit_writer b = {word + bit / 32, 0, bit % 32};

	return b;
}

/* Appends the lowest bits of value, at most 32; the bits above must be 0. */
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

/* Stores the remaining bits. */
SL_HD void sl_bit_writer_flush(const struct sl_bit_writer *b)
{
	if (b->n > 0)
		sl_bits_or(b->word, (uint32_t)b->held);
}

/* --- header ----------------------------------------------------------------------------------- */

/* Extra bits of a code length symbol: its repeat count. */
SL_HD uint32_t sl_repeat_bits(uint32_t symbol)
{
	return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

/* Appends one symbol to the header and counts it. */
SL_HD void sl_block_header_add(
	struct sl_deflate_block *b, uint32_t at, uint32_t symbol, uint32_t extra)
{
	sl_counter_add(&b->length_count[symbol], 1);
	b->symbol[at] = (uint16_t)(symbol | extra << 8);
}

/*
 * Writes n equal code lengths as symbols from index at on, single or as repeats; returns the index
 * after them.
 */
SL_HD uint32_t sl_block_header_repeat(
	struct sl_deflate_block *b, uint32_t at, uint32_t length, uint32_t n)
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

/* Number of symbols that sl_block_header_repeat() writes. */
SL_HD uint32_t sl_repeat_symbols(uint32_t length, uint32_t n)
{
	uint32_t first = length > 0, most = length > 0 ? 6 : 138, rest = (n - first) % most;

	return first + (n - first) / most + (rest < 3 ? rest : 1);
}

/* Number of code lengths up to the last that is not 0. */
SL_HD uint32_t sl_lengths_used(const uint8_t *length, uint32_t n)
{
	while (length[n - 1] == 0)
		n--;
	return n;
}

/*
 * Order of the code lengths of the code length alphabet: 16, 17, 18, 0, 8, 7, 9, 6, ... 1, 15.
 * Computed, because a table would be in the local memory of each thread.
 */
SL_HD uint32_t sl_code_length_at(uint32_t i)
{
	if (i < 4)
		return i == 3 ? 0 : 16 + i;
	return i % 2 == 0 ? 6 + i / 2 : 9 - i / 2;
}

/* Code length i of the header: literals and lengths, then distances. */
SL_HD uint32_t sl_block_header_length(const struct sl_deflate_block *b, uint32_t i)
{
	return b->length[i < b->n_lengths ? i : i + SL_LITLEN_SYMBOLS - b->n_lengths];
}

/*
 * Builds the symbols of the header from the lengths of both alphabets, and counts them. Host only;
 * the device uses list_lengths() (huffman_codes.cuh).
 */
SL_HD void sl_block_header_make(struct sl_deflate_block *b)
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

/* Number of code lengths of the code length alphabet that are transmitted. */
SL_HD uint32_t sl_code_lengths_used(const struct sl_deflate_block *b)
{
	uint32_t n = SL_CODE_LENGTH_SYMBOLS;

	while (b->length_length[sl_code_length_at(n - 1)] == 0)
		n--;
	return n;
}

/* Bits of the header, without the end symbol. */
SL_HD uint32_t sl_block_header_bits(const struct sl_deflate_block *b)
{
	uint32_t bits = 3 + 5 + 5 + 4 + 3 * b->n_code_lengths;

	for (uint32_t s = 0; s < SL_CODE_LENGTH_SYMBOLS; s++)
		bits += b->length_count[s] * (b->length_length[s] + sl_repeat_bits(s));
	return bits;
}

/* Writes the header at the start of word. */
SL_HD void sl_block_header_write(const struct sl_deflate_block *b, bool last, uint32_t *word)
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

/* Bits of the tokens of a slice. */
SL_HD uint32_t sl_tokens_bits(const struct sl_deflate_block *b, const struct sl_tokens *tokens)
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

/* Appends the code of a symbol and its extra bits. */
SL_HD void sl_symbol_put(
	struct sl_bit_writer *to, const struct sl_deflate_block *b, struct sl_symbol s)
{
	uint32_t bits = b->length[s.symbol];

	sl_bit_writer_put(to, b->code[s.symbol] | s.extra << bits, bits + s.extra_bits);
}

/* Appends a literal, or the length and distance of a match. */
SL_HD void sl_token_put(struct sl_bit_writer *to, const struct sl_deflate_block *b, uint32_t token)
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

/* Writes the tokens of a slice from a bit position on. */
SL_HD void sl_tokens_write(const struct sl_deflate_block *b, const struct sl_tokens *tokens,
	uint32_t *word, uint32_t bit)
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

/* --- end -------------------------------------------------------------------------------------- */

/* Number of empty blocks of fixed codes that pad an even number of bits to whole bytes. */
SL_HD uint32_t sl_empty_blocks(uint32_t bits)
{
	return (8 - bits % 8) % 8 / 2;
}

/* Bytes of a coded block whose header and tokens have bits bits, with end symbol and padding. */
SL_HD uint32_t sl_block_bytes(const struct sl_deflate_block *b, bool last, uint32_t bits)
{
	bits += b->length[SL_END_OF_BLOCK];
	if (last)
		return (bits + 7) / 8;
	return bits % 2 ? (bits + 3 + 7) / 8 + 4
	                : (bits + SL_EMPTY_BLOCK_BITS * sl_empty_blocks(bits)) / 8;
}

/* Writes the end symbol after bits bits, and the padding if the block is not the last. */
SL_HD void sl_block_end(const struct sl_deflate_block *b, bool last, uint32_t *word, uint32_t bits)
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
