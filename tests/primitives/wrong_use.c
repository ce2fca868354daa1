/*
 * wrong_use.c - tests that the checked calls and sl_find refuse each kind of invalid argument,
 * with its message.
 */
#include "primitives/primitives.h"
#include "tests/support/basic/check.h"

/* A valid call of each primitive; each test makes one argument invalid. */
struct bench {
	struct sl_exec x;
	struct sl_scan_job scan;
	struct sl_compact_job compact;
	struct sl_sort_job sort;
	struct sl_deflate_job deflate;
};

enum { N = 64 };
static _Alignas(SL_ALIGN) char scratch[1 << 20];
static uint64_t in[N], out[N];
static uint8_t keep[N];
static uint32_t index_of[N], n_out;
static size_t out_bytes;

static struct bench right(void)
{
	struct bench b = {.x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}},
		.scan = {.in = in, .out = out, .n = N, .type = SL_U64},
		.compact = {.keep = keep, .out = index_of, .n_out = &n_out, .n = N},
		.sort = {.key = in, .index = index_of, .n = N, .type = SL_U64, .end_bit = 64},
		.deflate = {.in = in,
			.in_bytes = sizeof(in),
			.out = out,
			.out_size = sizeof(out),
			.out_bytes = &out_bytes,
			.level = 6,
			.wrapper = SL_ZLIB}};

	return b;
}

static void *address_after(void *p, size_t bytes)
{
	return (char *)p + bytes;
}

TEST(valid_calls_pass)
{
	struct bench b = right();

	assert_ok(sl_scan(&sl_scan_cpu, &b.x, &b.scan));
	assert_ok(sl_compact(&sl_compact_cpu, &b.x, &b.compact));
	assert_ok(sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact));
	assert_ok(sl_sort(&sl_sort_cpu, &b.x, &b.sort));
	assert_ok(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate));
	assert_ok(sl_deflate(&sl_deflate_libdeflate, &b.x, &b.deflate));
}

/* Nothing is read or written, so pointers may be null. */
TEST(empty_jobs_pass)
{
	struct sl_exec x = {.space = SL_HOST, .scratch = {scratch, 0, sizeof(scratch)}};
	struct sl_scan_job scan = {.type = SL_U32};
	struct sl_compact_job compact = {.n_out = &n_out};
	struct sl_sort_job sort = {.type = SL_U32, .end_bit = 32};
	struct sl_deflate_job deflate = {.out_bytes = &out_bytes, .level = 1};

	assert_ok(sl_scan(&sl_scan_cpu, &x, &scan));
	assert_ok(sl_compact(&sl_compact_cpu, &x, &compact));
	assert_ok(sl_compact(&sl_compact_cpu_scan, &x, &compact));
	assert_ok(sl_sort(&sl_sort_cpu, &x, &sort));
	assert_ok(sl_deflate(&sl_deflate_zlib, &x, &deflate));
	assert_int_equal(out_bytes, 0);
	assert_ok(sl_deflate(&sl_deflate_libdeflate, &x, &deflate));
	assert_int_equal(out_bytes, 0);
}

TEST(null_arguments)
{
	struct bench b = right();

	assert_fails(sl_scan(NULL, &b.x, &b.scan), SL_USAGE,
		"scan: the backend is a null pointer; pass one (sl_find gives a backend)");
	assert_fails(sl_compact(&sl_compact_cpu, NULL, &b.compact), SL_USAGE,
		"compact: the exec is a null pointer");
	assert_fails(
		sl_sort(&sl_sort_cpu, &b.x, NULL), SL_USAGE, "sort: the job is a null pointer");
	assert_fails(sl_deflate(NULL, &b.x, &b.deflate), SL_USAGE,
		"deflate: the backend is a null pointer");
}

TEST(backends_of_another_primitive)
{
	struct bench b = right();

	assert_fails(sl_scan(&sl_sort_cpu, &b.x, &b.scan), SL_USAGE,
		"scan: backend 'cpu' implements sort, not scan; get a backend of the right primitive from sl_find()");
	assert_fails(sl_compact(&sl_scan_cpu, &b.x, &b.compact), SL_USAGE,
		"implements scan, not compact");
	assert_fails(sl_sort(&sl_compact_cpu_scan, &b.x, &b.sort), SL_USAGE,
		"sort: backend 'cpu_scan' implements compact, not sort");
	assert_fails(sl_deflate(&sl_scan_cpu, &b.x, &b.deflate), SL_USAGE, "not deflate");
}

TEST(backends_of_another_space)
{
	struct bench b = right();

	b.x.space = SL_DEVICE;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE,
		"scan/cpu works on host memory, but the exec's space is device; "
		"choose a backend of that space");
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"deflate/zlib works on host memory");
	b.x.space = SL_PINNED;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "the exec's space is pinned");
}

TEST(null_data)
{
	struct bench b = right();

	b.scan.in = NULL;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE,
		"scan/cpu: in is a null pointer, but has 64 items; pass the address of the items");
	b = right();
	b.compact.keep = NULL;
	assert_fails(
		sl_compact(&sl_compact_cpu, &b.x, &b.compact), SL_USAGE, "keep is a null pointer");
	b = right();
	b.compact.n = 0;
	b.compact.n_out = NULL;
	assert_fails(
		sl_compact(&sl_compact_cpu, &b.x, &b.compact), SL_USAGE, "n_out is a null pointer");
	b = right();
	b.sort.key = NULL;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "key is a null pointer");
	b = right();
	b.deflate.out = NULL;
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"deflate/zlib: out is a null pointer, but has 512 items");
	b = right();
	b.deflate.out_bytes = NULL;
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"out_bytes is a null pointer");
}

TEST(misaligned_items)
{
	struct bench b = right();

	b.scan.in = address_after(in, 4);
	b.scan.n = 1;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE,
		"is not aligned to its items of 8 bytes; align it to a multiple of its item size");
	b.scan.type = SL_U32;
	assert_ok(sl_scan(&sl_scan_cpu, &b.x, &b.scan));
	b.compact.out = (uint32_t *)address_after(index_of, 2);
	b.compact.n = 1;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &b.compact), SL_USAGE,
		"is not aligned to its items of 4 bytes");
	b.sort.key = address_after(in, 1);
	b.sort.n = 1;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "sort/cpu: key at ");
}

TEST(scratch_too_small_or_misaligned)
{
	struct bench b = right();
	struct sl_shape shape = {.n = N};
	size_t needed = sl_scratch(&sl_compact_cpu_scan, &shape);

	assert_int_equal(needed, N * sizeof(uint32_t));
	b.x.scratch.size = needed - 1;
	assert_fails(sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact), SL_USAGE,
		"compact/cpu_scan: scratch has 255 bytes left, 256 are needed; allocate the bytes that "
		"sl_scratch() returns");
	b.x.scratch.size = needed;
	assert_ok(sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact));
	b.x.scratch.used = 1; /* the next cut begins 256 bytes in */
	assert_fails(sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact), SL_USAGE,
		"scratch has 0 bytes left");
	b.x.scratch = (struct sl_arena){NULL, 0, sizeof(scratch)};
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: scratch has 0 bytes left, 8960 are needed");
	b.x.scratch = (struct sl_arena){scratch + 16, 0, sizeof(scratch) - 16};
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"is not aligned to 256 bytes, as arenas are; take it from sl_memory_get");
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE, "is not aligned");
}

TEST(bits_and_types_out_of_range)
{
	struct bench b = right();

	b.sort.end_bit = 65;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: bits 0 to 65 are out of range: keys have 64 bits; use "
		"begin_bit <= end_bit <= 64");
	b.sort.type = SL_U32;
	b.sort.end_bit = 33;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "keys have 32 bits");
	b.sort.begin_bit = 9;
	b.sort.end_bit = 8;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "bits 9 to 8");
	b.sort.type = (enum sl_type)7;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: type 7 is unknown; use SL_U32 or SL_U64");
	b.scan.type = (enum sl_type)2;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE, "scan/cpu: type 2 is unknown");
}

TEST(levels_and_wrappers_out_of_range)
{
	struct bench b = right();

	b.deflate.level = 0;
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"deflate/zlib: level 0 is out of range; use 1 (fast) to 9 (small)");
	b.deflate.level = 10;
	assert_fails(sl_deflate(&sl_deflate_libdeflate, &b.x, &b.deflate), SL_USAGE,
		"deflate/libdeflate: level 10 is out of range");
	b.deflate.level = 1;
	b.deflate.wrapper = (enum sl_wrapper)3;
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"deflate/zlib: wrapper 3 is unknown; use SL_RAW, SL_ZLIB or SL_GZIP");
	b = right();
	b.deflate.item_bytes = 3;
	assert_fails(sl_deflate(&sl_deflate_store, &b.x, &b.deflate), SL_USAGE,
		"deflate/store: item_bytes 3 is not supported; use 1, 2, 4 or 8");
	b.deflate.item_bytes = 16;
	assert_fails(sl_deflate(&sl_deflate_cpu, &b.x, &b.deflate), SL_USAGE, "item_bytes 16");
	b.deflate.item_bytes = 8;
	b.deflate.chunk_bytes = 12;
	assert_fails(sl_deflate(&sl_deflate_cpu, &b.x, &b.deflate), SL_USAGE,
		"deflate/cpu: 512 bytes in chunks of 12 are not whole items of 8 bytes; "
		"use multiples of 8");
	b.deflate.in_bytes = 511;
	b.deflate.chunk_bytes = 0;
	assert_fails(sl_deflate(&sl_deflate_cpu, &b.x, &b.deflate), SL_USAGE, "511 bytes");
}

TEST(overlapping_memory)
{
	struct bench b = right();

	b.scan.in = in;
	b.scan.out = address_after(in, 8);
	b.scan.n = N - 1;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE,
		"scan/cpu: in and out overlap, so one would overwrite the other; give each its own "
		"memory");
	b.scan.out = in; /* in place is allowed */
	assert_ok(sl_scan(&sl_scan_cpu, &b.x, &b.scan));
	b.scan.out = scratch;
	assert_fails(sl_scan(&sl_scan_cpu, &b.x, &b.scan), SL_USAGE, "out and scratch overlap");
	b.compact.n_out = &index_of[N - 1];
	assert_fails(
		sl_compact(&sl_compact_cpu, &b.x, &b.compact), SL_USAGE, "n_out and out overlap");
	b = right();
	b.compact.keep = (const uint8_t *)index_of + sizeof(index_of) - N;
	assert_fails(
		sl_compact(&sl_compact_cpu, &b.x, &b.compact), SL_USAGE, "out and keep overlap");
	b.sort.index = (uint32_t *)in;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "index and key overlap");
	b.deflate.out = address_after(in, sizeof(in) - 1);
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"deflate/zlib: out and in overlap");
	b = right();
	b.deflate.out_used = b.deflate.out_bytes;
	assert_fails(sl_deflate(&sl_deflate_zlib, &b.x, &b.deflate), SL_USAGE,
		"out_used and out_bytes overlap");
}

/* The compaction of b with this many columns; only the first two are valid. */
static struct sl_compact_job with_columns(
	const struct bench *b, struct sl_compact_column *column, uint32_t n_columns)
{
	struct sl_compact_job job = b->compact;

	column[0] = (struct sl_compact_column){in, out, sizeof(in[0])};
	column[1] = (struct sl_compact_column){keep, scratch, 1};
	job.n = N / 2;
	job.n_columns = n_columns;
	job.column = column;
	return job;
}

TEST(columns_out_of_range)
{
	struct sl_compact_column column[2];
	struct bench b = right();
	struct sl_compact_job job = with_columns(&b, column, 2);

	b.x.scratch = (struct sl_arena){scratch + N * SL_ALIGN, 0, SL_ALIGN};
	assert_ok(sl_compact(&sl_compact_cpu, &b.x, &job)); /* flags may be a column too */
	job.out = NULL;
	assert_ok(sl_compact(&sl_compact_cpu_scan, &b.x, &job));
	job.n_columns = 0;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE, "out is a null pointer");
	job.n_columns = 25;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"compact/cpu: 25 columns are too many; a call takes at most 24, so split them over "
		"several calls");
	job.n_columns = 1;
	job.column = NULL;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"column is a null pointer, but n_columns is 1; pass the address of the columns");
	job = with_columns(&b, column, 2);
	for (uint32_t bytes = 0; bytes < 70; bytes++) {
		column[1].bytes = bytes;
		if (bytes == 0 || bytes > 32 || (bytes & (bytes - 1)) != 0)
			assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
				"bytes; use 1, 2, 4, 8, 16 or 32");
	}
	assert_non_null(strstr(sl_last_error(), "column[1] has items of 69 bytes"));
}

TEST(columns_in_wrong_memory)
{
	struct sl_compact_column column[2];
	struct bench b = right();
	struct sl_compact_job job = with_columns(&b, column, 2);

	b.x.scratch = (struct sl_arena){scratch + N * SL_ALIGN, 0, SL_ALIGN};
	column[1].to = NULL;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"column[1].to is a null pointer, but has 32 items");
	job = with_columns(&b, column, 2);
	column[0].from = address_after(in, 4);
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE, "column[0].from at ");
	job = with_columns(&b, column, 2);
	column[0] = (struct sl_compact_column){address_after(in, 8), scratch + 256, 32};
	job.n = 1;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"is not aligned to its items of 16 bytes");
	job = with_columns(&b, column, 2);
	column[0].to = address_after(in, sizeof(in[0]) * (N / 2 - 1));
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"column[0].to and column[0].from overlap");
	job = with_columns(&b, column, 2);
	column[1].to = out;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"column[1].to and column[0].to overlap");
	column[1].to = b.x.scratch.base;
	assert_fails(sl_compact(&sl_compact_cpu, &b.x, &job), SL_USAGE,
		"column[1].to and scratch overlap");
}

/* Of two outputs that belong together, one is NULL. */
TEST(output_without_its_pair)
{
	static uint32_t index_out[N];
	struct bench b = right();

	b.sort.key_out = out;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: key_out is given, but index_out is not; pairs need both outputs, or "
		"neither to sort in place");
	b.sort.index_out = index_out;
	assert_ok(sl_sort(&sl_sort_cpu, &b.x, &b.sort));
	b.sort.key_out = NULL;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: index_out is given, but key_out is not");
	b.sort.index = NULL;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE,
		"sort/cpu: index_out is given, but index is not; give both, or neither to sort keys "
		"only");
	b.sort.key_out = out;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "index is not");
	b.sort.index_out = NULL;
	assert_ok(sl_sort(&sl_sort_cpu, &b.x, &b.sort));
	b.sort.key_out = in;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "key_out and key overlap");
	b.sort.key_out = address_after(out, 4);
	b.sort.n = N - 1;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "sort/cpu: key_out at ");
	b = right();
	b.sort.key_out = out;
	b.sort.index_out = index_of;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "index_out and index overlap");
	b.sort.index_out = (uint32_t *)address_after(index_out, 2);
	b.sort.n = N - 1;
	assert_fails(sl_sort(&sl_sort_cpu, &b.x, &b.sort), SL_USAGE, "sort/cpu: index_out at ");
}

TEST(inner_scan_of_another_primitive)
{
	struct sl_backend elsewhere = sl_scan_cpu;
	struct bench b = right();

	b.compact.scan.backend = &sl_sort_cpu;
	assert_fails(sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact), SL_USAGE,
		"compact/cpu_scan: the job's scan 'cpu' is not a scan on host memory; leave it out or "
		"choose one of that space");
	elsewhere.space = SL_DEVICE;
	b.compact.scan.backend = &elsewhere;
	assert_fails(
		sl_compact(&sl_compact_cpu_scan, &b.x, &b.compact), SL_USAGE, "is not a scan on");
	assert_ok(sl_compact(&sl_compact_cpu, &b.x, &b.compact)); /* has no scan inside */
}

TEST(unknown_names)
{
	const struct sl_backend *found = &sl_scan_cpu;

	assert_fails(sl_find(SL_COMPACT, "warp", &found), SL_USAGE,
		"there is no compact 'warp': no backend has that name; choose one of cpu, "
		"cpu_scan");
	assert_null(found);
	assert_fails(sl_find(SL_DEFLATE, "", &found), SL_USAGE,
		"choose one of store, zlib, isal, libdeflate, cpu, cpu_fast");
	assert_fails(sl_find(SL_SORT, "CPU", &found), SL_USAGE, "there is no sort 'CPU'");
#ifndef SL_WITH_CUDA
	assert_fails(sl_find(SL_SCAN, "naive", &found), SL_USAGE,
		"there is no scan 'naive': it needs CUDA and this build has none; choose one of "
		"cpu");
#endif
	assert_string_equal(sl_primitive_name(SL_PRIMITIVE_COUNT), "unknown primitive");
}
