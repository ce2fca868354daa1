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
	struct sl_guarded in[SL_DEFLATE_PARTS_MAX], out, sizes, scratch;
	uint32_t n; /* inputs */
	size_t streams;
};

static void *add_input(struct job_memory *k, const void *in, size_t bytes)
{
	struct sl_guarded *to = &k->in[k->n++];

	assert_ok(sl_guarded_get(k->b->space, bytes, to));
	assert_ok(sl_copy(to->at, in, bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	return to->at;
}

/* After all inputs; most is the room for output. */
static void job_memory_get(struct job_memory *k, size_t most, const struct sl_shape *shape)
{
	assert_ok(sl_guarded_get(k->b->space, most, &k->out));
	assert_ok(sl_guarded_get(k->b->space, (k->streams + 1) * sizeof(size_t), &k->sizes));
	assert_ok(sl_guarded_get(k->b->space, sl_scratch(k->b, shape), &k->scratch));
}

static void give(struct sl_guarded *memory, const char *what)
{
	assert_ok(sl_guarded_check(memory, what));
	sl_guarded_give(memory);
}

static void job_memory_give(struct job_memory *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		give(&k->in[i], "in");
	give(&k->out, "out");
	give(&k->sizes, "out_bytes");
	give(&k->scratch, "scratch");
}

/* Runs a job; its first stream has this number. */
static enum sl_status run_job(
	struct job_memory *k, struct sl_deflate_job job, size_t stream, size_t scratch_bytes)
{
	struct sl_exec x = {.space = k->b->space, .scratch = {k->scratch.at, 0, scratch_bytes}};

	job.out = k->out.at;
	job.out_bytes = (size_t *)k->sizes.at + 1 + stream;
	job.out_used = (size_t *)k->sizes.at;
	return sl_deflate(k->b, &x, &job);
}

/* One byte of scratch too little is refused. */
static void check_scratch(struct job_memory *k, struct sl_deflate_job job)
{
	if (k->scratch.bytes > 0)
		assert_fails(run_job(k, job, 0, k->scratch.bytes - 1), SL_USAGE, "scratch has");
}

/* Fills scratch and all outputs with a byte. */
static void fill_memory(struct job_memory *k, int poison, size_t used)
{
	assert_ok(sl_fill(k->scratch.at, poison, k->scratch.bytes, NULL));
	assert_ok(sl_fill(k->out.at, poison, k->out.bytes, NULL));
	assert_ok(sl_fill(k->sizes.at, poison, k->sizes.bytes, NULL));
	assert_ok(sl_copy(k->sizes.at, &used, sizeof(used), NULL));
	assert_ok(sl_stream_wait(NULL)); /* a host backend does not wait for the stream */
}

/* The caller frees both. */
static void copy_output(struct job_memory *k, uint8_t **out, size_t **sizes)
{
	*out = (uint8_t *)malloc(k->out.bytes + 1);
	*sizes = (size_t *)malloc(k->sizes.bytes);
	assert_true(*out && *sizes);
	assert_ok(sl_copy(*out, k->out.at, k->out.bytes, NULL));
	assert_ok(sl_copy(*sizes, k->sizes.at, k->sizes.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
}

/* The job of one input, and memory for it. */
static struct sl_deflate_job begin_job(struct job_memory *k, const struct sl_backend *b,
	const void *in, size_t bytes, const struct deflate_try *t)
{
	const int level = t->level ? t->level : 6;
	const size_t room = t->used + sl_deflate_most(bytes, t->chunk_bytes, t->item_bytes);

	*k = (struct job_memory){.b = b, .streams = sl_deflate_streams(bytes, t->chunk_bytes)};
	add_input(k, in, bytes);
	job_memory_get(k, room,
		&(struct sl_shape){.in_bytes = bytes,
			.chunk_bytes = t->chunk_bytes,
			.item_bytes = t->item_bytes,
			.level = level});
	return (struct sl_deflate_job){.in = k->in[0].at,
		.in_bytes = bytes,
		.out_size = room,
		.level = level,
		.wrapper = t->wrapper,
		.chunk_bytes = t->chunk_bytes,
		.item_bytes = t->item_bytes,
		.whole_chunks = t->whole_chunks};
}

/* Fills all outputs with the byte poison, runs the job and copies them. The caller frees *out and *sizes. */
static void run_and_copy(struct job_memory *k, struct sl_deflate_job job, size_t used, int poison,
	uint8_t **out, size_t **sizes)
{
	uint64_t before;

	fill_memory(k, poison, used);
	before = allocations_of_thread();
	assert_ok(run_job(k, job, 0, k->scratch.bytes));
	assert_true(k->b->space != SL_HOST || allocations_of_thread() == before);
	copy_output(k, out, sizes);
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
	const struct deflate_try *t, const uint8_t *out, const size_t *sizes, size_t streams)
{
	struct job_memory k;
	struct sl_deflate_job job = begin_job(&k, b, in, bytes, t);
	uint8_t *other;
	size_t *other_sizes;

	run_and_copy(&k, job, t->used, 0, &other, &other_sizes);
	job_memory_give(&k);
	assert_memory_equal(sizes, other_sizes, (streams + 1) * sizeof(*sizes));
	assert_memory_equal(out + t->used, other + t->used, sizes[0] - t->used);
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
		struct sl_deflate_job job = begin_job(&k, b, in, BYTES, &t);

		t.used = used[i] > 0 ? used[i] : k.out.bytes;
		run_and_copy(&k, job, t.used, POISON, &out, &sizes);
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
	const uint8_t *from = (const uint8_t *)in;
	struct job_memory k;
	struct sl_deflate_job job = begin_job(&k, b, in, bytes, &t);
	uint8_t *out;
	size_t *sizes, total;

	check_scratch(&k, job);
	run_and_copy(&k, job, t.used, 0xa5, &out, &sizes);
	job_memory_give(&k);
	total = check_streams(from, bytes, &t, out, sizes, k.streams);
	check_same(b, from, bytes, &t, out, sizes, k.streams);
	if (t.exact)
		check_same(specification_of(b), from, bytes, &t, out, sizes, k.streams);
	free(out);
	free(sizes);
	return total;
}

/* --- jobs of several parts -------------------------------------------------------------------- */

/* Makes parts; returns the room for the output of all of them. */
static size_t parts_get(struct job_memory *k, const struct sl_backend *b,
	struct sl_deflate_part *part, uint32_t n, uint64_t number, size_t most)
{
	uint8_t *in = (uint8_t *)malloc(most + 1);
	size_t room = 0;

	assert_non_null(in);
	*k = (struct job_memory){.b = b};
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t r = sl_mixed(number * SL_DEFLATE_PARTS_MAX + i);
		const size_t item = (size_t)1 << r % 4;

		part[i] = (struct sl_deflate_part){
			.in_bytes = r % 7 == 0 ? 0 : (r >> 8) % most / item * item,
			.chunk_bytes = (r >> 40) % 3 * 1000 * item,
			.item_bytes = (uint32_t)item};
		deflate_input_make(
			(enum deflate_input)((r >> 50) % DEFLATE_INPUTS), part[i].in_bytes, in);
		part[i].in = add_input(k, in, part[i].in_bytes);
		k->streams += sl_deflate_streams(part[i].in_bytes, part[i].chunk_bytes);
		room += sl_deflate_most(part[i].in_bytes, part[i].chunk_bytes, part[i].item_bytes);
	}
	free(in);
	job_memory_get(k, room, &(struct sl_shape){.part = part, .n_parts = n, .level = 6});
	return room;
}

/* Fills the outputs with a byte, compresses, and copies them. joined: in one job. The caller frees both. */
static void run_all_parts(
	struct job_memory *k, struct sl_deflate_job job, bool joined, uint8_t **out, size_t **sizes)
{
	const struct sl_deflate_part *part = job.part;
	size_t stream = 0, last = 1; /* the size of the last stream: 0 if it does not fit */

	fill_memory(k, 0, 0);
	assert_ok(sl_fill(k->scratch.at, joined ? 0x5a : 0xa5, k->scratch.bytes, NULL));
	assert_ok(sl_fill(k->out.at, 0x33, k->out.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	if (joined)
		assert_ok(run_job(k, job, 0, k->scratch.bytes));
	job.n_parts = 1;
	for (uint32_t i = 0; !joined && last > 0 && i < k->n; i++) {
		job.part = &part[i];
		assert_ok(run_job(k, job, stream, k->scratch.bytes));
		stream += sl_deflate_streams(part[i].in_bytes, part[i].chunk_bytes);
		assert_ok(sl_copy(&last, (size_t *)k->sizes.at + stream, sizeof(last), NULL));
		assert_ok(sl_stream_wait(NULL));
	}
	copy_output(k, out, sizes);
}

/* One job for all parts gives the same as a job for each; returns the bytes of all streams. */
static size_t check_parts(struct job_memory *k, struct sl_deflate_job job, size_t room)
{
	uint8_t *out[2];
	size_t *sizes[2], used;

	job.out_size = room;
	for (int joined = 0; joined < 2; joined++)
		run_all_parts(k, job, joined, &out[joined], &sizes[joined]);
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
		struct sl_deflate_part part[SL_DEFLATE_PARTS_MAX];
		struct job_memory k;
		const size_t room = parts_get(&k, b, part, parts[i], i, most);
		const struct sl_deflate_job job = {.out_size = room,
			.level = 6,
			.wrapper = SL_ZLIB,
			.part = part,
			.n_parts = parts[i]};
		size_t used;

		check_scratch(&k, job);
		used = check_parts(&k, job, room);
		assert_int_equal(check_parts(&k, job, used), used);
		check_parts(&k, job, used - used / 3);
		job_memory_give(&k);
	}
}

const struct sl_backend *deflate_backend(const char *name)
{
	const struct sl_backend *b;

	assert_ok(sl_find(SL_DEFLATE, name, &b));
	return b;
}
