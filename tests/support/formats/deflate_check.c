/* deflate_check.c - see deflate_check.h. */
#include "tests/support/formats/deflate_check.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cases/guarded.h"
#include "tests/cases/inputs.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/formats/zlib_inflate.h"

/* --- inflating -------------------------------------------------------------------------------- */

/* Sets to to the expected contents of chunk k: padded with zeros, and shuffled in byte planes. */
static size_t expect_chunk(const struct sl_deflate_part *part, bool whole, size_t k, uint8_t *to)
{
	const size_t chunk = part->chunk_bytes ? part->chunk_bytes : part->in_bytes;
	const size_t item = part->item_bytes + !part->item_bytes, at = k * chunk;
	const size_t left = part->in_bytes - at, n = left < chunk && !whole ? left : chunk;

	for (size_t i = 0; i < n; i++) {
		size_t from = i % (n / item) * item + i / (n / item);

		to[i] = from < left ? ((const uint8_t *)part->in)[at + from] : 0;
	}
	return n;
}

/* --- a job ------------------------------------------------------------------------------------ */

/*
 * Guarded memory of a job in the space of its backend. sizes holds out_used, then the stream sizes.
 */
struct job {
	const struct sl_backend *b;
	struct deflate_try t;
	struct sl_deflate_part part[SL_DEFLATE_PARTS_MAX]; /* at least one */
	struct sl_guarded in, out, sizes, scratch;
	size_t streams, most;
	bool alone; /* a single stream without out_used */
};

/* The output of a run in host memory. */
struct output {
	uint8_t *out;
	size_t *sizes;
};

static uint32_t count_parts(const struct deflate_try *t)
{
	return t->parts + !t->parts;
}

/* Parts of whole items, a seventh of them empty. The last bytes of the input may be in no part. */
static void cut_parts(
	const struct deflate_try *t, const void *in, size_t bytes, struct sl_deflate_part *part)
{
	size_t at = 0;

	part[0] = (struct sl_deflate_part){in, bytes, t->chunk_bytes, t->item_bytes};
	for (uint32_t i = 0; i < t->parts; i++) {
		const uint64_t r = sl_mixed(bytes + i);
		const size_t item = (size_t)1 << r % 4, left = (bytes - at) / 8 * 8;
		size_t n = (r >> 8) % (2 * left / (t->parts - i) + 1);

		n = r % 7 == 0 ? 0 : n < left ? n : left;
		part[i] = (struct sl_deflate_part){(const char *)in + at, n / item * item,
			(r >> 40) % 3 * 1000 * item, (uint32_t)item};
		at += (n + 7) / 8 * 8;
	}
}

static void get(struct job *k, const void *in, size_t bytes)
{
	const enum sl_space space = k->b->space;

	assert_ok(sl_guarded_get(space, bytes, &k->in));
	assert_ok(sl_copy(k->in.at, in, bytes, NULL));
	cut_parts(&k->t, k->in.at, bytes, k->part);
	for (uint32_t i = 0; i < count_parts(&k->t); i++) {
		const struct sl_deflate_part *p = &k->part[i];

		k->streams += sl_deflate_streams(p->in_bytes, p->chunk_bytes);
		k->most += sl_deflate_most(p->in_bytes, p->chunk_bytes, p->item_bytes);
	}
	k->most += k->t.used < SIZE_MAX / 4 ? k->t.used : 0;
	k->alone = k->t.chunk_bytes + k->t.parts + k->t.used == 0 && bytes % 2 == 1;
	assert_ok(sl_guarded_get(space, k->most, &k->out));
	assert_ok(sl_guarded_get(space, (k->streams + 1) * sizeof(size_t), &k->sizes));
	assert_ok(sl_guarded_get(space,
		sl_scratch(k->b, &(struct sl_shape){.part = k->part,
					 .n_parts = count_parts(&k->t),
					 .level = k->t.level}),
		&k->scratch));
}

static void give(struct job *k)
{
	struct sl_guarded *const blocks[] = {&k->in, &k->out, &k->sizes, &k->scratch};

	for (size_t i = 0; i < 4; i++) {
		assert_ok(sl_guarded_check(blocks[i], "a block of the job"));
		sl_guarded_give(blocks[i]);
	}
}

static enum sl_status compress_job(struct job *k, size_t out_size, size_t scratch_bytes)
{
	const struct deflate_try *t = &k->t;
	struct sl_exec x = {.space = k->b->space, .scratch = {k->scratch.at, 0, scratch_bytes}};
	struct sl_deflate_job job = {.in = k->in.at,
		.in_bytes = k->in.bytes,
		.out = k->out.at,
		.out_size = out_size,
		.out_bytes = (size_t *)k->sizes.at + 1,
		.level = t->level,
		.wrapper = t->wrapper,
		.chunk_bytes = t->chunk_bytes,
		.item_bytes = t->item_bytes,
		.whole_chunks = t->whole_chunks,
		.out_used = k->alone ? NULL : (size_t *)k->sizes.at,
		.part = k->part,
		.n_parts = t->parts};

	return sl_deflate(k->b, &x, &job);
}

static bool holds(const void *p, size_t bytes, int byte)
{
	while (bytes > 0 && ((const uint8_t *)p)[bytes - 1] == byte)
		bytes--;
	return bytes == 0;
}

/* Fills all outputs with the byte poison, runs the job and copies them. */
static struct output run(struct job *k, size_t out_size, int poison)
{
	struct output o = {(uint8_t *)malloc(k->out.bytes + 1), (size_t *)malloc(k->sizes.bytes)};
	uint64_t before;

	assert_true(o.out && o.sizes);
	assert_ok(sl_fill(k->scratch.at, poison, k->scratch.bytes, NULL));
	assert_ok(sl_fill(k->out.at, poison, k->out.bytes, NULL));
	assert_ok(sl_fill(k->sizes.at, poison, k->sizes.bytes, NULL));
	assert_ok(sl_copy(k->sizes.at, &k->t.used, sizeof(k->t.used), NULL));
	assert_ok(sl_stream_wait(NULL)); /* a host backend does not wait for the stream */
	before = allocations_of_thread();
	assert_ok(compress_job(k, out_size, k->scratch.bytes));
	assert_true(k->b->space != SL_HOST || allocations_of_thread() == before);
	assert_ok(sl_copy(o.out, k->out.at, k->out.bytes, NULL));
	assert_ok(sl_copy(o.sizes, k->sizes.at, k->sizes.bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	assert_true(holds(o.out + out_size, k->out.bytes - out_size, poison));
	o.sizes[0] += k->alone ? o.sizes[1] : 0;
	return o;
}

static void drop(struct output o)
{
	free(o.out);
	free(o.sizes);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* RFC 1952: magic, deflate, no flags (so no name), time 0. */
static const uint8_t gzip_header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};

/* Inflates the streams of one part from out on; returns their bytes. */
static size_t check_part(const struct deflate_try *t, const struct sl_deflate_part *part,
	const uint8_t *out, const size_t *sizes)
{
	size_t room = (part->chunk_bytes > part->in_bytes ? part->chunk_bytes : part->in_bytes) + 1;
	size_t streams = sl_deflate_streams(part->in_bytes, part->chunk_bytes), used = 0;
	uint8_t *expected = (uint8_t *)malloc(room), *inflated = (uint8_t *)malloc(room);

	assert_true(expected && inflated);
	for (size_t k = 0; k < streams; k++) {
		size_t n = expect_chunk(part, t->whole_chunks, k, expected);

		assert_true(sizes[k] > 0);
		if (t->wrapper == SL_GZIP)
			assert_memory_equal(out + used, gzip_header, sizeof(gzip_header));
		assert_int_equal(
			zlib_inflate(t->wrapper, false, out + used, sizes[k], inflated, room), n);
		assert_memory_equal(inflated, expected, n);
		used += sizes[k];
	}
	free(expected);
	free(inflated);
	return used;
}

/* Inflates all streams; returns their bytes. */
static size_t check_streams(
	const struct deflate_try *t, const void *in, size_t bytes, struct output o)
{
	struct sl_deflate_part part[SL_DEFLATE_PARTS_MAX];
	const size_t *sizes = o.sizes + 1;
	size_t used = t->used;

	cut_parts(t, in, bytes, part);
	for (uint32_t i = 0; i < count_parts(t); i++) {
		used += check_part(t, &part[i], o.out + used, sizes);
		sizes += sl_deflate_streams(part[i].in_bytes, part[i].chunk_bytes);
	}
	assert_int_equal(o.sizes[0], used);
	return used - t->used;
}

/* A run with another poison, and with the bytes of output that are needed, gives the same. */
static void check_same(struct job *k, struct output o, int poison)
{
	const size_t from = k->t.used, all = o.sizes[0];
	struct output other = run(k, all, poison);

	assert_memory_equal(o.sizes, other.sizes, k->sizes.bytes);
	assert_memory_equal(o.out + from, other.out + from, all - from);
	drop(other);
}

/*
 * The first stream that needs more output than is left, and all later ones, have 0 bytes, unless it
 * fits if it is stored: some encoders lengthen a stream by more than that.
 */
static void check_less(struct job *k, struct output o, size_t out_size)
{
	struct output less = run(k, out_size, 0x33);
	size_t used = k->t.used, i = 1;

	for (; used + o.sizes[i] <= out_size; used += o.sizes[i++]) {
		assert_int_equal(less.sizes[i], o.sizes[i]);
		assert_memory_equal(less.out + used, o.out + used, o.sizes[i]);
	}
	assert_true(less.sizes[0] <= out_size);
	if (less.sizes[i] == 0) {
		assert_int_equal(less.sizes[0], used);
		assert_true(holds(less.sizes + i, (k->streams + 1 - i) * sizeof(size_t), 0));
	} else {
		assert_true(less.sizes[i] < o.sizes[i] && !k->t.exact);
	}
	drop(less);
}

/* Nothing is written. */
static void check_full(struct job *k)
{
	struct output o = run(k, k->out.bytes, 0x5a);

	assert_true(o.sizes[0] == k->t.used);
	assert_true(holds(o.sizes + 1, k->streams * sizeof(size_t), 0));
	assert_true(holds(o.out, k->out.bytes, 0x5a));
	drop(o);
}

/* The host backend that writes the same bytes. */
static const struct sl_backend *specification_of(const struct sl_backend *b)
{
	return strcmp(b->name, "device_fast") == 0 || b == &sl_deflate_cpu_fast
	               ? &sl_deflate_cpu_fast
	               : &sl_deflate_cpu;
}

size_t deflate_check(const struct sl_backend *b, const void *in, size_t bytes, struct deflate_try t)
{
	struct job k = {.b = b, .t = t}, cpu = {.b = specification_of(b), .t = t};
	size_t total = 0;
	struct output o;

	k.t.level = cpu.t.level = t.level ? t.level : 6;
	get(&k, in, bytes);
	if (k.scratch.bytes > 0 && !k.alone)
		assert_fails(
			compress_job(&k, k.most, k.scratch.bytes - 1), SL_USAGE, "scratch has");
	if (t.used > SIZE_MAX / 4) {
		check_full(&k);
	} else {
		o = run(&k, k.most, 0xa5);
		total = check_streams(&t, in, bytes, o);
		check_same(&k, o, 0);
		check_less(&k, o, t.used + (size_t)(sl_mixed(bytes) % total));
		if (t.exact) {
			get(&cpu, in, bytes);
			check_same(&cpu, o, 0);
			give(&cpu);
		}
		drop(o);
	}
	give(&k);
	return total;
}
