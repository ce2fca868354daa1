/* deflate_sweep.c - see deflate_sweep.h. */
#include "tests/support/formats/deflate_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases/inputs.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_inputs.h"

enum { SEGMENT = 1 << 15 };

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

/* Runs of about 32 bytes: if they are longer on average, the encoder searches runs only (tokens.h). */
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
static void sweep_sizes(const struct sl_backend *b, size_t most)
{
	static const size_t sizes[] = {127, 128, 129, 255, 256, 257, 258, 259, 512, 516, 517,
		SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT + 258, 65521, 69997, (1 << 20) - 1,
		1 << 20, (1 << 20) + 1};

	for (int w = SL_RAW; w <= SL_GZIP; w++)
		check_input(b, DEFLATE_CONSTANT, 0, most,
			(struct deflate_try){.wrapper = (enum sl_wrapper)w});
	for (size_t n = 0; n < 300; n += n < 24 ? 1 : 23)
		check_input(b, (enum deflate_input)(n % DEFLATE_INPUTS), n, most,
			(struct deflate_try){.wrapper = (enum sl_wrapper)(n % 3)});
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_input(b, (enum deflate_input)((3 * i + 1) % DEFLATE_INPUTS), sizes[i], most,
			(struct deflate_try){.wrapper = (enum sl_wrapper)((i + 1) % 3)});
}

/* More segments and streams than are processed at a time, shuffled items, and output after used bytes. */
static void sweep_cuts(const struct sl_backend *b, size_t most)
{
	static const struct {
		enum deflate_input kind;
		size_t bytes;
		struct deflate_try t;
	} jobs[] = {
		{DEFLATE_KEYS, 3 * (4 * 4096 + 32) + 400,
			{4 * 4096 + 32, 4, true, SL_RAW, 77, true, 0}},
		{DEFLATE_IDS, 24 * 1000, {4000, 8, false, SL_ZLIB, 3, true, 0}},
		{DEFLATE_FLOATS, 3 * SEGMENT + 20, {0, 2, false, SL_GZIP, 0, true, 0}},
		{DEFLATE_TEXT, 96 * 600 + 1, {96, 0, true, SL_GZIP, 0, true, 0}},
		{DEFLATE_RUNS, 70 * 5000, {5000, 0, false, SL_ZLIB, 1, true, 0}},
		{DEFLATE_IDS, 5 << 20, {1 << 20, 8, true, SL_ZLIB, 0, true, 0}},
		{DEFLATE_FLOATS, (21 << 20) + 44, {1 << 20, 4, true, SL_ZLIB, 0, true, 0}},
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		check_input(b, jobs[i].kind, jobs[i].bytes, most, jobs[i].t);
}

void deflate_sweep(const struct sl_backend *b, size_t most)
{
	for (int kind = 0; kind < DEFLATE_INPUTS; kind++)
		check_input(b, (enum deflate_input)kind, SEGMENT - 8 * (size_t)kind, most,
			(struct deflate_try){.wrapper = SL_ZLIB});
	sweep_run_lengths(b);
	sweep_sizes(b, most);
	sweep_cuts(b, most);
}

size_t deflate_random(const struct sl_backend *b, uint64_t number, size_t most)
{
	static const size_t chunks[] = {0, 8, 8, 96, 192}; /* small chunk sizes give many streams */
	uint64_t r = sl_mixed(~number);
	size_t item = (size_t)1 << r % 4, bytes = (r >> 8) % most / item * item;
	struct deflate_try t = {.chunk_bytes = chunks[(r >> 40) % 5] * ((r >> 32) % 200),
		.item_bytes = (uint32_t)item,
		.whole_chunks = r >> 50 & 1,
		.wrapper = (enum sl_wrapper)((r >> 51) % 3),
		.used = (r >> 54) % 9,
		.exact = true};
	uint8_t *in = (uint8_t *)malloc(bytes + 1);

	assert_non_null(in);
	for (size_t at = 0, n; at < bytes; at += n) {
		r = sl_mixed(r);
		n = 1 + (r >> 16) % (r & 8 ? 100 : 20000);
		n = n < bytes - at ? n : bytes - at;
		deflate_input_make((enum deflate_input)((r >> 4) % DEFLATE_INPUTS), n, in + at);
		for (size_t i = 0; r >> 60 == 0 && i < n; i++)
			in[at + i] = (uint8_t)(in[at + i] + sl_mixed(r + i / 50));
	}
	deflate_check(b, in, bytes, t);
	free(in);
	return sl_deflate_streams(bytes, t.chunk_bytes);
}

void deflate_random_jobs(const struct sl_backend *b, uint64_t jobs, size_t most)
{
	const char *setting = getenv("SLUICE_DEFLATE_JOBS");
	unsigned long long from = 0, to = jobs;
	uint64_t inputs = 0;

	if (setting && sscanf(setting, "%llu..%llu", &from, &to) == 1) {
		to = from;
		from = 0;
	}
	assert_true(from < to);
	for (uint64_t k = from; k < to; k++)
		inputs += deflate_random(b, k, most);
	printf("%llu random jobs, %llu chunks\n", to - from, (unsigned long long)inputs);
}
