/* mcpl_load.c - see lists.h. */
#include "python/src/lists/lists.h"

enum { FIXED_BYTES = 48 /* of a header, before the weight */ };

/* Bytes of a gzip file without compression, by its header; SL_BAD_INPUT if that is damaged. */
static enum sl_status count_bytes(struct sl_mcpl_stream *s, size_t *bytes)
{
	uint32_t length;

	*bytes = FIXED_BYTES + (s->header.weight != 0 ? sizeof(double) : 0);
	for (uint64_t i = 0; i < sl_mcpl_count_strings(&s->header); i++) {
		SL_TRY(sl_mcpl_string_length(s, &length));
		SL_TRY(sl_mcpl_string_bytes(s, length, NULL, 0));
		*bytes += sizeof(length) + length;
	}
	SL_TRY(sl_mcpl_begin(s));
	*bytes += (size_t)s->header.particles * s->header.record_bytes;
	return SL_OK;
}

/*
 * Decompresses a gzip file with all cores to *image; NULL if the file is none, or does not have
 * exactly the records that its header counts: who reads it in order says what is wrong.
 */
static enum sl_status unpack(const void *file, size_t bytes, void **image, size_t *size)
{
	struct sl_mcpl_stream stream;
	enum sl_status s;

	*image = NULL;
	if (!sl_is_gzip(file, bytes))
		return SL_OK;
	SL_TRY(sl_mcpl_open(&stream, file, bytes));
	s = count_bytes(&stream, size);
	sl_mcpl_close(&stream);
	if (s == SL_OK && *size / SL_INFLATE_RATIO_MAX <= bytes)
		s = sl_memory_get(SL_HOST, *size, image);
	if (s == SL_OK && *image)
		s = sl_py_gunzip(file, bytes, *image, *size);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *image);
		*image = NULL;
	}
	return s == SL_BAD_INPUT ? SL_OK : s;
}

static enum sl_status load(
	const void *file, size_t bytes, struct sl_mcpl_reading *r, struct sl_table *t, void **block)
{
	struct sl_arena a = {0};

	SL_TRY(sl_mcpl_table(file, bytes, &a, t, r));
	SL_TRY(sl_memory_get(SL_HOST, a.used, block));
	a = (struct sl_arena){*block, 0, a.used};
	return sl_mcpl_table(file, bytes, &a, t, r);
}

enum sl_status sl_py_mcpl_load(
	const void *file, size_t bytes, struct sl_mcpl_reading *r, struct sl_table *t, void **block)
{
	struct sl_job_pool pool;
	enum sl_status s;
	void *image;
	size_t size = 0;

	*block = NULL;
	SL_TRY(unpack(file, bytes, &image, &size));
	sl_job_pool_open(&pool, sl_py_blocks_threads(SIZE_MAX) - 1);
	r->pool = &pool;
	s = load(image ? image : file, image ? size : bytes, r, t, block);
	sl_job_pool_close(&pool);
	sl_memory_give(SL_HOST, image);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, *block);
		*block = NULL;
	}
	return s;
}
