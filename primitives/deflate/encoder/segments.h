/*
 * encoder/segments.h - compresses segments on one host thread; the counterpart of segments.cuh and
 * assemble.cuh, with the same bytes.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_SEGMENTS_H
#define SL_PRIMITIVES_DEFLATE_ENCODER_SEGMENTS_H

#include "primitives/primitives.h"

#include <string.h>

#include "block.h"
#include "checksum.h"

/* Working memory of a segment. */
struct encoder {
	struct sl_deflate_block block;
	struct sl_huffman_work work;
	uint16_t last[1 << SL_HASH_BITS]; /* last position of each hash, plus 1 */
	uint16_t before[SL_POSITIONS];    /* previous position with the same hash, plus 1 */
	uint32_t crc[SL_CRC_TABLE];
	uint32_t word[SL_BLOCK_WORDS];
	uint32_t token[SL_POSITIONS];
	uint32_t run_starts[SL_RUN_START_WORDS];
	uint8_t data[SL_POSITIONS + SL_PAD];
	struct sl_tokens tokens[SL_SLICES]; /* in token[] */
	bool matches;                       /* whether matches are searched too; runs always are */
};

static inline size_t sl_encoder_scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	(void)shape;
	sl_cut(&a, sizeof(struct encoder));
	return a.used;
}

/* --- search and parse ------------------------------------------------------------------------- */

/* Start of the history, start and end of the segment. */
struct span {
	uint32_t begin, from, end;
};

/* Counts the bytes and marks where runs start; returns the number of runs. */
static uint32_t count_bytes(struct encoder *e, struct span s)
{
	uint32_t runs = 0;

	memset(e->block.count, 0, sizeof(e->block.count));
	memset(e->run_starts, 0, sizeof(e->run_starts));
	for (uint32_t i = s.from; i < s.end; i++) {
		bool starts_run = sl_starts_run(e->data, s.begin, i);

		e->block.count[e->data[i]]++;
		runs += starts_run;
		e->run_starts[i / 32] |= (uint32_t)starts_run << i % 32;
	}
	return runs;
}

/*
 * Sets the cost of each literal in a code for literals only; returns the cost of the whole segment.
 */
static uint32_t make_costs(struct sl_deflate_block *b, uint32_t bytes)
{
	uint32_t sum = 0;

	b->cost.min = UINT8_MAX;
	for (uint32_t s = 0; s < SL_END_OF_BLOCK; s++) {
		b->cost.literal[s] = sl_literal_cost(b->count[s], bytes);
		if (b->cost.literal[s] < b->cost.min)
			b->cost.min = b->cost.literal[s];
		sum += sl_literal_entropy(b->count[s], bytes);
	}
	return sum;
}

/*
 * The best match at a position as a token, 0 for none; also adds the position to the list of its
 * hash. Positions of the history are only candidates and get no match.
 */
static uint32_t search_position(struct encoder *e, struct span s, uint32_t at)
{
	uint16_t *last = &e->last[sl_hash(sl_bytes_at(e->data, at))];
	uint32_t position = *last, most, best = 0, longest = 0, extended = 0;
	const struct sl_bytes8 mine = sl_bytes8_at(e->data, at);

	e->before[at] = *last;
	*last = (uint16_t)(at + 1);
	if (at < s.from)
		return 0;
	most = sl_slice_left(at, s.end);
	for (uint32_t k = 0; k < SL_CANDIDATES && position > 0;
		k++, position = e->before[position - 1]) {
		uint32_t common = sl_common_prefix(mine, sl_bytes8_at(e->data, position - 1));
		uint32_t other = sl_candidate(common, position - 1);

		if (common == SL_PREFIX_BYTES && extended++ < SL_CANDIDATES_EXTENDED)
			longest = sl_candidate_extend(
				e->data, at, position - 1, most, longest ? longest : other);
		best = other > best ? other : best;
	}
	return sl_candidate_token(e->data, at, most, &e->block.cost, longest ? longest : best);
}

/* Cost of the first slices in a mode; their matches must be known. */
static uint32_t probe(struct encoder *e, struct span s, enum sl_match_mode mode)
{
	struct sl_parse p = {e->data, e->run_starts, &e->block.cost, s.end, NULL};
	uint32_t sum = 0;

	for (uint32_t at = s.from; at < s.from + SL_PROBE; at += SL_SLICE)
		sum += sl_slice_cost(&p, mode, at, e->token + at, 1);
	return sum;
}

/* True if matches, of which so many were found in the probe, make the first slices cheaper. */
static bool matches_gain(struct encoder *e, struct span s, uint32_t found)
{
	return found >= SL_PROBE_MATCHES_MIN &&
	       sl_matches_gain(probe(e, s, SL_MODE_RUNS), probe(e, s, SL_MODE_MATCHES));
}

/* Searches the matches as far as needed; returns the mode of the segment. */
static enum sl_match_mode search_matches(struct encoder *e, struct span s)
{
	uint32_t bytes = s.end - s.from, found = 0, runs = count_bytes(e, s);
	uint32_t sum = make_costs(&e->block, bytes);
	enum sl_match_mode mode = sl_match_mode_initial(runs, bytes);

	if (!e->matches)
		return sl_match_mode_fast(mode, runs, sum, bytes);
	memset(e->last, 0, sizeof(e->last));
	memset(e->token, 0, s.end * sizeof(*e->token));
	for (uint32_t i = s.begin; mode == SL_MODE_MATCHES && i < sl_hashed_end(s.end); i++) {
		e->token[i] = search_position(e, s, i);
		found += e->token[i] > 0;
		if (i + 1 == s.from + SL_PROBE)
			mode = sl_match_mode_after_probe(
				matches_gain(e, s, found), runs, sum, bytes);
	}
	return mode;
}

/* Parses all slices, counts symbols, and joins matches across pairs of slices. */
static void parse(struct encoder *e, struct span s, enum sl_match_mode mode)
{
	struct sl_deflate_block *b = &e->block;
	struct sl_parse p = {e->data, e->run_starts, &b->cost, s.end, b->count};
	uint32_t run = 0;

	memset(b->count, 0, sizeof(b->count));
	for (uint32_t from = s.from, k = 0; from < s.end; from += SL_SLICE, k++) {
		uint32_t to = from + SL_SLICE < s.end ? from + SL_SLICE : s.end;

		uint32_t last = sl_last_run_start(e->run_starts, from, to);

		e->tokens[k] = (struct sl_tokens){e->token + from, 1, 0, 0};
		if (mode == SL_MODE_MATCHES)
			sl_parse_matches(&p, from, to, e->token + from, &e->tokens[k]);
		else
			sl_parse_runs(&p, sl_run_resumed(&p, run, from), to, &e->tokens[k]);
		run = last ? last : run;
		if (mode == SL_MODE_MATCHES && k % 2 == 1)
			sl_tokens_join(&p, &e->tokens[k - 1], &e->tokens[k]);
	}
	b->count[SL_END_OF_BLOCK] = 1;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* Builds the lengths and codes of n symbols from their counts. */
static void make_codes(struct sl_huffman_work *w, const uint32_t *count, uint32_t n, uint32_t limit,
	uint8_t *length, uint16_t *code)
{
	struct sl_alphabet a = sl_alphabet_of(w, 0, sl_symbols_used(count, n), limit);
	uint32_t of_length[SL_CODE_MAX + 1] = {0};

	for (uint32_t s = 0; s < n; s++)
		sl_huffman_place(w, count, 0, n, s);
	for (uint32_t items; (items = sl_huffman_list_items(&a)) > 0; sl_huffman_next_list(&a))
		for (uint32_t i = 0; i < items; i++)
			sl_huffman_merge(&a, i);
	memset(length, 0, n);
	for (uint32_t i = 0; i < a.used; i++) {
		length[w->order[i]] = sl_huffman_length(&a, i);
		of_length[length[w->order[i]]]++;
	}
	for (uint32_t s = 0; s < n; s++)
		code[s] = sl_huffman_code(length, of_length, s);
}

/* Builds all codes and the header's symbols. */
static void make_header(struct encoder *e)
{
	struct sl_deflate_block *b = &e->block;

	sl_huffman_use_two(b->count + SL_LITLEN_SYMBOLS, SL_DISTANCE_SYMBOLS);
	make_codes(&e->work, b->count, SL_LITLEN_SYMBOLS, SL_CODE_MAX, b->length, b->code);
	make_codes(&e->work, b->count + SL_LITLEN_SYMBOLS, SL_DISTANCE_SYMBOLS, SL_CODE_MAX,
		b->length + SL_LITLEN_SYMBOLS, b->code + SL_LITLEN_SYMBOLS);
	sl_block_header_make(b);
	make_codes(&e->work, b->length_count, SL_CODE_LENGTH_SYMBOLS, SL_CODE_LENGTH_MAX,
		b->length_length, b->length_code);
	b->n_code_lengths = sl_code_lengths_used(b);
}

/*
 * Writes the parsed segment as a coded block to e->word; returns its bytes, or 0 if it is longer
 * than the segment.
 */
static uint32_t encode(struct encoder *e, const struct sl_segment *g)
{
	struct sl_deflate_block *b = &e->block;
	uint32_t bit[SL_SLICES + 1], slices = (g->bytes + SL_SLICE - 1) / SL_SLICE, bytes;

	make_header(e);
	bit[0] = sl_block_header_bits(b);
	for (uint32_t k = 0; k < slices; k++)
		bit[k + 1] = bit[k] + sl_tokens_bits(b, &e->tokens[k]);
	bytes = sl_block_bytes(b, g->last, bit[slices]);
	if (bytes > g->bytes)
		return 0;
	memset(e->word, 0, sizeof(e->word));
	sl_block_header_write(b, g->last, e->word);
	for (uint32_t k = 0; k < slices; k++)
		sl_tokens_write(b, &e->tokens[k], e->word, bit[k]);
	sl_block_end(b, g->last, e->word, bit[slices]);
	return bytes;
}

/*
 * Searches, parses and encodes a loaded segment. Returns its bytes as encode() does; 0 if the
 * segment is to be stored.
 */
static uint32_t compress(struct encoder *e, const struct sl_segment *g)
{
	struct span s = {SL_HISTORY - g->history, SL_HISTORY, SL_HISTORY + g->bytes};
	enum sl_match_mode mode = search_matches(e, s);

	if (mode == SL_MODE_STORED)
		return 0;
	parse(e, s, mode);
	return encode(e, g);
}

/* --- checksums -------------------------------------------------------------------------------- */

/* Checksum of a segment, by slices as on the device. */
static struct sl_deflate_checksum checksum_segment(
	const struct encoder *e, enum sl_wrapper wrapper, uint32_t bytes)
{
	struct sl_deflate_checksum c = {0, 0};

	for (uint32_t from = 0; from < bytes; from += SL_SLICE) {
		uint32_t n = bytes - from < SL_SLICE ? bytes - from : SL_SLICE;

		c = sl_checksum_join(wrapper, c,
			sl_checksum_slice(wrapper, e->data + SL_HISTORY + from, n, e->crc), n);
	}
	return c;
}

/* --- streams ---------------------------------------------------------------------------------- */

/* The output; counts bytes past its end without storing them. */
struct output {
	uint8_t *at;
	size_t used, size; /* used may exceed size */
};

static void put(struct output *o, uint8_t byte)
{
	if (o->used < o->size)
		o->at[o->used] = byte;
	o->used++;
}

/* Writes the coded block of a segment, or a stored one. */
static void put_segment(struct encoder *e, const struct sl_segment *g, struct output *o)
{
	uint32_t bytes = g->bytes > 0 ? compress(e, g) : 0;

	for (uint32_t i = 0; i < bytes; i++)
		put(o, (uint8_t)(e->word[i / 4] >> 8 * (i % 4)));
	for (uint32_t i = 0; bytes == 0 && i < SL_STORED_HEADER_BYTES; i++)
		put(o, sl_stored_header_byte(g->last, g->bytes, i));
	for (uint32_t i = 0; bytes == 0 && i < g->bytes; i++)
		put(o, e->data[SL_HISTORY + i]);
}

/* Writes stream k; o->used exceeds o->size if it does not fit. */
static void put_stream(struct encoder *e, const struct sl_streams *s, uint64_t k, struct output *o)
{
	uint64_t segment = k * s->segments_per_stream, bytes = sl_chunk_bytes(s, k);
	struct sl_deflate_checksum all = {0, 0};
	struct sl_segment g;

	for (uint32_t i = 0; i < sl_wrapper_header_bytes(s->wrapper); i++)
		put(o, sl_wrapper_header_byte(s->wrapper, i));
	do {
		g = sl_segment_of(s, segment++);
		sl_chunk_load(s, k, g.from - g.history, g.history + g.bytes, 0, 1,
			e->data + SL_HISTORY - g.history);
		memset(e->data + SL_HISTORY + g.bytes, 0, SL_PAD);
		put_segment(e, &g, o);
		all = sl_checksum_join(
			s->wrapper, all, checksum_segment(e, s->wrapper, g.bytes), g.bytes);
	} while (!g.last);
	for (uint32_t i = 0; i < sl_wrapper_trailer_bytes(s->wrapper); i++)
		put(o, sl_wrapper_trailer_byte(
			       s->wrapper, sl_checksum_value(s->wrapper, all, bytes), bytes, i));
}

/*
 * Compresses the streams in order. After the first stream that does not fit, this stream and all
 * later ones have 0 bytes.
 */
static inline enum sl_status sl_encoder_run(
	struct sl_exec *x, const struct sl_deflate_job *job, bool matches)
{
	const struct sl_streams s = sl_streams_of(job);
	struct output o = {(uint8_t *)job->out, job->out_used ? *job->out_used : 0, job->out_size};
	struct sl_arena a = x->scratch;
	struct encoder *e = (struct encoder *)sl_cut(&a, sizeof(*e));

	e->matches = matches;
	for (uint32_t i = 0; i < SL_CRC_TABLE; i++)
		e->crc[i] = sl_crc_of_byte(i);
	for (uint64_t k = 0; k < s.n; k++) {
		size_t began = o.used;

		job->out_bytes[k] = 0;
		if (o.used >= o.size || (k > 0 && job->out_bytes[k - 1] == 0))
			continue; /* o.used comes from the caller: a sum could overflow */
		put_stream(e, &s, k, &o);
		if (o.used <= o.size)
			job->out_bytes[k] = o.used - began;
		else
			o.used = began;
	}
	if (job->out_used)
		*job->out_used = o.used;
	return SL_OK;
}

#endif
