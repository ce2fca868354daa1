/*
 * deflate/cpu.c - the encoder of the device on one thread: the specification, byte for byte.
 *
 * The steps are those of device.cu, in headers that both share: segments of 32 KiB of one plane,
 * each by itself (streams.h); matches (tokens.h); Huffman codes (huffman.h); a block of codes, or a
 * stored one where that is shorter (block.h). Level is not asked: there is one.
 */
#include "primitives/primitives.h"

#include <string.h>

#include "block.h"
#include "check.h"

/* What a segment takes. */
struct room {
	struct sl_block block;
	struct sl_huffman_work work;
	uint16_t last[1 << SL_HASH_BITS]; /* places that have a hash, plus 1 */
	uint16_t before[SL_PLACES];       /* the place before that has the same */
	uint32_t crc[SL_CRC_TABLE];
	uint32_t word[SL_BLOCK_WORDS];
	uint32_t token[SL_PLACES];
	uint32_t breaks[SL_BREAK_WORDS];
	uint8_t data[SL_PLACES + SL_PAD];
	struct sl_tokens tokens[SL_SLICES]; /* in token */
};

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {0};

	(void)most;
	sl_cut(&a, sizeof(struct room));
	return a.used;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Where the history and the segment begin and end. */
struct span {
	uint32_t begin, from, end;
};

/* Counts bytes, and runs, which it gives. */
static uint32_t count_bytes(struct room *r, struct span s)
{
	uint32_t runs = 0;

	memset(r->block.count, 0, sizeof(r->block.count));
	memset(r->breaks, 0, sizeof(r->breaks));
	for (uint32_t i = s.from; i < s.end; i++) {
		bool is_break = sl_is_break(r->data, s.begin, i);

		r->block.count[r->data[i]]++;
		runs += is_break;
		r->breaks[i / 32] |= (uint32_t)is_break << i % 32;
	}
	return runs;
}

/* What literals cost if there is nothing else; gives what all of them do. */
static uint32_t make_costs(struct sl_block *b, uint32_t bytes)
{
	uint32_t sum = 0;

	b->cost.least = UINT8_MAX;
	for (uint32_t s = 0; s < SL_END; s++) {
		b->cost.of[s] = sl_literal_cost(b->count[s], bytes);
		if (b->cost.of[s] < b->cost.least)
			b->cost.least = b->cost.of[s];
		sum += sl_literal_sum(b->count[s], bytes);
	}
	return sum;
}

/* What is best said at a place; in the history nothing is. */
static uint32_t look_up_at(struct room *r, struct span s, uint32_t at)
{
	uint16_t *last = &r->last[sl_hash(sl_bytes_at(r->data, at))];
	uint32_t place = *last, most, best = 0, longest = 0, measured = 0;
	const struct sl_eight mine = sl_eight_at(r->data, at);

	r->before[at] = *last;
	*last = (uint16_t)(at + 1);
	if (at < s.from)
		return 0;
	most = sl_slice_left(at, s.end);
	for (uint32_t k = 0; k < SL_TRIED && place > 0; k++, place = r->before[place - 1]) {
		uint32_t alike = sl_alike(mine, sl_eight_at(r->data, place - 1));
		uint32_t other = sl_try(alike, place - 1);

		if (alike == SL_EIGHT && measured++ < SL_MEASURED)
			longest =
				sl_longer(r->data, at, place - 1, most, longest ? longest : other);
		best = other > best ? other : best;
	}
	return sl_try_token(r->data, at, most, &r->block.cost, longest ? longest : best);
}

/* What the first slices take, of which places are looked up. */
static uint32_t probe(struct room *r, struct span s, enum sl_device_mode way)
{
	struct sl_parse p = {r->data, r->breaks, &r->block.cost, s.end, NULL};
	uint32_t sum = 0;

	for (uint32_t at = s.from; at < s.from + SL_PROBE; at += SL_SLICE)
		sum += sl_slice_cost(&p, way, at, r->token + at, 1);
	return sum;
}

/* Do matches gain, of which so many are found? */
static bool matches_gain(struct room *r, struct span s, uint32_t found)
{
	return found >= SL_FOUND_LEAST &&
	       sl_matches_gain(probe(r, s, SL_RUNS), probe(r, s, SL_MATCHES));
}

/* Gives how the segment is to be said. */
static enum sl_device_mode look_up(struct room *r, struct span s)
{
	uint32_t bytes = s.end - s.from, found = 0, runs = count_bytes(r, s);
	uint32_t sum = make_costs(&r->block, bytes);
	enum sl_device_mode way = sl_device_mode_first(runs, bytes);

	memset(r->last, 0, sizeof(r->last));
	memset(r->token, 0, s.end * sizeof(*r->token));
	for (uint32_t i = s.begin; way == SL_MATCHES && i < sl_hashed_end(s.end); i++) {
		r->token[i] = look_up_at(r, s, i);
		found += r->token[i] > 0;
		if (i + 1 == s.from + SL_PROBE)
			way = sl_device_mode_of(matches_gain(r, s, found), runs, sum, bytes);
	}
	return way;
}

static void parse(struct room *r, struct span s, enum sl_device_mode way)
{
	struct sl_block *b = &r->block;
	struct sl_parse p = {r->data, r->breaks, &b->cost, s.end, b->count};
	uint32_t run = 0;

	memset(b->count, 0, sizeof(b->count));
	for (uint32_t from = s.from, k = 0; from < s.end; from += SL_SLICE, k++) {
		uint32_t to = from + SL_SLICE < s.end ? from + SL_SLICE : s.end;

		uint32_t last = sl_last_break(r->breaks, from, to);

		r->tokens[k] = (struct sl_tokens){r->token + from, 1, 0, 0};
		if (way == SL_MATCHES)
			sl_parse_matches(&p, from, to, r->token + from, &r->tokens[k]);
		else
			sl_parse_runs(&p, sl_run_resumed(&p, run, from), to, &r->tokens[k]);
		run = last ? last : run;
		if (way == SL_MATCHES && k % 2 == 1)
			sl_tokens_join(&p, &r->tokens[k - 1], &r->tokens[k]);
	}
	b->count[SL_END] = 1;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* From counts of n symbols: lengths and codes. */
static void make_codes(struct sl_huffman_work *w, const uint32_t *count, uint32_t n, uint32_t limit,
	uint8_t *length, uint16_t *code)
{
	struct sl_alphabet a = sl_alphabet_of(w, 0, sl_symbols_used(count, n), limit);
	uint32_t of_length[SL_CODE_MAX + 1] = {0};

	for (uint32_t s = 0; s < n; s++)
		sl_huffman_place(w, count, 0, n, s);
	for (uint32_t items; (items = sl_list_items(&a)) > 0; sl_list_end(&a))
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

static void make_header(struct room *r)
{
	struct sl_block *b = &r->block;

	sl_huffman_two(b->count + SL_LENGTHS, SL_DISTANCES);
	make_codes(&r->work, b->count, SL_LENGTHS, SL_CODE_MAX, b->length, b->code);
	make_codes(&r->work, b->count + SL_LENGTHS, SL_DISTANCES, SL_CODE_MAX,
		b->length + SL_LENGTHS, b->code + SL_LENGTHS);
	sl_header_make(b);
	make_codes(&r->work, b->length_count, SL_CODE_LENGTHS, SL_CODE_LENGTH_MAX, b->length_length,
		b->length_code);
	b->n_code_lengths = sl_code_lengths_used(b);
}

/* The segment, parsed, as codes in r->word; 0 when that is longer. */
static uint32_t encode(struct room *r, const struct sl_segment *g)
{
	struct sl_block *b = &r->block;
	uint32_t bit[SL_SLICES + 1], slices = (g->bytes + SL_SLICE - 1) / SL_SLICE, bytes;

	make_header(r);
	bit[0] = sl_header_bits(b);
	for (uint32_t k = 0; k < slices; k++)
		bit[k + 1] = bit[k] + sl_tokens_bits(b, &r->tokens[k]);
	bytes = sl_block_bytes(b, g->last, bit[slices]);
	if (bytes > g->bytes)
		return 0;
	memset(r->word, 0, sizeof(r->word));
	sl_header_write(b, g->last, r->word);
	for (uint32_t k = 0; k < slices; k++)
		sl_tokens_write(b, &r->tokens[k], r->word, bit[k]);
	sl_block_end(b, g->last, r->word, bit[slices]);
	return bytes;
}

/* The same, of what is loaded. */
static uint32_t compress(struct room *r, const struct sl_segment *g)
{
	struct span s = {SL_HISTORY - g->history, SL_HISTORY, SL_HISTORY + g->bytes};
	enum sl_device_mode way = look_up(r, s);

	if (way == SL_STORED)
		return 0;
	parse(r, s, way);
	return encode(r, g);
}

/* --- checks ----------------------------------------------------------------------------------- */

static struct sl_check check_segment(const struct room *r, enum sl_wrapper wrapper, uint32_t bytes)
{
	struct sl_check c = {0, 0};

	for (uint32_t from = 0; from < bytes; from += SL_SLICE) {
		uint32_t n = bytes - from < SL_SLICE ? bytes - from : SL_SLICE;

		c = sl_check_join(wrapper, c,
			sl_check_slice(wrapper, r->data + SL_HISTORY + from, n, r->crc), n);
	}
	return c;
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Where bytes go as long as they fit. */
struct output {
	uint8_t *at;
	size_t used, size; /* used may be more */
};

static void put(struct output *o, uint8_t byte)
{
	if (o->used < o->size)
		o->at[o->used] = byte;
	o->used++;
}

static void put_segment(struct room *r, const struct sl_segment *g, struct output *o)
{
	uint32_t bytes = g->bytes > 0 ? compress(r, g) : 0;

	for (uint32_t i = 0; i < bytes; i++)
		put(o, (uint8_t)(r->word[i / 4] >> 8 * (i % 4)));
	for (uint32_t i = 0; bytes == 0 && i < SL_STORED_BYTES; i++)
		put(o, sl_stored_byte(g->last, g->bytes, i));
	for (uint32_t i = 0; bytes == 0 && i < g->bytes; i++)
		put(o, r->data[SL_HISTORY + i]);
}

/* o->used grows past o->size when it does not fit. */
static void put_stream(struct room *r, const struct sl_streams *s, uint64_t k, struct output *o)
{
	uint64_t segment = k * s->each, bytes = sl_chunk_bytes(s, k);
	struct sl_check all = {0, 0};
	struct sl_segment g;

	for (uint32_t i = 0; i < sl_header_bytes(s->wrapper); i++)
		put(o, sl_header_byte(s->wrapper, i));
	do {
		g = sl_segment_of(s, segment++);
		sl_chunk_load(s, k, g.from - g.history, g.history + g.bytes, 0, 1,
			r->data + SL_HISTORY - g.history);
		memset(r->data + SL_HISTORY + g.bytes, 0, SL_PAD);
		put_segment(r, &g, o);
		all = sl_check_join(
			s->wrapper, all, check_segment(r, s->wrapper, g.bytes), g.bytes);
	} while (!g.last);
	for (uint32_t i = 0; i < sl_trailer_bytes(s->wrapper); i++)
		put(o, sl_trailer_byte(
			       s->wrapper, sl_check_value(s->wrapper, all, bytes), bytes, i));
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	const struct sl_streams s = sl_streams_of(job);
	struct output o = {(uint8_t *)job->out, job->out_used ? *job->out_used : 0, job->out_size};
	struct sl_arena a = x->scratch;
	struct room *r = (struct room *)sl_cut(&a, sizeof(*r));

	for (uint32_t i = 0; i < SL_CRC_TABLE; i++)
		r->crc[i] = sl_crc_of_byte(i);
	for (uint64_t k = 0; k < s.n; k++) {
		size_t began = o.used;

		job->out_bytes[k] = 0;
		if (k > 0 && job->out_bytes[k - 1] == 0)
			continue;
		put_stream(r, &s, k, &o);
		if (o.used <= o.size)
			job->out_bytes[k] = o.used - began;
		else
			o.used = began;
	}
	if (job->out_used)
		*job->out_used = o.used;
	return SL_OK;
}

const struct sl_backend sl_deflate_cpu = {
	.name = "cpu",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "the device's encoder on one thread: runs, matches, Huffman; one level",
	.scratch = scratch,
	.deflate = run,
};
