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
	struct sl_places last;
	uint32_t crc[SL_CRC_TABLE];
	uint32_t word[SL_BLOCK_WORDS];
	uint16_t token[SL_SEGMENT];
	uint8_t data[SL_SEGMENT];
	uint32_t end[SL_SLICES]; /* of tokens */
};

static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {0};

	(void)most;
	sl_cut(&a, sizeof(struct room));
	return a.used;
}

/* What literals cost if there is nothing else; gives what all of them do. */
static uint32_t make_costs(struct room *r, uint32_t bytes)
{
	struct sl_block *b = &r->block;
	uint32_t sum = 0;

	memset(b->count, 0, sizeof(b->count));
	for (uint32_t i = 0; i < bytes; i++)
		b->count[r->data[i]]++;
	for (uint32_t s = 0; s < SL_END; s++) {
		b->cost[s] = sl_literal_cost(b->count[s], bytes);
		sum += sl_literal_sum(b->count[s], bytes);
	}
	return sum;
}

/* The places round .. end - 1; gives how many are found in earnest. */
static uint32_t look_up_round(struct room *r, uint32_t round, uint32_t end)
{
	uint32_t found = 0;

	for (uint32_t i = round; i < end; i++) {
		uint32_t place = sl_look_up(&r->last, r->data, i);

		found += round < SL_PROBE && sl_is_same(r->data, place, i, SL_FOUND_BYTES);
		r->token[i] = sl_distance_to(place, i);
	}
	for (uint32_t i = round; i < end; i++) {
		if (!sl_is_landmark(r->data, i))
			continue;
		r->last.of_short[sl_hash_short(r->data + i)] = i + 1;
		r->last.of_long[sl_hash_long(r->data + i)] = i + 1;
	}
	return found;
}

/* False: it is not worth it. */
static bool look_up(struct room *r, uint32_t bytes, uint32_t sum)
{
	uint32_t hashed = sl_hashed_places(bytes), found = 0;

	memset(&r->last, 0, sizeof(r->last));
	memset(r->token, 0, bytes * sizeof(*r->token));
	for (uint32_t round = 0; round < hashed; round += SL_ROUND) {
		uint32_t end = round + SL_ROUND < hashed ? round + SL_ROUND : hashed;

		if (round == SL_PROBE && found < SL_FOUND_LEAST && sl_is_dull(sum, bytes))
			return false;
		found += look_up_round(r, round, end);
	}
	return true;
}

static void parse(struct room *r, uint32_t bytes)
{
	struct sl_block *b = &r->block;

	memset(b->count, 0, sizeof(b->count));
	for (uint32_t from = 0, k = 0; from < bytes; from += SL_SLICE, k++) {
		uint32_t to = from + SL_SLICE < bytes ? from + SL_SLICE : bytes;

		r->end[k] = sl_parse_slice(r->data, from, to, b->cost, r->token);
		sl_tokens_count(b, r->token, from, r->end[k]);
	}
	b->count[SL_END] = 1;
}

/* The segment, looked up, as codes in r->word; 0 when that is longer. */
static uint32_t encode(struct room *r, const struct sl_segment *g)
{
	struct sl_block *b = &r->block;
	uint32_t bit[SL_SLICES + 1], slices = (g->bytes + SL_SLICE - 1) / SL_SLICE, bytes;

	parse(r, g->bytes);
	for (uint32_t s = 0; s < SL_LENGTHS; s++)
		sl_huffman_place(b->count, SL_LENGTHS, s, b->work[0].order);
	sl_length_codes_make(b);
	sl_distance_codes_make(b);
	sl_header_make(b);
	bit[0] = sl_header_bits(b);
	for (uint32_t k = 0; k < slices; k++)
		bit[k + 1] = bit[k] + sl_tokens_bits(b, r->token, k * SL_SLICE, r->end[k]);
	bytes = sl_block_bytes(b, g->last, bit[slices]);
	if (bytes > g->bytes)
		return 0;
	memset(r->word, 0, sizeof(r->word));
	sl_header_write(b, g->last, r->word);
	for (uint32_t k = 0; k < slices; k++)
		sl_tokens_write(b, r->token, k * SL_SLICE, r->end[k], r->word, bit[k]);
	sl_block_end(b, g->last, r->word, bit[slices]);
	return bytes;
}

static struct sl_check check_segment(const struct room *r, enum sl_wrapper wrapper, uint32_t bytes)
{
	struct sl_check c = {0, 0};

	for (uint32_t from = 0; from < bytes; from += SL_SLICE) {
		uint32_t n = bytes - from < SL_SLICE ? bytes - from : SL_SLICE;

		c = sl_check_join(
			wrapper, c, sl_check_slice(wrapper, r->data + from, n, r->crc), n);
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
	uint32_t bytes = 0;

	if (g->bytes > 0 && look_up(r, g->bytes, make_costs(r, g->bytes)))
		bytes = encode(r, g);
	for (uint32_t i = 0; i < bytes; i++)
		put(o, (uint8_t)(r->word[i / 4] >> 8 * (i % 4)));
	for (uint32_t i = 0; bytes == 0 && i < SL_STORED_BYTES; i++)
		put(o, sl_stored_byte(g->last, g->bytes, i));
	for (uint32_t i = 0; bytes == 0 && i < g->bytes; i++)
		put(o, r->data[i]);
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
		sl_chunk_load(s, k, g.from, g.bytes, 0, 1, r->data);
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
