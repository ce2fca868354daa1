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

#include "chunks.h"

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

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	make(&a, shape->level);
	return sl_chunks_scratch(shape, a.used);
}

/* Compresses with the job's wrapper; 0 if the result does not fit. */
static size_t compress(struct libdeflate_compressor *c, const struct sl_deflate_job *job)
{
	switch (job->wrapper) {
	case SL_RAW:
		return libdeflate_deflate_compress(
			c, job->in, job->in_bytes, job->out, job->out_size);
	case SL_ZLIB:
		return libdeflate_zlib_compress(c, job->in, job->in_bytes, job->out, job->out_size);
	case SL_GZIP:
		return libdeflate_gzip_compress(c, job->in, job->in_bytes, job->out, job->out_size);
	}
	return 0;
}

/* Compresses one stream. The compressor owns nothing outside the arena, so it is not freed. */
static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_arena a = x->scratch;
	struct libdeflate_compressor *c = make(&a, job->level);

	*job->out_bytes = 0;
	if (!c)
		return sl_fail(SL_INTERNAL,
			"deflate/libdeflate: internal error: no compressor of level %d in %zu of "
			"%zu bytes of scratch (libdeflate %s); please report it",
			job->level, a.used, a.size, LIBDEFLATE_VERSION_STRING);
	*job->out_bytes = compress(c, job);
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
