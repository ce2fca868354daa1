/* mcpl_load.c - see lists.h. */
#include "python/src/lists/lists.h"

#include "pipeline/text/text.h"

/*
 * Decompresses a gzip file with all cores to *image; NULL if the file is none, or does not have
 * exactly the records that its header counts: who reads it in order says what is wrong.
 */
static enum sl_status unpack(
	struct sl_job_pool *pool, const void *file, size_t bytes, void **image, size_t *size)
{
	struct sl_mcpl_head head = {.bytes = NULL};
	enum sl_status s;
	bool recovered;

	*image = NULL;
	if (!sl_is_gzip(file, bytes))
		return SL_OK;
	s = sl_mcpl_head_read(file, bytes, &head, &recovered);
	*size = head.size + (size_t)head.fixed.particles * head.fixed.record_bytes;
	sl_mcpl_head_free(&head);
	if (s == SL_OK && *size / SL_INFLATE_RATIO_MAX <= bytes)
		s = sl_memory_get(SL_HOST, *size, image);
	if (s == SL_OK && *image)
		s = sl_py_gunzip(pool, file, bytes, *image, *size);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *image);
		*image = NULL;
	}
	return s == SL_BAD_INPUT ? SL_OK : s;
}

enum sl_status sl_py_mcpl_load(
	const void *file, size_t bytes, struct sl_mcpl_reading *r, struct sl_table *t, void **block)
{
	SL_CLOSED_BY(sl_host_give) void *image = NULL;
	struct sl_job_pool pool;
	enum sl_status s;
	size_t size = 0;

	*block = NULL;
	sl_py_pool_open(&pool, SIZE_MAX);
	r->pool = &pool;
	s = unpack(&pool, file, bytes, &image, &size);
	t->list = r;
	if (s == SL_OK)
		s = sl_format_load(
			sl_mcpl_read, image ? image : file, image ? size : bytes, t, block, &size);
	sl_job_pool_close(&pool);
	return s;
}
