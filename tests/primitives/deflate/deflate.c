/*
 * deflate.c - tests every deflate backend of the host and of the emulated device: zlib and libdeflate restore the output,
 * which depends on nothing but the input, no call allocates memory outside its scratch, and a stream that does not fit has
 * 0 bytes. The encoders of the device write the bytes of their specification, cpu or cpu_fast.
 */
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "primitives/deflate/chunks.h"
#include "primitives/deflate/planes.h"
#include "primitives/emulator/settings.h"
#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_check.h"
#include "tests/support/formats/deflate_inputs.h"
#include "tests/support/formats/deflate_sweep.h"

enum { MOST = 1 << 20, SEGMENT = 1 << 15 };

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { JOBS = 10, EMULATED_MOST = 60000, EMULATED_JOBS = 4, SEGMENTS = 3 };
#else
enum { JOBS = 1400, EMULATED_MOST = 360000, EMULATED_JOBS = 56, SEGMENTS = 33 };
#endif

/* The input of one test. */
static char in[MOST + 8] __attribute__((aligned(8)));

static const struct sl_backend *const emulated[] = {
	&sl_deflate_device_emulated, &sl_deflate_device_fast_emulated};

/* A job of the host, and its memory. */
struct bench {
	struct sl_guarded scratch, out;
	struct sl_exec x;
	size_t bytes[10]; /* of the streams */
	struct sl_deflate_job job;
};

static void bench_make(struct bench *k, const struct sl_backend *b, size_t bytes, size_t chunk)
{
	struct sl_shape shape = {.in_bytes = bytes, .chunk_bytes = chunk, .level = 9};

	assert_ok(sl_guarded_get(SL_HOST, sl_scratch(b, &shape), &k->scratch));
	assert_ok(sl_guarded_get(SL_HOST, sl_deflate_most(bytes, chunk, 1), &k->out));
	k->x = (struct sl_exec){.space = SL_HOST, .scratch = {k->scratch.at, 0, k->scratch.bytes}};
	k->job = (struct sl_deflate_job){.in = in,
		.in_bytes = bytes,
		.out = k->out.at,
		.out_size = k->out.bytes,
		.out_bytes = k->bytes,
		.level = 6,
		.chunk_bytes = chunk};
}

static void bench_free(struct bench *k)
{
	assert_ok(sl_guarded_check(&k->scratch, "scratch"));
	assert_ok(sl_guarded_check(&k->out, "out"));
	sl_guarded_give(&k->scratch);
	sl_guarded_give(&k->out);
}

/* Returns the bytes of the first stream. */
static size_t squeeze(struct bench *k, const struct sl_backend *b, size_t out_size, int level)
{
	k->job.out_size = out_size;
	k->job.level = level;
	k->bytes[0] = 12345;
	assert_ok(sl_deflate(b, &k->x, &k->job));
	return k->bytes[0];
}

/* --- the output ------------------------------------------------------------------------------- */

/* Sizes around whole segments and chunks, and small ones. */
static size_t draw_size(uint64_t r)
{
	static const size_t sizes[] = {0, 1, 8, 255, 4099, 32767, 32768, 32769, 65521, 65535, 65536,
		65537, 80000, 100008, MOST - 1, MOST, MOST + 1};

	return r % 8 ? (r >> 8) % 300 : sizes[(r >> 8) % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* Every level, wrapper, kind of input and split, whole and partial chunks, streams after others. */
static void random_jobs(const struct sl_backend *b)
{
	static const size_t chunks[] = {0, 0, 64, 1000, 40000, 80000, 1 << 17, 1 << 19};
	const struct sl_sampled share = sl_sampling_share(JOBS);

	for (uint64_t k = share.first; k < JOBS; k += share.step) {
		const uint64_t r = sl_mixed(k), s = sl_mixed(~k);
		const uint32_t item = 1u << s % 4;
		const size_t bytes = draw_size(r) / item * item;
		const size_t least = bytes / 500; /* of a chunk: not too many streams */
		struct deflate_try t = {.chunk_bytes = chunks[s / 4 % 8] / item * item,
			.item_bytes = item,
			.whole_chunks = s >> 8 & 1,
			.wrapper = (enum sl_wrapper)((s >> 9) % 3),
			.used = (s >> 12) % 4 ? 0 : (s >> 16) % 9,
			.level = 1 + (int)((s >> 20) % 9)};

		t.chunk_bytes = t.chunk_bytes > least ? t.chunk_bytes : 0;
		deflate_input_make((enum deflate_input)(k % DEFLATE_INPUTS), bytes, in);
		deflate_check(b, in, bytes, t);
	}
	deflate_check_parts(b, 20000);
	deflate_check_full_output(b);
}

/* Bytes that cannot be compressed fit in sl_deflate_most() bytes: at 144 and more, the fixed code has 9 bits each. */
static void random_bytes(const struct sl_backend *b)
{
	static const struct deflate_try tries[] = {
		{.chunk_bytes = 1 << 19, .item_bytes = 4, .whole_chunks = true, .wrapper = SL_ZLIB},
		{.chunk_bytes = 4000, .used = 3, .wrapper = SL_GZIP},
		{.chunk_bytes = 64},
		{.item_bytes = 8},
	};
	static const size_t sizes[] = {1 << 17, 65536, 1000, 1 << 19};

	for (int kind = 0; kind < 2; kind++)
		for (int level = 1; level <= 9; level++) {
			struct deflate_try t = tries[(kind + level) % 4];
			const size_t bytes = sizes[(kind + level) % 4];

			for (size_t i = 0; i < bytes; i++)
				in[i] = (char)(kind ? 144 + sl_mixed(i) % 112 : sl_mixed(i));
			t.level = level;
			deflate_check(b, in, bytes, t);
		}
}

/*
 * The same bytes wherever scratch is. In the input, only the bytes from the third on are repeated: ISA-L without history
 * finds the repetition at some addresses only (isal.c).
 */
static void same_at_any_address(const struct sl_backend *b)
{
	static const char text[] = "01the weight of a particle;3the weight of a particle;4";
	enum { N = sizeof(text) - 1, ADDRESSES = 1500, SPACING = 1 << 16 };
	char first[2 * N], *memory;
	size_t bytes, all;
	struct bench k;

	memcpy(in, text, N);
	bench_make(&k, b, N, 0);
	all = k.scratch.bytes + (size_t)ADDRESSES * SPACING;
	memory = (char *)mmap(NULL, all, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(memory != MAP_FAILED);
	bytes = squeeze(&k, b, k.out.bytes, 1);
	memcpy(first, k.out.at, bytes);
	for (size_t i = 0; i < ADDRESSES; i++) {
		k.x.scratch.base = memory + i * SPACING;
		assert_int_equal(squeeze(&k, b, k.out.bytes, 1), bytes);
		assert_memory_equal(first, k.out.at, bytes);
	}
	munmap(memory, all);
	bench_free(&k);
}

/* --- the size of the output ------------------------------------------------------------------- */

static void shrinks(const struct sl_backend *b)
{
	const bool stores = b == &sl_deflate_store;
	struct bench k;

	bench_make(&k, b, MOST, 0);
	deflate_input_make(DEFLATE_CONSTANT, MOST, in);
	assert_true(squeeze(&k, b, k.out.bytes, 6) < 2000 || stores);
	deflate_input_make(DEFLATE_TEXT, MOST, in);
	assert_true(
		squeeze(&k, b, k.out.bytes, 9) < MOST / 4 || stores || b == &sl_deflate_cpu_fast);
	deflate_input_make(DEFLATE_RANDOM, MOST, in);
	assert_true(squeeze(&k, b, k.out.bytes, 1) < MOST + 1000);
	bench_free(&k);
}

/* The exact size suffices and one byte less does not; random bytes fit in no smaller output. */
static void overflows(const struct sl_backend *b)
{
	enum { N = 65536 };
	struct bench k;

	bench_make(&k, b, N, 0);
	for (int w = SL_RAW; w <= SL_GZIP; w++) {
		size_t bytes;

		k.job.wrapper = (enum sl_wrapper)w;
		deflate_input_make(DEFLATE_RANDOM, N, in);
		for (size_t room = 0; room < N; room += room < 40 ? 1 : 9973)
			assert_int_equal(squeeze(&k, b, room, 6), 0);
		deflate_input_make(DEFLATE_TEXT, N, in);
		bytes = squeeze(&k, b, k.out.bytes, 6);
		assert_int_equal(squeeze(&k, b, bytes - 1, 6), 0);
		assert_int_equal(squeeze(&k, b, bytes, 6), bytes);
	}
	bench_free(&k);
}

/* The same bytes at the largest distance that DEFLATE can express, and one byte farther; a segment refers to earlier ones. */
TEST(largest_match_distance_is_used)
{
	enum { SAME = 64, N = 2 * SEGMENT };
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
 * A repeated text becomes matches with cpu only; with cpu_fast its three letters and the end of the block have codes of 2
 * bits. A run is shortened by both.
 */
TEST(only_cpu_searches_matches)
{
	const struct deflate_try plain = {0};
	enum { N = SEGMENT };

	for (size_t i = 0; i < N; i++)
		in[i] = "acg"[i % 3];
	assert_true(deflate_check(&sl_deflate_cpu, in, N, plain) < N / 40);
	assert_in_range(deflate_check(&sl_deflate_cpu_fast, in, N, plain), N / 4, N / 4 + 100);
	memset(in, 'a', N);
	assert_true(deflate_check(&sl_deflate_cpu_fast, in, N, plain) < N / 40);
}

/* Streams that fit are written in order; the first that does not fit and all later ones are not. */
static void stops(const struct sl_backend *b)
{
	enum { N = 1000, EACH = 100, STREAMS = N / EACH };
	size_t used = 0, fitting = 0;
	struct bench k;

	deflate_input_make(DEFLATE_RANDOM, N, in);
	bench_make(&k, b, N, EACH);
	k.job.out_used = &used;
	assert_ok(sl_deflate(b, &k.x, &k.job));
	k.job.out_size = used * 2 / 3;
	used = 0;
	assert_ok(sl_deflate(b, &k.x, &k.job));
	assert_true(k.bytes[0] > 0 && k.bytes[STREAMS - 1] == 0);
	for (size_t i = 0; i < STREAMS; i++) {
		assert_true(k.bytes[i] == 0 || i == 0 || k.bytes[i - 1] > 0);
		fitting += k.bytes[i];
	}
	assert_int_equal(used, fitting);
	assert_true(used <= k.job.out_size && used + 2 * EACH > k.job.out_size);
	bench_free(&k);
}

/* Compresses nothing, as if each stream were too long. With more room than its share, a stream could take that of later ones. */
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

TEST(every_backend_of_the_host)
{
	static void (*const checks[])(const struct sl_backend *b) = {
		random_jobs, random_bytes, same_at_any_address, shrinks, overflows, stops};
	struct sl_backend lengthens = sl_deflate_store;
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		for (size_t k = 0; k < 6 && b->primitive == SL_DEFLATE && b->space == SL_HOST; k++)
			checks[k](b);
	deflate_random_jobs(&sl_deflate_cpu, 20, 100000);
	deflate_random_jobs(&sl_deflate_cpu_fast, 20, 100000);
	lengthens.deflate = run_too_long; /* such streams are stored */
	random_bytes(&lengthens);
	stops(&lengthens);
}

/* --- memory and threads ----------------------------------------------------------------------- */

/* Other users of libdeflate get memory from malloc before, during and after a call of the library. */
TEST(other_compressors_still_use_malloc)
{
	struct libdeflate_compressor *theirs;
	uint64_t before = allocations();
	char out[2000];
	struct bench k;

	deflate_input_make(DEFLATE_TEXT, 1000, in);
	bench_make(&k, &sl_deflate_libdeflate, 1000, 0);
	before = allocations();
	theirs = libdeflate_alloc_compressor(6);
	assert_non_null(theirs);
	assert_true(allocations() > before);
	assert_true(squeeze(&k, &sl_deflate_libdeflate, k.out.bytes, 6) > 0);
	assert_true(libdeflate_zlib_compress(theirs, in, 1000, out, sizeof(out)) > 0);
	libdeflate_free_compressor(theirs);
	bench_free(&k);
}

/* Small inputs: most of the time is spent in making compressors, where threads could interfere. */
static void *work(void *result)
{
	size_t *bytes = (size_t *)result;
	struct bench k;

	bench_make(&k, &sl_deflate_libdeflate, 100, 0);
	for (int i = 0; i < 3000; i++)
		*bytes += squeeze(&k, &sl_deflate_libdeflate, k.out.bytes, 6);
	bench_free(&k);
	return NULL;
}

TEST(threads_are_independent)
{
	enum { THREADS = 4 };
	size_t bytes[THREADS] = {0};
	pthread_t threads[THREADS];

	deflate_input_make(DEFLATE_TEXT, 100, in);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &bytes[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		assert_true(bytes[i] == bytes[0] && bytes[i] > 0);
}

/* --- the emulated device ---------------------------------------------------------------------- */

/* Threads in any order; without a sanitizer, more segments than a warp has lanes. */
TEST(encoders_of_the_device_write_the_specification)
{
	enum { BYTES = SEGMENTS * SEGMENT + 9 };
	static const struct sl_emulator_settings schedules[] = {
		{.blocks = 2, .seed = 1, .memory_bytes = 1 << 30},
		{.blocks = 7, .seed = 2, .from_last = true, .memory_bytes = 1 << 30},
		{.blocks = 3, .seed = 3, .turing = true, .memory_bytes = 1 << 30},
		{.blocks = 1, .memory_bytes = 1 << 30},
	};
	static uint8_t many[BYTES];

	sl_device_emulate(true);
	deflate_input_make(DEFLATE_CONSTANT, BYTES, many);
	many[BYTES / 2] = 0;
	for (int i = 0; i < 2; i++) {
		const struct sl_backend *b = emulated[i];
		const struct sl_sampled share = sl_sampling_share(EMULATED_JOBS);

		deflate_sweep(b, EMULATED_MOST);
		deflate_check(
			b, many, BYTES, (struct deflate_try){.wrapper = SL_GZIP, .exact = true});
		for (uint64_t k = share.first; k < EMULATED_JOBS; k += share.step) {
			sl_emulator_set_settings(&schedules[k % 4]);
			deflate_random(b, k, k % 4 < 3 ? 4000 : EMULATED_MOST / 4);
		}
		sl_emulator_set_settings(&schedules[3]);
		deflate_check_parts(b, 12000);
		deflate_check_full_output(b);
	}
}

/* --- byte planes ------------------------------------------------------------------------------ */

/* The layout of HDF5's shuffle filter: byte k of item i stands at k * stride + i; planes are padded with zeros. */
TEST(planes_are_padded_with_zeros_and_inverted)
{
	enum { N = 37, STRIDE = 40, BYTES_MOST = 9 };
	uint8_t items[N * BYTES_MOST], out[STRIDE * BYTES_MOST + 1], back[N * BYTES_MOST];

	for (size_t i = 0; i < sizeof(items); i++)
		items[i] = (uint8_t)(i * 167 + 1);
	for (size_t bytes = 1; bytes <= BYTES_MOST; bytes++)
		for (size_t stride = N; stride <= STRIDE; stride += STRIDE - N) {
			memset(out, 0xa5, sizeof(out));
			sl_to_planes(items, N, out, stride, bytes);
			for (size_t i = 0; i < stride * bytes; i++)
				assert_int_equal(out[i],
					i % stride < N ? items[i % stride * bytes + i / stride]
						       : 0);
			assert_int_equal(out[stride * bytes], 0xa5);
			if (stride == N)
				sl_from_planes(out, back, N, bytes);
			assert_memory_equal(back, items, N * bytes);
		}
	sl_to_planes(items, 0, out, 3, 4);
	for (int i = 0; i < 12; i++)
		assert_int_equal(out[i], 0);
}
