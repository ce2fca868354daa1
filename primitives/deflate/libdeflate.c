/*
 * deflate/libdeflate.c - Biggers' libdeflate: the same format, two to four times as fast as zlib.
 *
 * Its compressor is one block of memory, which here is cut from the scratch arena. Up to 1.18 the
 * allocator can only be set for the whole process. So it is set once, to one that cuts from the
 * arena which this thread has lent, and is plain malloc and free when it has lent none: other users
 * of libdeflate in the process notice nothing.
 */
#include "primitives/primitives.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>

#include "chunks.h"

static _Thread_local struct sl_arena *lent_arena;

static void *allocate(size_t bytes)
{
	return lent_arena ? sl_cut(lent_arena, bytes) : malloc(bytes);
}

/* What was cut from the lent arena goes with it. */
static void release(void *p)
{
	if (!lent_arena)
		free(p);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_allocator(void)
{
	libdeflate_set_memory_allocator(allocate, release);
}

/* A compressor in a; with an arena that only measures, NULL and a->used. */
static struct libdeflate_compressor *make(struct sl_arena *a, int level)
{
	struct libdeflate_compressor *c;

	pthread_once(&once, set_allocator);
	lent_arena = a;
	c = libdeflate_alloc_compressor(level);
	lent_arena = NULL;
	return c;
}

static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {0};

	make(&a, shape->level);
	return sl_chunks_scratch(shape, a.used);
}

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

/* The compressor is dropped with the arena: it has nothing else to free. */
static enum sl_status run_one(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct sl_arena a = x->scratch;
	struct libdeflate_compressor *c = make(&a, job->level);

	*job->out_bytes = 0;
	if (!c)
		return sl_fail(SL_INTERNAL,
			"deflate/libdeflate: no compressor of level %d in %zu of %zu bytes of "
			"scratch; report this with the version of libdeflate (%s)",
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
