/*
 * deflate/deflate.c - sl_deflate(): checks the arguments of a compression, then runs the chosen
 * backend. Also computes the number of streams and the size of the output in the worst case, which
 * the caller needs before the call.
 */
#include "encoder/streams.h"
#include "primitives/base/size.h"
#include "primitives/check_args.h"
#include "primitives/primitives.h"

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
static enum sl_status check_items(const struct sl_backend *b, const struct sl_deflate_part *part)
{
	uint32_t item = part->item_bytes;

	if (item > 8 || (item & (item - 1)) != 0)
		return sl_fail(SL_USAGE,
			"deflate/%s: item_bytes %u is not supported; use 1, 2, 4 or 8", b->name,
			item);
	if (item == 0 || (part->in_bytes % item == 0 && part->chunk_bytes % item == 0))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"deflate/%s: %zu bytes in chunks of %zu are not whole items of %u bytes; "
		"use multiples of %u",
		b->name, part->in_bytes, part->chunk_bytes, item, item);
}

size_t sl_deflate_streams(size_t in_bytes, size_t chunk_bytes)
{
	return (size_t)sl_streams_make(in_bytes, chunk_bytes, 1, false).n;
}

/*
 * deflate.h stores a stream that would be longer than its share. The cpu and device backends store
 * each segment that its code would lengthen, which adds a header.
 */
size_t sl_deflate_most(size_t in_bytes, size_t chunk_bytes, uint32_t item_bytes)
{
	struct sl_streams s = sl_streams_make(in_bytes, chunk_bytes, item_bytes, true);
	size_t stream = sl_size_add(s.chunk_bytes, s.chunk_bytes / 1024 + 64);

	return sl_size_add(
		sl_size_mul(s.n, stream), sl_size_mul(s.n_segments, SL_STORED_HEADER_BYTES));
}

/* The parts of a job: its own list, or its single input, which is stored to *one. */
static const struct sl_deflate_part *parts_of(
	const struct sl_deflate_job *job, struct sl_deflate_part *one, uint32_t *n)
{
	*one = (struct sl_deflate_part){job->in, job->in_bytes, job->chunk_bytes, job->item_bytes};
	*n = job->n_parts > 0 ? job->n_parts : 1;
	return job->n_parts > 0 ? job->part : one;
}

/* The number of parts is allowed, each is valid, and no buffer overlaps another one. */
static enum sl_status check_parts(const struct sl_backend *b, const struct sl_exec *x,
	const struct sl_deflate_job *job, const struct sl_deflate_part *part, uint32_t n)
{
	const size_t word = sizeof(size_t), align = _Alignof(size_t);
	struct sl_buffer m[SL_DEFLATE_PARTS_MAX + 3];
	size_t streams = 0;

	if (n > SL_DEFLATE_PARTS_MAX || !part)
		return sl_fail(SL_USAGE,
			"deflate/%s: n_parts is %u and part is %p: give a list of at most %d parts, "
			"or 0 and in",
			b->name, n, (const void *)part, SL_DEFLATE_PARTS_MAX);
	for (uint32_t k = 0; k < n; k++) {
		SL_TRY(check_items(b, &part[k]));
		m[k] = (struct sl_buffer){"in", part[k].in, part[k].in_bytes, 1, 1, true, 0};
		streams += sl_deflate_streams(part[k].in_bytes, part[k].chunk_bytes);
	}
	m[n] = (struct sl_buffer){"out", job->out, job->out_size, 1, 1, false, 0};
	m[n + 1] = (struct sl_buffer){"out_bytes", job->out_bytes, streams, word, align, false, 0};
	m[n + 2] = (struct sl_buffer){
		"out_used", job->out_used, job->out_used != NULL, word, align, false, 0};
	return sl_check_buffers(b, m, (int)n + 3, x);
}

/*
 * Runs a backend that takes one input on the parts, one after another; only backends of the host
 * are of this kind, so the bytes of out in use can be kept here.
 */
static enum sl_status run_parts(const struct sl_backend *b, struct sl_exec *x,
	const struct sl_deflate_job *job, const struct sl_deflate_part *part, uint32_t n)
{
	struct sl_deflate_job one = *job;
	size_t used = 0, streams;
	bool fits = true;

	one.out_used = job->out_used || n == 1 ? job->out_used : &used;
	for (uint32_t k = 0; k < n; k++, one.out_bytes += streams) {
		one.in = part[k].in;
		one.in_bytes = part[k].in_bytes;
		one.chunk_bytes = part[k].chunk_bytes;
		one.item_bytes = part[k].item_bytes;
		streams = sl_deflate_streams(one.in_bytes, one.chunk_bytes);
		if (fits)
			SL_TRY(b->deflate(x, &one));
		for (size_t i = 0; !fits && i < streams; i++)
			one.out_bytes[i] = 0;
		fits = one.out_bytes[streams - 1] > 0;
	}
	return SL_OK;
}

/* Has the job room for any streams of its parts? */
static bool has_most_room(
	const struct sl_deflate_job *job, const struct sl_deflate_part *part, uint32_t n)
{
	size_t most = 0;

	for (uint32_t k = 0; k < n; k++)
		most = sl_size_add(most,
			sl_deflate_most(part[k].in_bytes, part[k].chunk_bytes, part[k].item_bytes));
	return !job->out_used && job->out_size >= most;
}

enum sl_status sl_deflate(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_deflate_job *job)
{
	const struct sl_deflate_part *part;
	struct sl_deflate_part single;
	struct sl_deflate_job joined;
	uint32_t n;

	SL_TRY(sl_check_backend(SL_DEFLATE, b, x, job));
	SL_TRY(check_choices(b, job));
	part = parts_of(job, &single, &n);
	SL_TRY(check_parts(b, x, job, part, n));
	SL_TRY(sl_check_scratch(b, x,
		&(struct sl_shape){.level = job->level,
			.most_room = has_most_room(job, part, n),
			.part = part,
			.n_parts = n}));
	if (!b->joins_parts)
		return run_parts(b, x, job, part, n);
	joined = *job;
	joined.part = part;
	joined.n_parts = n;
	return b->deflate(x, &joined);
}
