/*
 * deflate/deflate.c - sl_deflate(): checks the arguments of a compression, then runs the chosen
 * backend. Also computes the number of streams and the size of the output in the worst case, which
 * the caller needs before the call.
 */
#include "primitives/check_args.h"
#include "primitives/primitives.h"
#include "encoder/streams.h"

/* Level and wrapper exist. */
static enum sl_status check_choices(const struct sl_backend *b, const struct sl_deflate_job *job)
{
	if (job->level < 1 || job->level > 9)
		return sl_fail(SL_USAGE,
			"deflate/%s: level %d is out of range; use 1 (fast) to 9 (small)", b->name,
			job->level);
	if (job->wrapper != SL_RAW && job->wrapper != SL_ZLIB && job->wrapper != SL_GZIP)
		return sl_fail(SL_USAGE,
			"deflate/%s: wrapper %d is unknown; use SL_RAW, SL_ZLIB or SL_GZIP",
			b->name, (int)job->wrapper);
	return SL_OK;
}

/* Chunks contain whole items: the bytes of an item go to different planes. */
static enum sl_status check_item_bytes(const struct sl_backend *b, const struct sl_deflate_job *job)
{
	uint32_t item = job->item_bytes;

	if (item > 8 || (item & (item - 1)) != 0)
		return sl_fail(SL_USAGE,
			"deflate/%s: item_bytes %u is not supported; use 1, 2, 4 or 8", b->name,
			item);
	if (item == 0 || (job->in_bytes % item == 0 && job->chunk_bytes % item == 0))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"deflate/%s: %zu bytes in chunks of %zu are not whole items of %u bytes; "
		"use multiples of %u",
		b->name, job->in_bytes, job->chunk_bytes, item, item);
}

size_t sl_deflate_streams(size_t in_bytes, size_t chunk_bytes)
{
	return (size_t)sl_streams_make(in_bytes, chunk_bytes, 1, false).n;
}

/*
 * The largest bound of all backends: libdeflate's bound per stream, plus one stored block header
 * per segment for the cpu and device backends. zlib's own bound is smaller.
 */
size_t sl_deflate_most(size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes)
{
	struct sl_streams s = sl_streams_make(in_bytes, chunk_bytes, item_bytes, true);
	uint64_t stream = s.chunk_bytes + s.chunk_bytes / 1024 + 64;

	return (size_t)(s.n * stream + s.n_segments * SL_STORED_HEADER_BYTES);
}

enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job)
{
	const size_t word = sizeof(size_t), align = _Alignof(size_t);
	struct sl_shape shape = {0};

	SL_TRY(sl_check_backend(SL_DEFLATE, b, x, job));
	SL_TRY(check_choices(b, job));
	SL_TRY(check_item_bytes(b, job));
	const struct sl_buffer m[] = {{"in", job->in, job->in_bytes, 1, 1, true, 0},
		{"out", job->out, job->out_size, 1, 1, false, 0},
		{"out_bytes", job->out_bytes, sl_deflate_streams(job->in_bytes, job->chunk_bytes),
			word, align, false, 0},
		{"out_used", job->out_used, job->out_used != NULL, word, align, false, 0}};
	SL_TRY(sl_check_buffers(b, m, 4, x));
	shape.in_bytes = job->in_bytes;
	shape.chunk_bytes = job->chunk_bytes;
	shape.item_bytes = job->item_bytes;
	shape.level = job->level;
	SL_TRY(sl_check_scratch(b, x, &shape));
	return b->deflate(x, job);
}
