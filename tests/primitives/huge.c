/*
 * huge.c - tests scan, compact and sort of about 2^31 and of 2^32 - 1 items, where an index exceeds
 * int and a byte count exceeds 32 bits.
 *
 * The device makes the inputs and checks the results (huge_kernels.h). A job that does not fit into
 * device memory, or would take minutes, is left out with a message. Without a device, the program
 * tests its own checks with few items on the emulated device, and reports that it was skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "huge_kernels.h"
#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

#define ABOUT_2_31 (UINT32_C(1) << 31)

static bool emulated;
static uint64_t *count_of_device; /* in device memory */

/* The size, or a small one of the same parity on the emulated device. */
static uint32_t size_of(uint32_t n)
{
	return emulated ? 3000 + n % 1024 : n;
}

static enum sl_status huge_do(const struct huge_job *job, uint64_t *count)
{
	SL_TRY(sl_fill(count_of_device, 0, sizeof(*count_of_device), NULL));
	SL_TRY(SL_LAUNCHER(huge_queue)(job, count_of_device));
	SL_TRY(sl_copy(count, count_of_device, sizeof(*count), NULL));
	return sl_stream_wait(NULL);
}

static enum sl_status expect_count(const struct huge_job *job, uint64_t want, const char *what)
{
	uint64_t count = 0;

	SL_TRY(huge_do(job, &count));
	if (count == want)
		return SL_OK;
	return sl_fail(SL_CHECK_FAILED, "%s: %llu instead of %llu", what, (unsigned long long)count,
		(unsigned long long)want);
}

static enum sl_status make_items(void *to, uint64_t n, uint32_t bytes, uint32_t mask)
{
	return expect_count(
		&(struct huge_job){
			.work = HUGE_MAKE_ITEMS, .n = n, .bytes = bytes, .mask = mask, .to = to},
		0, "items");
}

/* --- memory and backends ---------------------------------------------------------------------- */

enum { BLOCKS = 8 };

/* Guarded device memory of one job. */
struct job_memory {
	struct sl_guarded block[BLOCKS];
	int n;
};

/* Device memory that begins off bytes after an aligned address, filled with 0xa5. */
static enum sl_status get(struct job_memory *m, size_t bytes, size_t off, void **p)
{
	struct sl_guarded *g = &m->block[m->n];

	SL_TRY(sl_guarded_get_offset(SL_DEVICE, bytes, off, g));
	m->n++;
	*p = g->at;
	return sl_fill(*p, 0xa5, bytes, NULL);
}

static enum sl_status get_scratch(struct job_memory *m, const struct sl_backend *b,
	const struct sl_shape *shape, struct sl_exec *x)
{
	size_t bytes = sl_scratch(b, shape);
	void *p;

	SL_TRY(get(m, bytes, 0, &p));
	*x = (struct sl_exec){.space = SL_DEVICE, .scratch = {p, 0, bytes}};
	return SL_OK;
}

static enum sl_status check_canaries(const struct job_memory *m)
{
	for (int i = 0; i < m->n; i++)
		SL_TRY(sl_guarded_check(&m->block[i], "a buffer"));
	return SL_OK;
}

typedef enum sl_status huge_trial(
	const struct sl_backend *b, uint32_t n, int variant, struct job_memory *m);

/*
 * Tries all backends of p that a variant allows; a job that is too large for the device is left
 * out.
 */
static void try_backends(
	enum sl_primitive p, const char *only, uint32_t n, int variant, huge_trial *run)
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_of(p, SL_DEVICE, i)) != NULL; i++) {
		struct job_memory m = {.n = 0};
		enum sl_status s;

		if (only && !strstr(only, b->name))
			continue;
		s = run(b, size_of(n), variant, &m);
		if (s == SL_OK)
			s = check_canaries(&m);
		while (m.n > 0)
			sl_guarded_give(&m.block[--m.n]);
		if (s == SL_DEVICE_MEMORY)
			printf("%s/%s of %u items is left out: %s\n", sl_primitive_name(p), b->name,
				n, sl_last_error());
		else
			assert_ok(sl_add_context(s, "%s/%s, n=%u, variant %d", sl_primitive_name(p),
				b->name, n, variant));
	}
}

/* --- scan ------------------------------------------------------------------------------------- */

enum { IN_PLACE, UNALIGNED, WORDS_OF_64_BITS };

static enum sl_status scan(
	const struct sl_backend *b, uint32_t n, int variant, struct job_memory *m)
{
	const enum sl_type type = variant == WORDS_OF_64_BITS ? SL_U64 : SL_U32;
	const uint32_t bytes = (uint32_t)sl_type_bytes(type);
	const size_t off = variant == UNALIGNED ? bytes : 0;
	struct sl_scan_job job = {.n = n, .type = type, .inclusive = n % 2 == 0};
	struct sl_exec x;
	void *in, *out;

	SL_TRY(get(m, (size_t)n * bytes, off, &in));
	out = in;
	if (variant == UNALIGNED)
		SL_TRY(get(m, (size_t)n * bytes, 2 * off, &out));
	job.in = in;
	job.out = out;
	SL_TRY(get_scratch(m, b, &(struct sl_shape){.n = n, .type = type}, &x));
	SL_TRY(make_items(in, n, bytes, UINT32_MAX));
	SL_TRY(sl_scan(b, &x, &job));
	return expect_count(&(struct huge_job){.work = HUGE_COUNT_SUMS,
				    .n = n,
				    .bytes = bytes,
				    .mask = UINT32_MAX,
				    .inclusive = job.inclusive,
				    .from = out},
		0, "wrong sums");
}

TEST(scans)
{
	try_backends(SL_SCAN, NULL, ABOUT_2_31 - 1, IN_PLACE, scan);
	try_backends(SL_SCAN, NULL, ABOUT_2_31, IN_PLACE, scan);
	try_backends(SL_SCAN, NULL, ABOUT_2_31 + 1, IN_PLACE, scan);
	try_backends(SL_SCAN, NULL, UINT32_MAX, IN_PLACE, scan);
	try_backends(SL_SCAN, "shared thrust", UINT32_MAX, UNALIGNED, scan);
	try_backends(SL_SCAN, "shared thrust", ABOUT_2_31 + 3, WORDS_OF_64_BITS, scan);
}

/* --- compact ---------------------------------------------------------------------------------- */

static enum sl_status check_survivors(
	const struct sl_compact_job *job, const struct huge_job *flags, uint64_t want)
{
	struct huge_job survivors = *flags;
	uint32_t n_out = 0;

	SL_TRY(sl_copy(&n_out, job->n_out, sizeof(n_out), NULL));
	SL_TRY(sl_stream_wait(NULL));
	if (n_out != want)
		return sl_fail(SL_CHECK_FAILED, "%u survivors were counted, not %llu", n_out,
			(unsigned long long)want);
	survivors.work = HUGE_COUNT_INDICES;
	survivors.n = n_out;
	survivors.index = job->out;
	SL_TRY(expect_count(&survivors, 0, "wrong indices"));
	for (uint32_t k = 0; k < job->n_columns; k++)
		SL_TRY(expect_count(&(struct huge_job){.work = HUGE_COUNT_MOVED,
					    .n = n_out,
					    .bytes = job->column[k].bytes,
					    .mask = UINT32_MAX,
					    .from = job->column[k].to,
					    .index = job->out},
			0, "wrong items"));
	return SL_OK;
}

/* A column of items of 4 bytes, and one of single bytes at odd addresses. */
static enum sl_status get_columns(
	struct sl_compact_job *job, struct sl_compact_column column[2], struct job_memory *m)
{
	void *p[4];

	for (int k = 0; k < 2; k++) {
		const uint32_t bytes = k == 0 ? 4 : 1;

		SL_TRY(get(m, (size_t)job->n * bytes, k == 0 ? 0 : 1, &p[2 * k]));
		SL_TRY(get(m, (size_t)job->n * bytes, k == 0 ? 0 : 5, &p[2 * k + 1]));
		SL_TRY(make_items(p[2 * k], job->n, bytes, UINT32_MAX));
		column[k] = (struct sl_compact_column){p[2 * k], p[2 * k + 1], bytes};
	}
	job->n_columns = 2;
	job->column = column;
	return SL_OK;
}

enum { WITH_COLUMNS = HUGE_LAST + 1 };

static enum sl_status compact(
	const struct sl_backend *b, uint32_t n, int variant, struct job_memory *m)
{
	const bool columns = variant == WITH_COLUMNS;
	struct huge_job flags = {.work = HUGE_MAKE_FLAGS, .n = n, .flags = n};
	struct sl_compact_column column[2];
	struct sl_compact_job job = {.n = n};
	struct sl_shape shape = {.n = n, .n_columns = columns ? 2 : 0};
	struct sl_exec x;
	uint64_t want = 0;

	flags.alive = columns ? HUGE_THIRD : (enum huge_alive)variant;
	SL_TRY(get(m, n, columns ? 3 : 0, &flags.to));
	SL_TRY(get(m, (size_t)n * sizeof(uint32_t), 0, (void **)&job.out));
	SL_TRY(get(m, sizeof(uint32_t), 0, (void **)&job.n_out));
	if (columns)
		SL_TRY(get_columns(&job, column, m));
	SL_TRY(get_scratch(m, b, &shape, &x));
	SL_TRY(huge_do(&flags, &want));
	job.keep = (const uint8_t *)flags.to;
	SL_TRY(sl_compact(b, &x, &job));
	return check_survivors(&job, &flags, want);
}

TEST(compactions)
{
	try_backends(SL_COMPACT, NULL, ABOUT_2_31 - 1, HUGE_THIRD, compact);
	try_backends(SL_COMPACT, NULL, ABOUT_2_31, HUGE_ALL, compact);
	try_backends(SL_COMPACT, NULL, ABOUT_2_31 + 1, HUGE_THIRD, compact);
	for (int alive = HUGE_THIRD; alive <= HUGE_LAST; alive++)
		try_backends(SL_COMPACT, NULL, UINT32_MAX, alive, compact);
	try_backends(SL_COMPACT, "shared work_efficient", ABOUT_2_31 + 1, WITH_COLUMNS, compact);
}

/* --- sort ------------------------------------------------------------------------------------- */

/* The bits of the keys. With few bits, one digit has more than 2^31 keys. */
static const uint32_t masks[] = {UINT32_MAX, UINT32_C(3) << 22, 0};

/* Keys alone, or from PAIRS on with indices. */
enum { PAIRS = 3 };

static enum sl_status sort(
	const struct sl_backend *b, uint32_t n, int variant, struct job_memory *m)
{
	const bool pairs = variant >= PAIRS;
	const struct sl_shape shape = {.n = n, .type = SL_U32, .keys_only = !pairs};
	struct huge_job work = {
		.work = HUGE_ADD_ITEMS, .n = n, .bytes = 4, .mask = masks[variant % PAIRS]};
	struct sl_sort_job job = {.n = n, .type = SL_U32, .end_bit = 32};
	struct sl_exec x;
	uint64_t sum = 0;

	SL_TRY(get(m, (size_t)n * sizeof(uint32_t), 0, &job.key));
	if (pairs) {
		SL_TRY(get(m, (size_t)n * sizeof(uint32_t), 0, (void **)&job.index));
		SL_TRY(expect_count(
			&(struct huge_job){.work = HUGE_MAKE_INDICES, .n = n, .to = job.index}, 0,
			"indices"));
	}
	SL_TRY(get_scratch(m, b, &shape, &x));
	SL_TRY(make_items(job.key, n, work.bytes, work.mask));
	SL_TRY(huge_do(&work, &sum));
	SL_TRY(sl_sort(b, &x, &job));
	work.from = job.key;
	work.index = job.index;
	work.work = HUGE_COUNT_PAIRS;
	if (pairs)
		return expect_count(&work, 0, "wrong pairs");
	work.work = HUGE_ADD_KEYS;
	SL_TRY(expect_count(&work, sum, "sum of the hashes of the keys"));
	work.work = HUGE_COUNT_ORDER;
	return expect_count(&work, 0, "keys that precede a smaller one");
}

/* naive would take a minute for each size: 32 passes of 31 passes. */
TEST(sorts)
{
	static const char fast[] = "shared work_efficient tiled thrust",
			  two[] = "shared work_efficient";

	try_backends(SL_SORT, fast, ABOUT_2_31 - 1, 0, sort);
	try_backends(SL_SORT, two, ABOUT_2_31, 1, sort);
	try_backends(SL_SORT, NULL, ABOUT_2_31 + 1, 0, sort);
	try_backends(SL_SORT, fast, UINT32_MAX, 0, sort);
	try_backends(SL_SORT, two, UINT32_MAX, 1, sort);
	for (int bits = 0; bits < 3; bits++)
		try_backends(SL_SORT, two, ABOUT_2_31 + 5, PAIRS + bits, sort);
	try_backends(SL_SORT, "shared", UINT32_MAX, PAIRS, sort);
}

BEFORE_TESTS()
{
	int n;

	emulated = sl_device_count(&n) != SL_OK;
	if (!emulated && sl_sampling_skips_size(ABOUT_2_31))
		skip_file("SLUICE_LARGEST is less than %u items; unset it", ABOUT_2_31);
	sl_device_emulate(emulated);
	assert_ok(sl_memory_get(SL_DEVICE, sizeof(*count_of_device), (void **)&count_of_device));
}

AFTER_TESTS()
{
	sl_memory_give(SL_DEVICE, count_of_device);
	if (emulated)
		skip_file(
			"the sizes about 2^31 need a CUDA device; the same calls were tried with few items");
}
