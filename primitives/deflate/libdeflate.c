/*
 * deflate/libdeflate.c - Biggers' libdeflate: the same formats, two to four times as fast as zlib.
 *
 * Its compressor is one block of memory, which is cut from the scratch arena. Up to libdeflate 1.18
 * the allocator can only be set for the whole process. Therefore it is set once, to functions that
 * cut from the arena of the calling thread while that thread creates a compressor, and otherwise
 * call malloc() and free(). Other users of libdeflate in the process are not affected.
 */
#include "primitives/primitives.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "deflate.h"

/* The arena of the thread while it creates a compressor; otherwise NULL. */
static _Thread_local struct sl_arena *compressor_arena;

static void *allocate(size_t bytes)
{
	return compressor_arena ? sl_cut(compressor_arena, bytes) : malloc(bytes);
}

/* Memory that was cut from the arena is released with the arena. */
static void release(void *p)
{
	if (!compressor_arena)
		free(p);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_allocator(void)
{
	libdeflate_set_memory_allocator(allocate, release);
}

/*
 * Creates a compressor in a. With an arena without base: returns NULL and sets a->used to the size.
 */
static struct libdeflate_compressor *make(struct sl_arena *a, int level)
{
	struct libdeflate_compressor *c;

	pthread_once(&once, set_allocator);
	compressor_arena = a;
	c = libdeflate_alloc_compressor(level);
	compressor_arena = NULL;
	return c;
}

/*
 * Memory for a whole stream: libdeflate can refuse an output that has only a few bytes more than
 * the stream (8 in version 1.14). So with less room than any stream needs it compresses to this
 * memory, from which the stream is copied.
 */
static uint8_t *cut_stream(struct sl_arena *a, size_t in_bytes)
{
	return (uint8_t *)sl_cut(a, sl_deflate_most(in_bytes, 0, 1));
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	make(&a, shape->level);
	if (!shape->most_room)
		cut_stream(&a, shape->chunk_bytes > 0 ? shape->chunk_bytes : shape->in_bytes);
	return sl_chunks_scratch(shape, a.used);
}

/* Compresses to out with the job's wrapper; 0 if the result does not fit. */
static size_t compress(struct libdeflate_compressor *c, const struct sl_deflate_job *job,
	uint8_t *out, size_t out_size)
{
	switch (job->wrapper) {
	case SL_RAW:
		return libdeflate_deflate_compress(c, job->in, job->in_bytes, out, out_size);
	case SL_ZLIB:
		return libdeflate_zlib_compress(c, job->in, job->in_bytes, out, out_size);
	case SL_GZIP:
		return libdeflate_gzip_compress(c, job->in, job->in_bytes, out, out_size);
	}
	return 0;
}

/* Compresses one stream. The compressor owns nothing outside the arena, so it is not freed. */
static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_arena a = x->scratch;
	struct libdeflate_compressor *c = make(&a, job->level);
	const size_t most = sl_deflate_most(job->in_bytes, 0, 1);
	size_t bytes, out_size = job->out_size < most ? most : job->out_size;
	uint8_t *out = (uint8_t *)job->out;

	*job->out_bytes = 0;
	if (!c)
		return sl_fail(SL_INTERNAL,
			"deflate/libdeflate: internal error: no compressor of level %d in %zu of "
			"%zu bytes of scratch (libdeflate %s); please report it",
			job->level, a.used, a.size, LIBDEFLATE_VERSION_STRING);
	if (job->out_size < most)
		out = cut_stream(&a, job->in_bytes);
	bytes = compress(c, job, out, out_size);
	if (bytes > job->out_size)
		return SL_OK;
	if (out != job->out)
		memcpy(job->out, out, bytes);
	*job->out_bytes = bytes;
	return SL_OK;
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	return sl_chunks_run(x, job, run_one);
}

const struct sl_backend sl_deflate_libdeflate = {
	.name = "libdeflate",
	.primitive = SL_DEFLATE,
	.space = SL_HOST,
	.help = "libdeflate (Biggers), two to four times as fast as zlib",
	.scratch = scratch,
	.deflate = run,
};
