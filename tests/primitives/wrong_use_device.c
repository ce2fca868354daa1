/*
 * wrong_use_device.c - tests that every device backend refuses invalid arguments with a message
 * and queues no work.
 *
 * On the emulated device, and again on CUDA's where there is one, which adds the backends that
 * cannot be emulated.
 */
#include <stdio.h>

#include "primitives/primitives.h"
#include "tests/support/basic/check.h"

enum { N = 64, COLUMNS = 3, COLUMN_BYTES = N * sizeof(uint64_t) };

/* A valid call of one backend; each test makes one argument invalid. */
struct call {
	const struct sl_backend *b;
	struct sl_exec x;
	union {
		struct sl_scan_job scan;
		struct sl_compact_job compact;
		struct sl_sort_job sort;
	};
};

static char *columns;     /* in device memory, COLUMNS of COLUMN_BYTES */
static char *scratch;     /* as much as any of them asks for */
static char *words;       /* SL_ALIGN bytes for small results */
static size_t most_bytes; /* of scratch */

static size_t scratch_of(const struct sl_backend *b)
{
	const struct sl_shape shape = {.n = N, .type = SL_U64};

	return sl_scratch(b, &shape);
}

/* A backend of scan, compact or sort; deflate has a separate test. */
static bool is_ours(const struct sl_backend *b)
{
	return b->space == SL_DEVICE && b->primitive != SL_DEFLATE;
}

static struct call right(const struct sl_backend *b)
{
	struct call c = {.b = b, .x = {.space = SL_DEVICE, .scratch = {scratch, 0, scratch_of(b)}}};
	uint32_t *index = (uint32_t *)(void *)(columns + COLUMN_BYTES);

	if (b->primitive == SL_SCAN)
		c.scan = (struct sl_scan_job){
			.in = columns, .out = index, .n = N, .type = SL_U64, .inclusive = true};
	else if (b->primitive == SL_COMPACT)
		c.compact = (struct sl_compact_job){.keep = (const uint8_t *)columns,
			.out = index,
			.n_out = (uint32_t *)(void *)words,
			.n = N};
	else
		c.sort = (struct sl_sort_job){
			.key = columns, .index = index, .n = N, .type = SL_U64, .end_bit = 64};
	return c;
}

static enum sl_status queue(struct call *c)
{
	if (c->b->primitive == SL_SCAN)
		return sl_scan(c->b, &c->x, &c->scan);
	if (c->b->primitive == SL_COMPACT)
		return sl_compact(c->b, &c->x, &c->compact);
	return sl_sort(c->b, &c->x, &c->sort);
}

/* Waits too: what should have been refused must not still be there when its memory is given back.
 */
static enum sl_status run(struct call *c)
{
	SL_TRY(queue(c));
	return sl_stream_wait(NULL);
}

/* Runs check for every backend of the device; returns the number of backends. */
static int for_each(void (*check)(const struct sl_backend *b))
{
	const struct sl_backend *b;
	int n = 0;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++) {
		if (!is_ours(b))
			continue;
		check(b);
		n++;
	}
	return n;
}

#define EVERY_BACKEND(check)                              \
	TEST(every_##check)                               \
	{                                                 \
		assert_int_not_equal(0, for_each(check)); \
	}

/* "scan/naive: " and so on, then that text. */
static void assert_refused(struct call *c, const char *text)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%s", sl_primitive_name(c->b->primitive), c->b->name);
	assert_fails(run(c), SL_USAGE, text);
	assert_non_null(strstr(sl_last_error(), name));
}

static void right_call_passes(const struct sl_backend *b)
{
	struct call c = right(b);

	assert_ok(run(&c));
}
EVERY_BACKEND(right_call_passes)

static void null_arguments(const struct sl_backend *b)
{
	const char *name = sl_primitive_name(b->primitive);
	struct call c = right(b);
	enum sl_status no_exec, no_job;

	no_exec = b->primitive == SL_SCAN      ? sl_scan(b, NULL, &c.scan)
	          : b->primitive == SL_COMPACT ? sl_compact(b, NULL, &c.compact)
	                                       : sl_sort(b, NULL, &c.sort);
	assert_fails(no_exec, SL_USAGE, "the exec is a null pointer");
	assert_memory_equal(sl_last_error(), name, strlen(name));
	no_job = b->primitive == SL_SCAN      ? sl_scan(b, &c.x, NULL)
	         : b->primitive == SL_COMPACT ? sl_compact(b, &c.x, NULL)
	                                      : sl_sort(b, &c.x, NULL);
	assert_fails(no_job, SL_USAGE, "the job is a null pointer");
}
EVERY_BACKEND(null_arguments)

static void null_data(const struct sl_backend *b)
{
	struct call c = right(b);

	if (b->primitive == SL_SCAN) {
		c.scan.in = NULL;
		assert_refused(&c, "in is a null pointer, but has 64 items");
		c = right(b);
		c.scan.out = NULL;
		assert_refused(&c, "out is a null pointer");
	} else if (b->primitive == SL_COMPACT) {
		c.compact.keep = NULL;
		assert_refused(&c, "keep is a null pointer");
		c = right(b);
		c.compact.out = NULL;
		assert_refused(&c, "out is a null pointer");
		c = right(b);
		c.compact.n_out = NULL;
		assert_refused(&c, "n_out is a null pointer, but has 1 items");
	} else {
		c.sort.key = NULL;
		assert_refused(&c, "key is a null pointer");
		c = right(b);
		c.sort.key_out = columns + 2 * COLUMN_BYTES;
		assert_refused(&c, "key_out is given, but index_out is not");
	}
}
EVERY_BACKEND(null_data)

static void misaligned_data(const struct sl_backend *b)
{
	struct call c = right(b);

	if (b->primitive == SL_SCAN) {
		c.scan.in = columns + 4;
		assert_refused(&c, "is not aligned to its items of 8 bytes");
		c = right(b);
		c.scan.type = SL_U32;
		c.scan.out = columns + COLUMN_BYTES + 2;
		assert_refused(&c, "is not aligned to its items of 4 bytes");
	} else if (b->primitive == SL_COMPACT) {
		c.compact.out = (uint32_t *)(void *)(columns + COLUMN_BYTES + 1);
		assert_refused(&c, "out at");
		c = right(b);
		c.compact.n_out = (uint32_t *)(void *)(words + 2);
		assert_refused(&c, "n_out at");
	} else {
		c.sort.key = columns + 4;
		assert_refused(&c, "key at");
		c = right(b);
		c.sort.index = (uint32_t *)(void *)(columns + COLUMN_BYTES + 3);
		assert_refused(&c, "index at");
	}
}
EVERY_BACKEND(misaligned_data)

static void overlapping_data(const struct sl_backend *b)
{
	struct call c = right(b);

	if (b->primitive == SL_SCAN)
		c.scan.out = columns + sizeof(uint64_t);
	else if (b->primitive == SL_COMPACT)
		c.compact.out = (uint32_t *)(void *)columns;
	else
		c.sort.index = (uint32_t *)(void *)columns;
	assert_refused(&c, "overlap, so one would overwrite the other");
}
EVERY_BACKEND(overlapping_data)

static void a_byte_of_scratch_too_little(const struct sl_backend *b)
{
	struct call c = right(b);

	if (c.x.scratch.size == 0)
		return;
	c.x.scratch.size--;
	assert_refused(&c, "are needed; allocate the bytes that sl_scratch() returns");
	c = right(b);
	c.x.scratch.base = NULL;
	assert_refused(&c, "scratch has 0 bytes left");
}
EVERY_BACKEND(a_byte_of_scratch_too_little)

static void misaligned_scratch(const struct sl_backend *b)
{
	struct call c = right(b);

	c.x.scratch = (struct sl_arena){scratch + 16, 0, most_bytes};
	assert_refused(&c, "is not aligned to 256 bytes, as arenas are");
}
EVERY_BACKEND(misaligned_scratch)

static void another_space(const struct sl_backend *b)
{
	struct call c = right(b);

	c.x.space = SL_HOST;
	assert_refused(&c, "works on device memory, but the exec's space is host");
	c.x.space = SL_PINNED;
	assert_refused(&c, "the exec's space is pinned");
}
EVERY_BACKEND(another_space)

static void tuning_out_of_range(const struct sl_backend *b)
{
	struct call c = right(b);

	c.x.tuning.block = 4096;
	assert_refused(&c, b->tunable.block > 0
				   ? "block=4096 threads, but it takes multiples of"
				   : "the number of threads per block of this backend is fixed");
	c = right(b);
	c.x.tuning.items = 777;
	assert_refused(&c, b->tunable.items > 0
				   ? "items=777 per thread, but it takes one of"
				   : "the number of items per thread of this backend is fixed");
	c = right(b);
	c.x.tuning.padding = b->tunable.padding ? (enum sl_padding)3 : SL_PADDING_OFF;
	assert_refused(&c, b->tunable.padding
				   ? "padding=3, but it is SL_PADDING_ON or SL_PADDING_OFF"
				   : "padding=off, but this backend has no padding");
	if (b->tunable.block_step > 1) {
		c = right(b);
		c.x.tuning.block = b->tunable.block + 1;
		assert_refused(&c, "threads, but it takes multiples of");
	}
}
EVERY_BACKEND(tuning_out_of_range)

static void an_inner_scan_that_is_none(const struct sl_backend *b)
{
	struct sl_choice *scan;
	struct call c = right(b);

	if (!b->uses_scan)
		return;
	scan = b->primitive == SL_COMPACT ? &c.compact.scan : &c.sort.scan;
	scan->backend = &sl_scan_cpu;
	assert_refused(&c, "the job's scan 'cpu' is not a scan on device memory");
	scan->backend = b;
	assert_refused(&c, "is not a scan on device memory");
	assert_ok(sl_find(SL_SCAN, "naive", &scan->backend));
	scan->tuning.block = 4096;
	assert_fails(run(&c), SL_USAGE, "scan/naive: block=4096 threads");
}
EVERY_BACKEND(an_inner_scan_that_is_none)

static void unknown_types_and_bits(const struct sl_backend *b)
{
	struct call c = right(b);

	if (b->primitive == SL_COMPACT)
		return;
	if (b->primitive == SL_SCAN) {
		c.scan.type = (enum sl_type)2;
	} else {
		c.sort.end_bit = 65;
		assert_refused(&c, "bits 0 to 65 are out of range: keys have 64");
		c.sort.type = (enum sl_type)2;
	}
	assert_refused(&c, "type 2 is unknown");
}
EVERY_BACKEND(unknown_types_and_bits)

/* sl_scratch() cannot report an unknown type; it returns the scratch of SL_U64. */
static void scratch_of_an_unknown_type(const struct sl_backend *b)
{
	struct sl_shape wide = {.n = N, .type = SL_U64},
			unknown = {.n = N, .type = (enum sl_type)7};

	if (b->primitive == SL_SCAN || b->primitive == SL_SORT)
		assert_int_equal(sl_scratch(b, &unknown), sl_scratch(b, &wide));
}
EVERY_BACKEND(scratch_of_an_unknown_type)

BEFORE_TESTS()
{
	const struct sl_backend *b;

	for (size_t i = 0; (b = sl_backend_at(i)) != NULL; i++)
		if (is_ours(b) && scratch_of(b) > most_bytes)
			most_bytes = scratch_of(b);
	assert_ok(sl_memory_get(SL_DEVICE, COLUMNS * COLUMN_BYTES, (void **)&columns));
	assert_ok(sl_memory_get(SL_DEVICE, most_bytes + SL_ALIGN, (void **)&scratch));
	assert_ok(sl_memory_get(SL_DEVICE, SL_ALIGN, (void **)&words));
	assert_ok(sl_fill(columns, 0, COLUMNS * COLUMN_BYTES, NULL));
	assert_ok(sl_stream_wait(NULL));
}

AFTER_TESTS()
{
	sl_memory_give(SL_DEVICE, words);
	sl_memory_give(SL_DEVICE, scratch);
	sl_memory_give(SL_DEVICE, columns);
}

TEST(nothing_was_harmed)
{
	every_right_call_passes();
}

TEST_FILE(argc, argv)
{
	int failed, n;

	sl_device_emulate(true);
	failed = run_test_file("emulated");
	sl_device_emulate(false);
	if (sl_device_count(&n) == SL_OK)
		failed += run_test_file("device");
	return failed;
}
