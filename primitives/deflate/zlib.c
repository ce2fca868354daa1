/*
 * deflate/zlib.c - zlib's deflate: available on every system. The speed and the sizes of the other
 * backends are compared with it.
 *
 * zlib requests its memory through two callbacks, which here cut it from the scratch arena.
 * (Deutsch, RFC 1950 to 1952, 1996.)
 */
#include "primitives/primitives.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#include "deflate.h"

/*
 * zlib's own values: the largest window (32 KiB), which HDF5's filter expects, and the default
 * memory level.
 */
enum { WINDOW_BITS = 15, GZIP = 16, MEMORY_LEVEL = 8 };

/* zlib's allocator: cuts from the arena. */
static voidpf allocate(voidpf arena, uInt items, uInt bytes)
{
	return sl_cut_items((struct sl_arena *)arena, items, bytes);
}

/* zlib's free: nothing to do, the arena ends with the call. */
static void ignore_free(voidpf arena, voidpf p)
{
	(void)arena;
	(void)p;
}

/* zlib selects the wrapper by the window argument. */
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

/* Starts a stream whose memory is cut from a. */
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
 * Bytes that zlib requests. zlib writes to its memory before it requests the rest, so it cannot be
 * measured with an arena without base: it is started once in a block that is large enough (zlib.h:
 * a little more than 256 KiB for these settings). SIZE_MAX, which no scratch satisfies, if there is
 * no memory.
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

/*
 * One stream needs the same memory for every level, wrapper and size; measured at the first call.
 */
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

/* Takes the next piece of *left bytes: zlib counts in 32 bits. */
static uInt piece(size_t *left)
{
	uInt bytes = *left < UINT_MAX ? (uInt)*left : UINT_MAX;

	*left -= bytes;
	return bytes;
}

/*
 * Compresses all of the input; true if it fits. zlib sees the end of a stream that fills the
 * output only if it has room for another byte.
 */
static bool compress_all(z_stream *z, const struct sl_deflate_job *job)
{
	size_t in_left = job->in_bytes, out_left = job->out_size;
	int state = Z_OK;
	Bytef beyond;

	z->next_in = (z_const Bytef *)job->in;
	z->next_out = (Bytef *)job->out;
	while (state == Z_OK && z->total_out <= job->out_size) {
		if (z->avail_in == 0)
			z->avail_in = piece(&in_left);
		if (z->avail_out == 0)
			z->avail_out = piece(&out_left);
		if (z->avail_out == 0) {
			z->next_out = &beyond;
			z->avail_out = sizeof(beyond);
		}
		state = deflate(z, in_left > 0 ? Z_NO_FLUSH : Z_FINISH);
	}
	return state == Z_STREAM_END && z->total_out <= job->out_size;
}

/* Compresses one stream. */
static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_arena a = x->scratch;
	z_stream z;
	int state = begin(&z, &a, job->level, job->wrapper);

	*job->out_bytes = 0;
	if (state != Z_OK)
		return sl_fail(SL_INTERNAL,
			"deflate/zlib: internal error: deflateInit2() returns %d with %zu of %zu "
			"bytes of scratch used (zlib %s); please report it",
			state, a.used, a.size, zlibVersion());
	if (compress_all(&z, job))
		*job->out_bytes = z.total_out;
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
	.help = "zlib's deflate, available everywhere",
	.scratch = scratch,
	.deflate = run,
};
