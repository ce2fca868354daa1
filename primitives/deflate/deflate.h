/*
 * deflate/deflate.h - for backends that compress one stream per call: runs a whole job, one call per
 * chunk, with planes and padding.
 */
#ifndef SL_PRIMITIVES_DEFLATE_DEFLATE_H
#define SL_PRIMITIVES_DEFLATE_DEFLATE_H

#include "encoder/streams.h"
#include "planes.h"

/*
 * A backend's function for one stream: job has no chunks and no items; sets *job->out_bytes, to 0
 * if the stream does not fit.
 */
typedef enum sl_status sl_deflate_chunk(struct sl_exec *x, const struct sl_deflate_job *job);

/* Writes one stream of stored blocks, for backends whose own stream is too long. */
sl_deflate_chunk sl_deflate_store_one;

/* Cuts a buffer for a chunk in plane order; NULL if no chunk needs one. */
static inline uint8_t *sl_chunks_cut(
	struct sl_arena *a, size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes)
{
	if (item_bytes <= 1 && chunk_bytes == 0)
		return NULL;
	return (uint8_t *)sl_cut(a, chunk_bytes > 0 ? chunk_bytes : in_bytes);
}

/* Bytes of scratch for a job: the buffer, and call_bytes for the compression of one chunk. */
static inline size_t sl_chunks_scratch(const struct sl_shape *shape, size_t call_bytes)
{
	struct sl_arena a = {0};

	sl_chunks_cut(&a, shape->in_bytes, shape->chunk_bytes, shape->item_bytes);
	sl_cut(&a, call_bytes);
	return a.used;
}

/*
 * Returns the bytes of chunk k in plane order and with padding. If the input already has this form,
 * the result points into the input; otherwise the bytes are written to buffer.
 */
static inline const void *sl_chunk_at(const struct sl_streams *s, uint64_t k, uint8_t *buffer)
{
	const uint8_t *in = s->in + k * s->chunk_bytes;
	size_t bytes = (size_t)sl_chunk_bytes(s, k),
	       available = (size_t)(s->in_bytes - k * s->chunk_bytes);

	available = available < bytes ? available : bytes;
	if ((s->item_bytes == 1 && available == bytes) || bytes == 0)
		return in;
	sl_to_planes(in, available / s->item_bytes, buffer, bytes / s->item_bytes, s->item_bytes);
	return buffer;
}

/*
 * Compresses each chunk with compress_one(). Compressors lengthen random bytes, some of them by
 * more than sl_deflate_most() grants to a stream (ISA-L with small blocks by 1/750, level 1 of
 * zlib-ng by 1/8). A stream that does not fit is therefore stored, which lengthens it by 5 bytes
 * in 65535. After the first one that does not fit then, all others have 0 bytes. Only a stream that
 * is alone in out may exceed its share, because no other one needs the room.
 */
static inline enum sl_status sl_chunks_run(
	struct sl_exec *x, const struct sl_deflate_job *job, sl_deflate_chunk *compress_one)
{
	const struct sl_streams s = sl_streams_of(job);
	size_t used = job->out_used ? *job->out_used : 0;
	struct sl_exec y = *x;
	uint8_t *buffer =
		sl_chunks_cut(&y.scratch, job->in_bytes, job->chunk_bytes, job->item_bytes);
	bool fits = true, alone = s.n == 1 && !job->out_used;

	for (uint64_t k = 0; k < s.n; k++) {
		const size_t bytes = (size_t)sl_chunk_bytes(&s, k),
			     most = sl_deflate_most(bytes, 0, 1),
			     at = used < job->out_size ? used : job->out_size,
			     left = job->out_size - at;
		struct sl_deflate_job part = {.in = sl_chunk_at(&s, k, buffer),
			.in_bytes = bytes,
			.out = (uint8_t *)job->out + at,
			.out_size = alone || left < most ? left : most,
			.out_bytes = &job->out_bytes[k],
			.level = job->level,
			.wrapper = job->wrapper};

		job->out_bytes[k] = 0;
		if (fits)
			SL_TRY(compress_one(&y, &part));
		if (fits && job->out_bytes[k] == 0)
			SL_TRY(sl_deflate_store_one(&y, &part));
		fits = job->out_bytes[k] > 0;
		used += job->out_bytes[k];
	}
	if (job->out_used)
		*job->out_used = used;
	return SL_OK;
}

#endif
