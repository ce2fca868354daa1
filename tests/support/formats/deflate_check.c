/* deflate_check.c - see deflate_check.h. */
#include "tests/support/formats/deflate_check.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/deflate_inputs.h"

/* --- inflating -------------------------------------------------------------------------------- */

/* Sets to to the expected contents of chunk k: padded with zeros, and shuffled in byte planes. */
static size_t expect_chunk(
	const uint8_t *in, size_t bytes, const struct deflate_try *t, size_t k, uint8_t *to)
{
	size_t chunk = t->chunk_bytes ? t->chunk_bytes : bytes,
	       item = t->item_bytes + !t->item_bytes;
	size_t left = bytes - k * chunk, n = left < chunk && !t->whole_chunks ? left : chunk;

	for (size_t i = 0; i < n; i++) {
		size_t from = i % (n / item) * item + i / (n / item);

		to[i] = from < left ? in[k * chunk + from] : 0;
	}
	return n;
}

static void check_zlib(const void *stream, size_t size, enum sl_wrapper wrapper,
	const uint8_t *expected, size_t bytes, uint8_t *inflated)
{
	const int window = wrapper == SL_RAW ? -15 : wrapper == SL_ZLIB ? 15 : 15 + 16;
	z_stream z = {.next_in = (z_const Bytef *)stream, .avail_in = (uInt)size};

	assert_int_equal(inflateInit2(&z, window), Z_OK);
	z.next_out = inflated;
	z.avail_out = (uInt)bytes + 1;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	assert_int_equal(z.total_out, bytes);
	assert_int_equal(inflateEnd(&z), Z_OK);
	assert_memory_equal(inflated, expected, bytes);
}

static void check_libdeflate(const void *stream, size_t size, enum sl_wrapper wrapper,
	const uint8_t *expected, size_t bytes, uint8_t *inflated)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t n = 0, used = 0;
	enum libdeflate_result (*read)(struct libdeflate_decompressor *, const void *, size_t,
		void *, size_t, size_t *, size_t *) =
		wrapper == SL_RAW    ? libdeflate_deflate_decompress_ex
		: wrapper == SL_ZLIB ? libdeflate_zlib_decompress_ex
				     : libdeflate_gzip_decompress_ex;

	assert_non_null(d);
	memset(inflated, 0, bytes);
	assert_int_equal(read(d, stream, size, inflated, bytes + 1, &used, &n), LIBDEFLATE_SUCCESS);
	libdeflate_free_decompressor(d);
	assert_int_equal(used, size);
	assert_int_equal(n, bytes);
	assert_memory_equal(inflated, expected, bytes);
}

/* --- a job ------------------------------------------------------------------------------------ */

/* Guarded memory of a job in the space of its backend. sizes holds out_used, then the stream sizes. */
struct job_memory {
	const struct sl_backend *b;
	struct sl_guarded in, out, sizes, scratch;
	size_t streams;
};

static void job_memory_get(struct job_memory *k, const struct sl_backend *b, const void *in,
	size_t bytes, struct deflate_try t)
{
	struct sl_shape shape = {.in_bytes = bytes,
		.chunk_bytes = t.chunk_bytes,
		.item_bytes = t.item_bytes,
		.level = t.level ? t.level : 6};
	size_t most = sl_deflate_most(bytes, t.chunk_bytes, t.item_bytes);

	*k = (struct job_memory){.b = b, .streams = sl_deflate_streams(bytes, t.chunk_bytes)};
	assert_ok(sl_guarded_get(b->space, bytes, &k->in));
	assert_ok(sl_guarded_get(b->space, t.used + most, &k->out));
	assert_ok(sl_guarded_get(b->space, (k->streams + 1) * sizeof(size_t), &k->sizes));
	assert_ok(sl_guarded_get(b->space, sl_scratch(b, &shape), &k->scratch));
	assert_ok(sl_copy(k->in.at, in, bytes, NULL));
}

static void job_memory_give(struct job_memory *k)
{
	assert_ok(sl_guarded_check(&k->in, "in"));
	assert_ok(sl_guarded_check(&k->out, "out"));
	assert_ok(sl_guarded_check(&k->sizes, "out_bytes"));
	assert_ok(sl_guarded_check(&k->scratch, "scratch"));
	sl_guarded_give(&k->in);
	sl_guarded_give(&k->out);
	sl_guarded_give(&k->sizes);
	sl_guarded_give(&k->scratch);
}

static enum sl_status run_job(struct job_memory *k, struct deflate_try t, size_t scratch_bytes)
{
	struct sl_exec x = {.space = k->b->space, .scratch = {k->scratch.at, 0, scratch_bytes}};
	struct sl_deflate_job job = {.in = k->in.at,
		.in_bytes = k->in.bytes,
		.out = k->out.at,
		.out_size = k->out.bytes,
		.out_bytes = (size_t *)k->sizes.at + 1,
		.level = t.level ? t.level : 6,
		.wrapper = t.wrapper,
		.chunk_bytes = t.chunk_bytes,
		.item_bytes = t.item_bytes,
		.whole_chunks = t.whole_chunks,
		.out_used = (size_t *)k->sizes.at};

	return sl_deflate(k->b, &x, &job);
}

/* Fills all outputs with the byte poison, runs the job and copies them. The caller frees *out and *sizes. */
static void run_and_copy(
	struct job_memory *k, struct deflate_try t, int poison, uint8_t **out, size_t **sizes)
{
	void *p = malloc(k->out.bytes), *q = malloc(k->sizes.bytes);
	uint64_t before;

	assert_true(p && q);
	assert_ok(sl_fill(k->scratch.at, poison, k->scratch.bytes, NULL));
	assert_ok(sl_fill(k->out.at, poison, k->out.bytes, NULL));
	assert_ok(sl_fill(k->sizes.at, poison, k->sizes.bytes, NULL));
	assert_ok(sl_copy(k->sizes.at, &t.used, sizeof(t.used), NULL));
	assert_ok(sl_stream_wait(NULL)); /* a host backend does not wait for the stream */
	before = allocations_of_thread();
	assert_ok(run_job(k, t, k->scratch.bytes));
	assert_true(k->b->space != SL_HOST || allocations_of_thread() == before);
	assert_ok(sl_copy(p, k->out.at, k->out.bytes, NULL));
	assert_ok(sl_copy(q, k->sizes.at, k->sizes.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	*out = (uint8_t *)p;
	*sizes = (size_t *)q;
}

/* RFC 1952: magic, deflate, no flags (so no name), time 0. */
static const uint8_t gzip_header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};

/* Checks all streams of out in order; returns their bytes. */
static size_t check_streams(const uint8_t *in, size_t bytes, const struct deflate_try *t,
	const uint8_t *out, const size_t *sizes, size_t streams)
{
	size_t capacity = (t->chunk_bytes > bytes ? t->chunk_bytes : bytes) + 1, used = t->used;
	uint8_t *expected = (uint8_t *)malloc(capacity), *inflated = (uint8_t *)malloc(capacity);

	assert_true(expected && inflated);
	for (size_t k = 0; k < streams; k++) {
		size_t n = expect_chunk(in, bytes, t, k, expected);

		assert_true(sizes[k + 1] > 0);
		if (t->wrapper == SL_GZIP)
			assert_memory_equal(out + used, gzip_header, sizeof(gzip_header));
		check_zlib(out + used, sizes[k + 1], t->wrapper, expected, n, inflated);
		check_libdeflate(out + used, sizes[k + 1], t->wrapper, expected, n, inflated);
		used += sizes[k + 1];
	}
	assert_int_equal(sizes[0], used);
	free(expected);
	free(inflated);
	return used - t->used;
}

static void check_same(const struct sl_backend *b, const uint8_t *in, size_t bytes,
	struct deflate_try t, const uint8_t *out, const size_t *sizes, size_t streams)
{
	struct job_memory k;
	uint8_t *other;
	size_t *other_sizes;

	job_memory_get(&k, b, in, bytes, t);
	run_and_copy(&k, t, 0, &other, &other_sizes);
	job_memory_give(&k);
	assert_memory_equal(sizes, other_sizes, (streams + 1) * sizeof(*sizes));
	assert_memory_equal(out + t.used, other + t.used, sizes[0] - t.used);
	free(other);
	free(other_sizes);
}

/* The host backend that writes the same bytes. */
static const struct sl_backend *specification_of(const struct sl_backend *b)
{
	return strcmp(b->name, "device_fast") == 0 || b == &sl_deflate_cpu_fast
	               ? &sl_deflate_cpu_fast
	               : &sl_deflate_cpu;
}

void deflate_check_full_output(const struct sl_backend *b)
{
	/* 0 stands for exactly the bytes of out */
	static const size_t used[] = {0, SIZE_MAX / 2, SIZE_MAX - 100, SIZE_MAX - 1, SIZE_MAX};
	enum { BYTES = 1000, CHUNK = 100, POISON = 0x5a };
	uint8_t in[BYTES], *out;
	size_t *sizes;

	deflate_input_make(DEFLATE_TEXT, BYTES, in);
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		struct deflate_try t = {.chunk_bytes = CHUNK};
		struct job_memory k;

		job_memory_get(&k, b, in, BYTES, t);
		t.used = used[i] > 0 ? used[i] : k.out.bytes;
		run_and_copy(&k, t, POISON, &out, &sizes);
		assert_true(sizes[0] == t.used);
		for (size_t s = 1; s <= k.streams; s++)
			assert_int_equal(sizes[s], 0);
		for (size_t at = 0; at < k.out.bytes; at++)
			assert_int_equal(out[at], POISON);
		job_memory_give(&k);
		free(out);
		free(sizes);
	}
}

size_t deflate_check(const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t)
{
	struct job_memory k;
	uint8_t *out;
	size_t *sizes, total;

	job_memory_get(&k, b, in, bytes, t);
	if (k.scratch.bytes > 0)
		assert_fails(run_job(&k, t, k.scratch.bytes - 1), SL_USAGE, "scratch has");
	run_and_copy(&k, t, 0xa5, &out, &sizes);
	job_memory_give(&k);
	total = check_streams((const uint8_t *)in, bytes, &t, out, sizes, k.streams);
	check_same(b, (const uint8_t *)in, bytes, t, out, sizes, k.streams);
	if (t.exact)
		check_same(
			specification_of(b), (const uint8_t *)in, bytes, t, out, sizes, k.streams);
	free(out);
	free(sizes);
	return total;
}

/* --- jobs of several parts -------------------------------------------------------------------- */

/* Parts in the space of a backend, and memory for the output of all of them. */
struct parts_memory {
	const struct sl_backend *b;
	struct sl_deflate_part part[SL_DEFLATE_PARTS_MAX];
	struct sl_guarded in[SL_DEFLATE_PARTS_MAX], out, sizes, scratch;
	uint32_t n;
	size_t streams, most; /* of all parts */
};

static void parts_get(struct parts_memory *k, const struct sl_backend *b, uint32_t n,
	uint64_t number, size_t most)
{
	uint8_t *in = (uint8_t *)malloc(most + 1);

	*k = (struct parts_memory){.b = b, .n = n};
	assert_non_null(in);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t r = sl_mixed(number * SL_DEFLATE_PARTS_MAX + i);
		const size_t item = (size_t)1 << r % 4;
		struct sl_deflate_part *part = &k->part[i];

		part->in_bytes = r % 7 == 0 ? 0 : (r >> 8) % most / item * item;
		part->chunk_bytes = (r >> 40) % 3 * 1000 * item;
		part->item_bytes = (uint32_t)item;
		deflate_input_make(
			(enum deflate_input)((r >> 50) % DEFLATE_INPUTS), part->in_bytes, in);
		assert_ok(sl_guarded_get(b->space, part->in_bytes, &k->in[i]));
		assert_ok(sl_copy(k->in[i].at, in, part->in_bytes, NULL));
		assert_ok(sl_stream_wait(NULL));
		part->in = k->in[i].at;
		k->streams += sl_deflate_streams(part->in_bytes, part->chunk_bytes);
		k->most += sl_deflate_most(part->in_bytes, part->chunk_bytes, part->item_bytes);
	}
	free(in);
	assert_ok(sl_guarded_get(b->space, k->most, &k->out));
	assert_ok(sl_guarded_get(b->space, (k->streams + 1) * sizeof(size_t), &k->sizes));
	assert_ok(sl_guarded_get(b->space,
		sl_scratch(b, &(struct sl_shape){.part = k->part, .n_parts = n, .level = 6}),
		&k->scratch));
}

static void parts_give(struct parts_memory *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		assert_ok(sl_guarded_check(&k->in[i], "in"));
		sl_guarded_give(&k->in[i]);
	}
	assert_ok(sl_guarded_check(&k->out, "out"));
	assert_ok(sl_guarded_check(&k->sizes, "out_bytes"));
	assert_ok(sl_guarded_check(&k->scratch, "scratch"));
	sl_guarded_give(&k->out);
	sl_guarded_give(&k->sizes);
	sl_guarded_give(&k->scratch);
}

/* Compresses parts from .. to - 1 in one job, after the streams of the parts before. */
static enum sl_status run_parts(struct parts_memory *k, size_t room, uint32_t from, uint32_t to,
	size_t stream, size_t scratch_bytes)
{
	struct sl_exec x = {.space = k->b->space, .scratch = {k->scratch.at, 0, scratch_bytes}};
	const struct sl_deflate_job job = {.out = k->out.at,
		.out_size = room,
		.out_bytes = (size_t *)k->sizes.at + 1 + stream,
		.level = 6,
		.wrapper = SL_ZLIB,
		.out_used = (size_t *)k->sizes.at,
		.part = &k->part[from],
		.n_parts = to - from};

	return sl_deflate(k->b, &x, &job);
}

/* Fills the outputs with a byte, compresses, and copies them. joined: in one job. The caller frees both. */
static void run_all_parts(
	struct parts_memory *k, size_t room, bool joined, uint8_t **out, size_t **sizes)
{
	size_t stream = 0, last = 1; /* the size of the last stream: 0 if it does not fit */

	*out = (uint8_t *)malloc(k->out.bytes + 1);
	*sizes = (size_t *)malloc(k->sizes.bytes);
	assert_true(*out && *sizes);
	assert_ok(sl_fill(k->scratch.at, joined ? 0x5a : 0xa5, k->scratch.bytes, NULL));
	assert_ok(sl_fill(k->out.at, 0x33, k->out.bytes, NULL));
	assert_ok(sl_fill(k->sizes.at, 0, k->sizes.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	for (uint32_t i = 0; !joined && last > 0 && i < k->n; i++) {
		assert_ok(run_parts(k, room, i, i + 1, stream, k->scratch.bytes));
		stream += sl_deflate_streams(k->part[i].in_bytes, k->part[i].chunk_bytes);
		assert_ok(sl_copy(&last, (size_t *)k->sizes.at + stream, sizeof(last), NULL));
		assert_ok(sl_stream_wait(NULL));
	}
	if (joined)
		assert_ok(run_parts(k, room, 0, k->n, 0, k->scratch.bytes));
	assert_ok(sl_copy(*out, k->out.at, k->out.bytes, NULL));
	assert_ok(sl_copy(*sizes, k->sizes.at, k->sizes.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* One job for all parts gives the same as a job for each; returns the bytes of all streams. */
static size_t check_parts(struct parts_memory *k, size_t room)
{
	uint8_t *out[2];
	size_t *sizes[2], used;

	for (int joined = 0; joined < 2; joined++)
		run_all_parts(k, room, joined, &out[joined], &sizes[joined]);
	used = sizes[0][0];
	assert_true(used <= room);
	assert_memory_equal(sizes[0], sizes[1], k->sizes.bytes);
	assert_memory_equal(out[0], out[1], used);
	for (int joined = 0; joined < 2; joined++) {
		free(out[joined]);
		free(sizes[joined]);
	}
	return used;
}

void deflate_check_parts(const struct sl_backend *b, size_t most)
{
	static const uint32_t parts[] = {1, 2, 3, 9, SL_DEFLATE_PARTS_MAX};

	for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct parts_memory k;
		size_t used;

		parts_get(&k, b, parts[i], i, most);
		if (k.scratch.bytes > 0)
			assert_fails(run_parts(&k, k.most, 0, k.n, 0, k.scratch.bytes - 1),
				SL_USAGE, "scratch has");
		used = check_parts(&k, k.most);
		assert_int_equal(check_parts(&k, used), used);
		check_parts(&k, used - used / 3);
		parts_give(&k);
	}
}

const struct sl_backend *deflate_backend(const char *name)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_DEFLATE, name, &b));
	return b;
}
