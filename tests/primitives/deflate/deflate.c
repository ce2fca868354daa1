/*
 * deflate.c - tests every deflate backend of the host and of the emulated device: zlib restores the
 * output, which depends on nothing but the input, no call allocates memory outside its scratch, and
 * a stream that does not fit has 0 bytes. The encoders of the device write the bytes of their
 * specification, cpu or cpu_fast.
 */
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "primitives/deflate/deflate.h"
#include "tests/cases/jobs.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_inputs.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MOST = 1 << 17, JOBS = 700, JOB_MOST = 30000 };
enum { EMULATED_MOST = 60000, EMULATED_JOBS = 254, SEGMENTS = 2 };
#else
enum { MOST = 1 << 20, JOBS = 700, JOB_MOST = 120000 };
enum { EMULATED_MOST = 360000, EMULATED_JOBS = 80, SEGMENTS = 33 };
#endif
enum { SEGMENT = 1 << 15 };

/* The input of one test. */
static char in[MOST] __attribute__((aligned(8)));

/* Compresses the first bytes of the input to one stream, in plain memory; returns its bytes. */
static size_t squeeze(const struct sl_backend *b, size_t bytes, void *scratch, void *out)
{
	const struct sl_shape shape = {.in_bytes = bytes, .level = 6};
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sl_scratch(b, &shape)}};
	size_t got = 0;

	assert_ok(sl_deflate(b, &x,
		&(struct sl_deflate_job){.in = in,
			.in_bytes = bytes,
			.out = out,
			.out_size = sl_deflate_most(bytes, 0, 1),
			.out_bytes = &got,
			.level = 1}));
	return got;
}

/* --- the host --------------------------------------------------------------------------------- */

static void random_jobs(const struct sl_backend *b)
{
	const struct sl_sampled share = sl_sampling_share(JOBS);

	for (uint64_t k = share.first; k < JOBS; k += share.step)
		deflate_random(b, k, JOB_MOST);
}

/*
 * The same bytes wherever scratch is. In the input, only the bytes from the third on are repeated:
 * ISA-L without history finds the repetition at some addresses only (isal.c).
 */
static void same_at_any_address(const struct sl_backend *b)
{
	static const char text[] = "01the weight of a particle;3the weight of a particle;4";
	enum { N = sizeof(text) - 1, ADDRESSES = 1500, SPACING = 1 << 16, SCRATCH = 8 << 20 };
	char first[2 * N + 64], out[2 * N + 64], *memory;
	size_t bytes = 0, all = SCRATCH + (size_t)ADDRESSES * SPACING;

	assert_in_range(sl_scratch(b, &(struct sl_shape){.in_bytes = N, .level = 6}), 0, SCRATCH);
	memcpy(in, text, N);
	memory = (char *)mmap(NULL, all, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(memory != MAP_FAILED);
	for (size_t i = 0; i < ADDRESSES; i += sl_sampling_step(1)) {
		bytes = squeeze(b, N, memory + i * SPACING, i == 0 ? first : out);
		assert_true(i == 0 || memcmp(first, out, bytes) == 0);
	}
	munmap(memory, all);
}

static void shrinks(const struct sl_backend *b)
{
	const struct deflate_try fast = {.level = 1}, small = {.level = 9};
	const bool stores = b == &sl_deflate_store;

	deflate_input_make(DEFLATE_CONSTANT, MOST, in);
	assert_true(deflate_check(b, in, MOST, fast) < 8000 || stores);
	deflate_input_make(DEFLATE_TEXT, MOST, in);
	assert_true(deflate_check(b, in, MOST, small) < MOST / 4 || stores ||
		    b == &sl_deflate_cpu_fast);
	deflate_input_make(DEFLATE_RANDOM, MOST, in);
	assert_true(deflate_check(b, in, MOST, fast) < MOST + 1000);
}

/*
 * The same bytes at the largest distance that DEFLATE can express, and one byte farther; a segment
 * refers to earlier ones.
 */
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
 * A repeated text becomes matches with cpu only; with cpu_fast its three letters and the end of the
 * block have codes of 2 bits. A run is shortened by both.
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

/*
 * Compresses nothing, as if each stream were too long. With more room than its share, a stream
 * could take that of later ones.
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

TEST(every_backend_of_the_host)
{
	struct sl_backend lengthens = sl_deflate_store;
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_of(SL_DEFLATE, SL_HOST, i)) != NULL; i++) {
		random_jobs(b);
		same_at_any_address(b);
		shrinks(b);
	}
	lengthens.deflate = run_too_long; /* such streams are stored */
	random_jobs(&lengthens);
}

/*
 * Other users of libdeflate get memory from malloc before, during and after a call of the library.
 */
TEST(other_compressors_still_use_malloc)
{
	static char scratch[8 << 20] __attribute__((aligned(SL_ALIGN))), out[2000];
	const uint64_t before = allocations();
	struct libdeflate_compressor *theirs = libdeflate_alloc_compressor(6);

	assert_non_null(theirs);
	assert_true(allocations() > before);
	deflate_input_make(DEFLATE_TEXT, 1000, in);
	assert_true(squeeze(&sl_deflate_libdeflate, 1000, scratch, out) > 0);
	assert_true(libdeflate_zlib_compress(theirs, in, 1000, out, sizeof(out)) > 0);
	libdeflate_free_compressor(theirs);
}

/* Small inputs: most of the time is spent in making compressors, where threads could interfere. */
static void *work(void *result)
{
	size_t *bytes = (size_t *)result;
	void *scratch = aligned_alloc(SL_ALIGN, 8 << 20);
	char out[400];

	for (int i = 0; i < 500; i++)
		*bytes += squeeze(&sl_deflate_libdeflate, 100, scratch, out);
	free(scratch);
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
	const struct sl_backend *const encoders[] = {
		&sl_deflate_device_emulated, &sl_deflate_device_fast_emulated};
	static uint8_t many[SEGMENTS * SEGMENT + 9];

	sl_device_emulate(true);
	deflate_input_make(DEFLATE_CONSTANT, sizeof(many), many);
	many[sizeof(many) / 2] = 0;
	for (int i = 0; i < 2; i++) {
		const struct sl_sampled share = sl_sampling_share(EMULATED_JOBS);

		deflate_sweep(encoders[i], EMULATED_MOST);
		if (sl_sampling_selects())
			deflate_check(encoders[i], many, sizeof(many),
				(struct deflate_try){.wrapper = SL_GZIP, .exact = true});
		for (uint64_t k = share.first; k < EMULATED_JOBS; k += share.step) {
			sl_random_schedule(k);
			deflate_random(encoders[i], k, k % 4 < 3 ? 4000 : EMULATED_MOST / 4);
		}
	}
}
