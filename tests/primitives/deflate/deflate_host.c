/*
 * deflate_host.c - compresses chunks, parts, sizes and kinds of input with the host backends: zlib and
 * libdeflate restore the output, and streams that do not fit have 0 bytes.
 */
#include <string.h>

#include "primitives/deflate/chunks.h"
#include "tests/cases/guarded.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_inputs.h"
#include "tests/support/formats/deflate_sweep.h"

enum { MOST = (1 << 20) + 1, JOBS = 20, JOB_LARGEST = 100000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The input of one test. */
static char in[MOST] __attribute__((aligned(8)));

/* Calls each(b) for every deflate backend of the host. */
static void for_each(void (*each)(const struct sl_backend *b))
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == SL_DEFLATE && b->space == SL_HOST)
			each(b);
}

static void parts(const struct sl_backend *b)
{
	deflate_check_parts(b, 20000);
}

TEST(parts_are_compressed_one_after_another)
{
	for_each(parts);
}

/* Complete and partial chunks of items of every size; streams appended to existing output. */
static void cuts(const struct sl_backend *b)
{
	static const struct deflate_try tries[] = {
		{.chunk_bytes = 1000, .used = 5, .wrapper = SL_GZIP},
		{.chunk_bytes = 1000, .whole_chunks = true},
		{.item_bytes = 8, .used = 1, .wrapper = SL_ZLIB},
		{.chunk_bytes = 40000, .item_bytes = 4, .wrapper = SL_ZLIB},
		{.chunk_bytes = 80000, .item_bytes = 2, .whole_chunks = true, .wrapper = SL_ZLIB},
		{.chunk_bytes = 1 << 17, .item_bytes = 8, .whole_chunks = true},
	};
	static const size_t ns[] = {0, 8, 1000, 79992, 80000, 100008};

	for (size_t i = 0; i < COUNT(tries); i++)
		for (size_t s = 0; s < COUNT(ns); s++) {
			deflate_input_make(DEFLATE_IDS, ns[s], in);
			deflate_check(b, in, ns[s], tries[i]);
		}
}

TEST(every_split_inflates_to_the_input)
{
	for_each(cuts);
}

/* Chunks and planes of random bytes: the memory for the output has sl_deflate_most() bytes. */
static void random_cuts(const struct sl_backend *b)
{
	static const struct deflate_try tries[] = {
		{.chunk_bytes = 1 << 19, .item_bytes = 4, .whole_chunks = true, .wrapper = SL_ZLIB},
		{.chunk_bytes = 400000, .used = 3, .wrapper = SL_GZIP},
		{.chunk_bytes = 64},
		{.item_bytes = 8},
	};

	deflate_input_make(DEFLATE_RANDOM, 1 << 20, in);
	for (size_t i = 0; i < COUNT(tries); i++)
		deflate_check(b, in, (1 << 20) - 8, tries[i]);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEP = 7 };
#else
enum { STEP = 1 };
#endif

/* All small sizes, primes, and sizes around whole segments and chunks. */
static void every_size_inflates_to_the_input(const struct sl_backend *b)
{
	static const size_t ns[] = {509, 1021, 4099, 8191, 16381, 32749, 32768, 32771, 65521, 65537,
		69997, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};

	for (size_t n = 0; n < 300; n += STEP) {
		deflate_input_make((enum deflate_input)(n % DEFLATE_INPUTS), n, in);
		deflate_check(b, in, n, (struct deflate_try){.wrapper = (enum sl_wrapper)(n % 3)});
	}
	for (size_t s = 0; s < COUNT(ns); s++)
		for (int kind = (int)s % STEP; kind < DEFLATE_INPUTS; kind += STEP) {
			if (ns[s] > 100000 && kind % 4 != (int)s % 4)
				continue;
			deflate_input_make((enum deflate_input)kind, ns[s], in);
			deflate_check(b, in, ns[s], (struct deflate_try){.wrapper = SL_ZLIB});
		}
}

TEST(every_size_of_cpu_inflates_to_the_input)
{
	every_size_inflates_to_the_input(&sl_deflate_cpu);
	every_size_inflates_to_the_input(&sl_deflate_cpu_fast);
}

TEST(random_jobs_of_cpu)
{
	deflate_random_jobs(&sl_deflate_cpu, JOBS, JOB_LARGEST);
	deflate_random_jobs(&sl_deflate_cpu_fast, JOBS, JOB_LARGEST);
}

/*
 * The same bytes at the largest distance that DEFLATE can express, and one byte farther. Compressible
 * bytes come first, so that matches are searched. A segment may refer to bytes before it.
 */
TEST(largest_match_distance_is_used)
{
	enum { SEGMENT = 1 << 15, SAME = 64, N = 2 * SEGMENT };
	size_t bytes[2];

	for (size_t k = 0; k < 2; k++) {
		size_t at = N - SAME, from = at - SEGMENT - k;

		deflate_input_make(DEFLATE_RANDOM, N, in);
		deflate_input_make(DEFLATE_TEXT, SEGMENT / 4, in + SEGMENT);
		memcpy(in + at, in + from, SAME);
		bytes[k] = deflate_check(&sl_deflate_cpu, in, N, (struct deflate_try){0});
	}
	assert_true(bytes[0] + SAME / 2 < bytes[1]);
}

/*
 * A repeated text becomes matches with cpu only; with cpu_fast its three letters and the end of the
 * block have codes of 2 bits. A run is shortened by both.
 */
TEST(only_cpu_searches_matches)
{
	enum { N = 1 << 15, HEADER = 100 };

	for (size_t i = 0; i < N; i++)
		in[i] = "acg"[i % 3];
	assert_true(deflate_check(&sl_deflate_cpu, in, N, (struct deflate_try){0}) < N / 40);
	assert_in_range(deflate_check(&sl_deflate_cpu_fast, in, N, (struct deflate_try){0}), N / 4,
		N / 4 + HEADER);
	memset(in, 'a', N);
	assert_true(deflate_check(&sl_deflate_cpu_fast, in, N, (struct deflate_try){0}) < N / 40);
}

/* Streams that fit are written in order; the first that does not fit and all later ones are not. */
static void stops(const struct sl_backend *b)
{
	enum { N = 1000, EACH = 100, STREAMS = N / EACH };
	size_t bytes[STREAMS], all = 0, used = 0, fitting = 0;
	struct sl_shape shape = {.in_bytes = N, .chunk_bytes = EACH, .level = 6};
	struct sl_guarded scratch, out;
	struct sl_exec x = {.space = SL_HOST};
	struct sl_deflate_job job = {.in = in,
		.in_bytes = N,
		.out_bytes = bytes,
		.level = 6,
		.chunk_bytes = EACH,
		.out_used = &used};

	deflate_input_make(DEFLATE_RANDOM, N, in);
	assert_ok(sl_guarded_get(SL_HOST, sl_scratch(b, &shape), &scratch));
	assert_ok(sl_guarded_get(SL_HOST, N + N / 100 + 256, &out));
	x.scratch = (struct sl_arena){scratch.at, 0, scratch.bytes};
	job.out = out.at;
	job.out_size = out.bytes;
	assert_ok(sl_deflate(b, &x, &job));
	all = used;
	used = 0;
	job.out_size = all * 2 / 3;
	assert_ok(sl_deflate(b, &x, &job));
	assert_true(bytes[0] > 0 && bytes[STREAMS - 1] == 0);
	for (size_t i = 0; i < STREAMS; i++) {
		assert_true(bytes[i] == 0 || i == 0 || bytes[i - 1] > 0);
		fitting += bytes[i];
	}
	assert_int_equal(used, fitting);
	assert_true(used <= job.out_size && used + 2 * EACH > job.out_size);
	used = job.out_size + 5;
	assert_ok(sl_deflate(b, &x, &job));
	assert_int_equal(used, job.out_size + 5);
	for (size_t i = 0; i < STREAMS; i++)
		assert_int_equal(bytes[i], 0);
	assert_ok(sl_guarded_check(&scratch, "scratch"));
	assert_ok(sl_guarded_check(&out, "out"));
	sl_guarded_give(&scratch);
	sl_guarded_give(&out);
}

TEST(streams_that_do_not_fit_have_zero_bytes)
{
	for_each(stops);
	for_each(deflate_check_full_output);
}

/*
 * Compresses nothing, as if each stream were too long. With more room than the share of its
 * stream, it could take that of later streams.
 */
static enum sl_status too_long(struct sl_exec *x, const struct sl_deflate_job *job)
{
	(void)x;
	assert_true(job->out_size <= sl_deflate_most(job->in_bytes, 0, 1));
	memset(job->out, 0x5a, job->out_size);
	return SL_OK;
}

static enum sl_status run_too_long(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_chunks_run(x, job, too_long);
}

TEST(streams_that_are_too_long_are_stored)
{
	struct sl_backend lengthens = sl_deflate_store;

	lengthens.deflate = run_too_long;
	for_each(random_cuts);
	random_cuts(&lengthens);
	stops(&lengthens);
}
