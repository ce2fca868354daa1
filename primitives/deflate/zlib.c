/*
 * deflate/zlib.c - zlib's deflate: on every machine, and what all others are measured against.
 *
 * zlib asks for its memory through two callbacks, which here cut it from the scratch arena.
 * (Deutsch, RFC 1950 to 1952, 1996.)
 */
#include "primitives/primitives.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "chunks.h"

/* zlib's own: the largest window (32 KiB), which HDF5's filter expects, and the default memory. */
enum { WINDOW_BITS = 15, GZIP = 16, MEMORY_LEVEL = 8 };

static voidpf allocate(voidpf arena, uInt items, uInt bytes)
{
	return sl_cut_items((struct sl_arena *)arena, items, bytes);
}

static void ignore_free(voidpf arena, voidpf p)
{
	(void)arena;
	(void)p;
}

static int window_bits(enum sl_wrapper wrapper)
{
	switch (wrapper) {
	case SL_RAW:
		return -WINDOW_BITS;
	case SL_ZLIB:
		return WINDOW_BITS;
	case SL_GZIP:
		break;
	}
	return WINDOW_BITS + GZIP;
}

static int begin(z_stream *z, struct sl_arena *a, int level, enum sl_wrapper wrapper)
{
	memset(z, 0, sizeof(*z));
	z->zalloc = allocate;
	z->zfree = ignore_free;
	z->opaque = a;
	return deflateInit2(
		z, level, Z_DEFLATED, window_bits(wrapper), MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
}

/*
 * zlib writes into what it is given before it asks for more, so it cannot be measured with an arena
 * that has no base: it is begun once in a block that is surely large enough (zlib.h: 256 KiB and
 * some for these settings). SIZE_MAX, which no scratch satisfies, when even that cannot be had.
 */
static size_t measure(void)
{
	const size_t enough = (size_t)1 << 20;
	struct sl_arena a = {0};
	size_t bytes = SIZE_MAX;
	z_stream z;

	if (sl_memory_get(SL_HOST, enough, &a.base) != SL_OK)
		return SIZE_MAX;
	a.size = enough;
	if (begin(&z, &a, Z_BEST_COMPRESSION, SL_GZIP) == Z_OK) {
		bytes = a.used;
		deflateEnd(&z);
	}
	sl_memory_give(SL_HOST, a.base);
	return bytes;
}

/* For a stream it is the same for every level, wrapper and size; measured when first asked. */
static size_t scratch(const struct sl_shape *shape)
{
	static _Atomic size_t measured;
	size_t bytes = atomic_load(&measured);

	if (bytes == 0) {
		bytes = measure();
		atomic_store(&measured, bytes == SIZE_MAX ? 0 : bytes);
	}
	return sl_chunks_scratch(shape, bytes);
}

/* zlib counts in 32 bits: gives it the next piece of what is left. */
static uInt piece(size_t *left)
{
	uInt bytes = *left < UINT_MAX ? (uInt)*left : UINT_MAX;

	*left -= bytes;
	return bytes;
}

/* All of the input to the end of the stream, or to Z_BUF_ERROR when the output is full. */
static int compress_all(z_stream *z, const struct sl_deflate_job *job)
{
	size_t in_left = job->in_bytes, out_left = job->out_size;
	int state = Z_OK;

	z->next_in = (z_const Bytef *)job->in;
	z->next_out = (Bytef *)job->out;
	while (state == Z_OK) {
		if (z->avail_in == 0)
			z->avail_in = piece(&in_left);
		if (z->avail_out == 0)
			z->avail_out = piece(&out_left);
		state = deflate(z, in_left > 0 ? Z_NO_FLUSH : Z_FINISH);
	}
	return state;
}

static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_arena a = x->scratch;
	z_stream z;
	int state = begin(&z, &a, job->level, job->wrapper);

	*job->out_bytes = 0;
	if (state != Z_OK)
		return sl_fail(SL_INTERNAL,
			"deflate/zlib: deflateInit2 answers %d with %zu of %zu bytes of scratch; "
			"report this with the version of zlib (%s)",
			state, a.used, a.size, zlibVersion());
	if (compress_all(&z, job) == Z_STREAM_END)
		*job->out_bytes = (size_t)(z.next_out - (Bytef *)job->out);
	deflateEnd(&z);
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_chunks_run(x, job, run_one);
}

const struct sl_backend sl_deflate_zlib = {
	.name = "zlib",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "zlib's deflate, on every machine",
	.scratch = scratch,
	.deflate = run,
};
