/* deflate_inputs.c - see deflate_inputs.h. */
#include "tests/support/formats/deflate_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cases/inputs.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"

enum { SEGMENT = 1 << 15 };

/* --- kinds of input --------------------------------------------------------------------------- */

static uint8_t text_at(size_t i)
{
	static const char words[] = "the weight of a particle is the weight it was born with ";

	return (uint8_t)words[(i + sl_mixed(i / 97) % 8) % (sizeof(words) - 1)];
}

/*
 * 22 symbols with the counts 1, 1, 2, 3, 5, 8, ..., the most that fit in a segment, shuffled and
 * repeated.
 */
static uint8_t fibonacci_at(size_t i)
{
	uint32_t a = 1, b = 1, symbol = 0, place = (uint32_t)(i * 8191 % 28656);

	while (place >= a) {
		uint32_t next = a + b;

		place -= a;
		a = b;
		b = next;
		symbol++;
	}
	return (uint8_t)(7 * symbol);
}

static void make_runs(size_t bytes, uint8_t *to)
{
	for (size_t i = 0, run = 0; i < bytes; run++) {
		uint64_t r = sl_mixed(run);
		size_t n = 1 + (r >> 8) % (r % 4 ? 9 : 600);

		for (; n > 0 && i < bytes; n--)
			to[i++] = (uint8_t)(r >> 32 & 7);
	}
}

static void make_repeats(size_t bytes, uint8_t *to)
{
	for (size_t i = 0, part = 0; i < bytes; part++) {
		uint64_t r = sl_mixed(part);
		size_t n = 1 + r % 60, inflated = 1 + (r >> 8) % (r >> 62 ? 40000 : 300);

		for (; n > 0 && i < bytes; n--, i++)
			to[i] = part % 3 && inflated <= i ? to[i - inflated] : (uint8_t)sl_mixed(i);
	}
}

/* Items of 4 or 8 bytes; bytes after the last complete item are 0. */
static void make_items(enum deflate_input kind, size_t bytes, uint8_t *to)
{
	size_t item = kind == DEFLATE_IDS ? 8 : 4;
	uint64_t word = 0;

	memset(to, 0, bytes);
	for (size_t i = 0; i < bytes / item; i++) {
		float number = (float)(sl_mixed(i) >> 40) * 0x1p-24f;

		word += kind == DEFLATE_IDS ? 1 + (uint64_t)__builtin_ctzll(sl_mixed(i))
		                            : sl_mixed(i) % 512;
		memcpy(to + i * item, kind == DEFLATE_FLOATS ? (void *)&number : &word, item);
	}
}

void deflate_input_make(enum deflate_input kind, size_t bytes, void *to)
{
	uint8_t *out = (uint8_t *)to;

	if (kind == DEFLATE_RUNS)
		make_runs(bytes, out);
	else if (kind == DEFLATE_REPEATS)
		make_repeats(bytes, out);
	else if (kind >= DEFLATE_IDS)
		make_items(kind, bytes, out);
	else
		for (size_t i = 0; i < bytes; i++)
			out[i] = kind == DEFLATE_CONSTANT    ? 'c'
			         : kind == DEFLATE_RANDOM    ? (uint8_t)sl_mixed(i)
			         : kind == DEFLATE_HIGH      ? (uint8_t)(144 + sl_mixed(i) % 112)
			         : kind == DEFLATE_TEXT      ? text_at(i)
			         : kind == DEFLATE_FIBONACCI ? fibonacci_at(i)
			                                     : (uint8_t)(sl_mixed(i) % 2);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void check_input(const struct sl_backend *b, enum deflate_input kind, size_t bytes,
	size_t most, struct deflate_try t)
{
	void *in;

	if (bytes > most || (sl_device_is_emulated() && !sl_sampling_selects()))
		return;
	in = malloc(bytes + 1);
	assert_non_null(in);
	t.exact = true;
	deflate_input_make(kind, bytes, in);
	deflate_check(b, in, bytes, t);
	free(in);
}

/*
 * Runs of about 32 bytes: if they are longer on average, the encoder searches runs only (tokens.h).
 */
static void sweep_run_lengths(const struct sl_backend *b)
{
	const struct deflate_try t = {.wrapper = SL_ZLIB, .exact = true};
	uint8_t in[700];

	for (size_t runs = sizeof(in) / 32 - 2; runs <= sizeof(in) / 32 + 2; runs++) {
		for (size_t i = 0; i < sizeof(in); i++)
			in[i] = 'a' + i * runs / sizeof(in) % 2;
		deflate_check(b, in, sizeof(in), t);
	}
}

/* Sizes near one slice, one round, and one or several segments. */
static const size_t sizes[] = {0, 127, 128, 129, 255, 256, 257, 258, 259, 512, 516, 517,
	SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT + 258, 65521, 69997, (1 << 20) - 1, 1 << 20,
	(1 << 20) + 1};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/*
 * More segments and streams than are processed at a time, shuffled items, and output after used
 * bytes.
 */
static const struct {
	enum deflate_input kind;
	size_t bytes;
	struct deflate_try t;
} cuts[] = {
	{DEFLATE_KEYS, 3 * (4 * 4096 + 32) + 400, {4 * 4096 + 32, 4, true, SL_RAW, 77, true, 0, 0}},
	{DEFLATE_IDS, 24 * 1000, {4000, 8, false, SL_ZLIB, 3, true, 0, 0}},
	{DEFLATE_FLOATS, 3 * SEGMENT + 20, {0, 2, false, SL_GZIP, 0, true, 0, 0}},
	{DEFLATE_TEXT, 96 * 600 + 1, {96, 0, true, SL_GZIP, 0, true, 0, 0}},
	{DEFLATE_RUNS, 70 * 5000, {5000, 0, false, SL_ZLIB, 1, true, 0, 0}},
	{DEFLATE_IDS, 5 << 20, {1 << 20, 8, true, SL_ZLIB, 0, true, 0, 0}},
	{DEFLATE_FLOATS, (21 << 20) + 44, {1 << 20, 4, true, SL_ZLIB, 0, true, 0, 0}},
	{DEFLATE_RANDOM, 140000, {.parts = SL_DEFLATE_PARTS_MAX}},
};

void deflate_sweep(const struct sl_backend *b, size_t most)
{
	const struct deflate_try whole = {.wrapper = SL_ZLIB, .exact = true};

	for (size_t kind = 0; kind < DEFLATE_INPUTS; kind++)
		check_input(b, (enum deflate_input)kind, SEGMENT, most, whole);
	sweep_run_lengths(b);
	for (size_t n = 0; n < 300; n += n < 24 ? 1 : 23)
		check_input(b, (enum deflate_input)(n % DEFLATE_INPUTS), n, most,
			(struct deflate_try){.wrapper = (enum sl_wrapper)(n % 3)});
	for (size_t i = 0; i < SIZES; i++)
		check_input(b, (enum deflate_input)((3 * i + 1) % DEFLATE_INPUTS), sizes[i], most,
			(struct deflate_try){.wrapper = (enum sl_wrapper)((i + 1) % 3)});
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
		check_input(b, cuts[i].kind, cuts[i].bytes, most, cuts[i].t);
}

/* Parts of all kinds, some with changed bytes. */
static void make_mixture(uint64_t r, size_t bytes, uint8_t *in)
{
	for (size_t at = 0, n; at < bytes; at += n) {
		r = sl_mixed(r);
		n = 1 + (r >> 16) % (r & 8 ? 100 : 20000);
		n = n < bytes - at ? n : bytes - at;
		deflate_input_make((enum deflate_input)((r >> 4) % DEFLATE_INPUTS), n, in + at);
		for (size_t i = 0; r >> 60 == 0 && i < n; i++)
			in[at + i] = (uint8_t)(in[at + i] + sl_mixed(r + i / 50));
	}
}

/* Small chunk sizes give many streams. */
static size_t draw_chunk(uint64_t r)
{
	static const size_t small[] = {0, 8, 8, 96, 192},
			    large[] = {40000, 80000, 1 << 17, 1 << 19};

	return r % 4 ? small[(r >> 40) % 5] * ((r >> 32) % 200) : large[(r >> 40) % 4];
}

void deflate_random(const struct sl_backend *b, uint64_t number, size_t most)
{
	static const size_t used[] = {
		SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 100, SIZE_MAX / 2, 0, 0, 0, 0, 0, 0};
	const uint64_t r = sl_mixed(~number), s = sl_mixed(r);
	const size_t item = (size_t)1 << r % 4, size = sizes[s % SIZES];
	size_t bytes = s >> 12 & 2                  ? (r >> 8) % most
	               : s >> 12 & 1 || size > most ? (r >> 8) % most % 300
	                                            : size;
	struct deflate_try t = {.item_bytes = (uint32_t)item,
		.chunk_bytes = draw_chunk(s >> 4) / 8 * 8,
		.whole_chunks = r >> 50 & 1,
		.wrapper = (enum sl_wrapper)((r >> 51) % 3),
		.used = (s >> 16) % 32 == 0 ? used[(r >> 54) % 10] : (s >> 21) % 9 * (s >> 25 & 1),
		.level = 1 + (int)((s >> 28) % 9),
		.parts = (s >> 32) % 5 == 0 ? 1 + (uint32_t)((s >> 36) % SL_DEFLATE_PARTS_MAX) : 0,
		.exact = b->space == SL_DEVICE};
	uint8_t *in = (uint8_t *)malloc(bytes + 1);

	bytes = bytes / item * item;
	t.chunk_bytes = t.chunk_bytes > bytes / 2000 ? t.chunk_bytes : 0; /* not too many streams */
	assert_non_null(in);
	if (s >> 62)
		make_mixture(r, bytes, in);
	else
		deflate_input_make((enum deflate_input)(number % DEFLATE_INPUTS), bytes, in);
	deflate_check(b, in, bytes, t);
	free(in);
}
