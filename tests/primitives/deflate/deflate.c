/*
 * deflate.c - tests every host deflate backend: zlib restores its output, a stream that does not fit
 * has 0 bytes, and no call allocates memory outside its scratch. deflate_host.c tests chunks, parts and
 * kinds of input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>
#include <libdeflate.h>

#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"

enum { MOST = 5000000 };

static const size_t sizes[] = {0, 1, 100, 65535, 65536, 1 << 20, MOST};
static const int levels[] = {1, 6, 9};
static const enum sl_wrapper wrappers[] = {SL_RAW, SL_ZLIB, SL_GZIP};
enum kind { RANDOM, CONSTANT, TEXT, KINDS, HIGH = KINDS };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Bytes of 144 and more have codes of 9 bits in the fixed code, the worst case of level 1 of
 * zlib-ng.
 */
static char random_byte(enum kind kind, size_t i)
{
	return (char)(kind == HIGH ? 144 + sl_mixed(i) % 112 : sl_mixed(i));
}

/* The input of one test, and the bytes that zlib decompresses. */
static char in[MOST] __attribute__((aligned(8))), back[MOST + 1];

static void make_input(enum kind kind, size_t n)
{
	static const char words[] = "the weight of a particle is the weight it was born with ";

	for (size_t i = 0; i < n; i++)
		in[i] = kind == RANDOM || kind == HIGH ? random_byte(kind, i)
		        : kind == CONSTANT
		                ? 'c'
		                : words[(i + sl_mixed(i / 97) % 8) % (sizeof(words) - 1)];
}

/* Decompresses into back and returns the size. Fails unless the stream is complete and has size bytes. */
static size_t inflate_all(const void *bytes, size_t size, enum sl_wrapper wrapper)
{
	const int window = wrapper == SL_RAW ? -15 : wrapper == SL_ZLIB ? 15 : 15 + 16;
	z_stream z = {.next_in = (z_const Bytef *)bytes, .avail_in = (uInt)size};

	assert_int_equal(inflateInit2(&z, window), Z_OK);
	z.next_out = (Bytef *)back;
	z.avail_out = sizeof(back);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(inflateEnd(&z), Z_OK);
	return z.total_out;
}

struct bench {
	struct sl_guarded scratch, out;
	struct sl_exec x;
};

static struct bench bench_make(const struct sl_backend *b, size_t in_bytes, int level)
{
	struct sl_shape shape = {.in_bytes = in_bytes, .level = level};
	struct bench k;

	assert_ok(sl_guarded_get(SL_HOST, sl_scratch(b, &shape), &k.scratch));
	assert_ok(sl_guarded_get(SL_HOST, sl_deflate_most(in_bytes, 0, 1), &k.out));
	k.x = (struct sl_exec){.space = SL_HOST, .scratch = {k.scratch.at, 0, k.scratch.bytes}};
	return k;
}

static void bench_free(struct bench *k)
{
	assert_ok(sl_guarded_check(&k->scratch, "scratch"));
	assert_ok(sl_guarded_check(&k->out, "out"));
	sl_guarded_give(&k->scratch);
	sl_guarded_give(&k->out);
}

/* Compresses n bytes of in; checks that nothing was allocated. */
static size_t squeeze(const struct sl_backend *b, struct bench *k, size_t n, size_t out_size,
	int level, enum sl_wrapper wrapper)
{
	size_t out_bytes = 12345;
	struct sl_deflate_job job = {.in = in,
		.in_bytes = n,
		.out = k->out.at,
		.out_size = out_size,
		.out_bytes = &out_bytes,
		.level = level,
		.wrapper = wrapper};
	uint64_t before = allocations_of_thread();

	assert_ok(sl_deflate(b, &k->x, &job));
	assert_int_equal(allocations_of_thread(), before);
	return out_bytes;
}

static void round_trip(const struct sl_backend *b, size_t n, int level)
{
	struct bench k = bench_make(b, n, level);

	for (size_t w = 0; w < COUNT(wrappers); w++) {
		size_t bytes;

		memset(k.scratch.at, w % 2 ? 0x5a : 0xa5, k.scratch.bytes);
		memset(back, 0, n + 1);
		bytes = squeeze(b, &k, n, k.out.bytes, level, wrappers[w]);
		assert_true(bytes > 0);
		assert_int_equal(inflate_all(k.out.at, bytes, wrappers[w]), n);
		assert_memory_equal(back, in, n);
	}
	bench_free(&k);
}

/* Calls each(b) for every deflate backend of the host. */
static void for_each(void (*each)(const struct sl_backend *b))
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (b->primitive == SL_DEFLATE && b->space == SL_HOST)
			each(b);
}

/* Backends with one level are tested at one level, and not at the largest size. */
static bool is_skipped(const struct sl_backend *b, size_t n, int level)
{
	bool one_level =
		b == &sl_deflate_store || b == &sl_deflate_cpu || b == &sl_deflate_cpu_fast;

	return one_level && (level != levels[0] || n == MOST);
}

static void round_trips(const struct sl_backend *b)
{
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t s = 0; s < COUNT(sizes); s++) {
			make_input((enum kind)kind, sizes[s]);
			for (size_t l = 0; l < COUNT(levels); l++)
				if (!is_skipped(b, sizes[s], levels[l]))
					round_trip(b, sizes[s], levels[l]);
		}
}

TEST(output_inflates_to_the_input)
{
	for_each(round_trips);
}

/*
 * Bytes that cannot be compressed, at each level: the output has no byte more than
 * sl_deflate_most().
 */
static void fits_in_most(const struct sl_backend *b)
{
	static const size_t ns[] = {1, 100, 4000, 65535, 65536, 1 << 19};

	for (size_t s = 0; s < COUNT(ns); s++)
		for (int kind = RANDOM; kind <= HIGH; kind += HIGH - RANDOM) {
			make_input((enum kind)kind, ns[s]);
			for (int level = 1; level <= 9; level++)
				if (!is_skipped(b, ns[s], level))
					round_trip(b, ns[s], level);
		}
}

TEST(most_is_enough)
{
	for_each(fits_in_most);
}

static void shrinks(const struct sl_backend *b)
{
	struct bench k = bench_make(b, 1 << 20, 9);
	bool stores = strcmp(b->name, "store") == 0;

	make_input(CONSTANT, 1 << 20);
	assert_true(squeeze(b, &k, 1 << 20, k.out.bytes, 6, SL_ZLIB) < 2000 || stores);
	make_input(TEXT, 1 << 20);
	assert_true(squeeze(b, &k, 1 << 20, k.out.bytes, 9, SL_ZLIB) < (1 << 20) / 4 || stores ||
		    b == &sl_deflate_cpu_fast);
	make_input(RANDOM, 1 << 20);
	assert_true(squeeze(b, &k, 1 << 20, k.out.bytes, 1, SL_ZLIB) < (1 << 20) + 1000);
	bench_free(&k);
}

TEST(compressible_input_shrinks)
{
	for_each(shrinks);
}

/* Random bytes do not shrink, so every smaller output must be refused; overruns at both ends are detected. */
static void overflows(const struct sl_backend *b)
{
	enum { N = 65536 };
	struct bench k = bench_make(b, N, 6);

	make_input(RANDOM, N);
	for (size_t w = 0; w < COUNT(wrappers); w++)
		for (size_t capacity = 0; capacity < N; capacity += capacity < 40 ? 1 : 9973)
			assert_int_equal(squeeze(b, &k, N, capacity, 6, wrappers[w]), 0);
	bench_free(&k);
}

TEST(too_small_output_gives_zero_bytes)
{
	for_each(overflows);
}

/* An output of exactly the required bytes, which are the same, and one byte less. */
static void fits_exactly(const struct sl_backend *b)
{
	enum { N = 1000 };
	struct bench k = bench_make(b, N, 6);
	size_t bytes;

	make_input(TEXT, N);
	for (size_t w = 0; w < COUNT(wrappers); w++) {
		bytes = squeeze(b, &k, N, k.out.bytes, 6, wrappers[w]);
		memcpy(back, k.out.at, bytes);
		assert_int_equal(squeeze(b, &k, N, bytes - 1, 6, wrappers[w]), 0);
		memset(k.out.at, 0, bytes);
		assert_int_equal(squeeze(b, &k, N, bytes, 6, wrappers[w]), bytes);
		assert_memory_equal(back, k.out.at, bytes);
	}
	bench_free(&k);
}

TEST(exact_output_size_suffices)
{
	for_each(fits_exactly);
}

/* RFC 1952: magic, deflate, no flags (so no name), time 0. */
static void gzip_header(const struct sl_backend *b)
{
	const unsigned char want[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
	struct bench k = bench_make(b, 100, 6);

	make_input(TEXT, 100);
	assert_true(squeeze(b, &k, 100, k.out.bytes, 6, SL_GZIP) > 18);
	assert_memory_equal(k.out.at, want, sizeof(want));
	bench_free(&k);
}

TEST(gzip_has_no_name_and_no_time)
{
	for_each(gzip_header);
}

static void same_twice(const struct sl_backend *b)
{
	enum { N = 65536 };
	struct bench k = bench_make(b, N, 9);
	size_t first, second;

	make_input(TEXT, N);
	memset(k.scratch.at, 0xa5, k.scratch.bytes);
	first = squeeze(b, &k, N, k.out.bytes, 9, SL_ZLIB);
	memcpy(back, k.out.at, first);
	memset(k.scratch.at, 0x5a, k.scratch.bytes);
	second = squeeze(b, &k, N, k.out.bytes, 9, SL_ZLIB);
	assert_int_equal(first, second);
	assert_memory_equal(back, k.out.at, first);
	bench_free(&k);
}

TEST(bytes_do_not_depend_on_scratch)
{
	for_each(same_twice);
}

/*
 * The output depends on nothing but the input, also not on where scratch is. In the input, only the
 * bytes from the third on are repeated: ISA-L without history finds the repetition at some addresses
 * only (isal.c).
 */
static void same_at_any_address(const struct sl_backend *b)
{
	static const char text[] = "01the weight of a particle;3the weight of a particle;4";
	enum { N = sizeof(text) - 1, ADDRESSES = 1500, SPACING = 1 << 16 };
	struct bench k = bench_make(b, N, 1);
	const size_t bytes = k.scratch.bytes + (size_t)ADDRESSES * SPACING;
	char *memory = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t first;

	assert_true(memory != MAP_FAILED);
	memcpy(in, text, N);
	first = squeeze(b, &k, N, k.out.bytes, 1, SL_RAW);
	memcpy(back, k.out.at, first);
	for (size_t i = 0; i < ADDRESSES; i++) {
		k.x.scratch.base = memory + i * SPACING;
		assert_int_equal(squeeze(b, &k, N, k.out.bytes, 1, SL_RAW), first);
		assert_memory_equal(back, k.out.at, first);
	}
	munmap(memory, bytes);
	bench_free(&k);
}

TEST(bytes_do_not_depend_on_addresses)
{
	for_each(same_at_any_address);
}

/* Other users of libdeflate get memory from malloc before, during and after a call of the library. */
TEST(other_compressors_still_use_malloc)
{
	struct libdeflate_compressor *theirs;
	struct bench k = bench_make(&sl_deflate_libdeflate, 1000, 6);
	uint64_t before;
	char out[2000];

	make_input(TEXT, 1000);
	before = allocations();
	theirs = libdeflate_alloc_compressor(6);
	assert_non_null(theirs);
	assert_true(allocations() > before);
	assert_true(squeeze(&sl_deflate_libdeflate, &k, 1000, k.out.bytes, 6, SL_ZLIB) > 0);
	assert_true(libdeflate_zlib_compress(theirs, in, 1000, out, sizeof(out)) > 0);
	libdeflate_free_compressor(theirs);
	bench_free(&k);
}

/* Small inputs: most of the time is spent in making compressors, where threads could interfere. */
enum { THREADS = 4, ROUNDS = 3000, EACH = 100 };

static void *work(void *result)
{
	struct bench k = bench_make(&sl_deflate_libdeflate, EACH, 6);
	size_t out_bytes, *bytes = (size_t *)result;
	struct sl_deflate_job job = {.in = in,
		.in_bytes = EACH,
		.out = k.out.at,
		.out_size = k.out.bytes,
		.out_bytes = &out_bytes,
		.level = 6,
		.wrapper = SL_RAW};

	for (int i = 0; i < ROUNDS; i++) {
		if (sl_deflate(&sl_deflate_libdeflate, &k.x, &job) != SL_OK)
			return NULL;
		*bytes += out_bytes;
	}
	bench_free(&k);
	return NULL;
}

TEST(threads_are_independent)
{
	size_t bytes[THREADS] = {0};
	pthread_t threads[THREADS];

	make_input(TEXT, EACH);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &bytes[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(bytes[i], bytes[0]);
	assert_true(bytes[0] > 0);
}
