/*
 * encoder/launches.cuh - on the host: divides a job into segments, lays out its scratch and queues
 * its kernels. MATCHES: as in segments.cuh.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_LAUNCHES_CUH
#define SL_PRIMITIVES_DEFLATE_ENCODER_LAUNCHES_CUH

#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"
#include "segments.cuh"

/* Sets the parts of a job, and the numbers of its streams and segments. */
static void set_parts(struct deflate_job *job, const struct sl_deflate_part *part, uint32_t n,
	bool whole_chunks, enum sl_wrapper wrapper)
{
	job->n_parts = n;
	job->wrapper = wrapper;
	for (uint32_t k = 0; k < n; k++) {
		struct sl_streams s = sl_streams_make(
			part[k].in_bytes, part[k].chunk_bytes, part[k].item_bytes, whole_chunks);

		s.in = (const uint8_t *)part[k].in;
		s.wrapper = wrapper;
		job->part[k] = {s, job->n_streams, job->n_segments};
		job->n_streams += s.n;
		job->n_segments += s.n_segments;
	}
}

/* Cuts or measures the scratch of a job. */
template <bool MATCHES> static void cut(struct sl_arena *a, struct deflate_job *job)
{
	uint64_t n = job->n_segments, blocks = n < BLOCKS_MAX ? n : (uint64_t)BLOCKS_MAX;

	job->staged = (uint8_t *)sl_cut_items(a, n, STAGED_BYTES);
	job->segment_output =
		(struct segment_output *)sl_cut_items(a, n, sizeof(*job->segment_output));
	job->stream_output = (struct stream_output *)sl_cut_items(
		a, job->n_streams, sizeof(*job->stream_output));
	if (MATCHES)
		job->found =
			(uint32_t *)sl_cut_items(a, blocks * SL_POSITIONS, sizeof(*job->found));
	job->token = (uint32_t *)sl_cut_items(a, blocks * SL_SEGMENT, sizeof(*job->token));
	if (MATCHES)
		job->sorted = (uint16_t *)sl_cut_items(
			a, blocks * SORTED_POSITIONS, sizeof(*job->sorted));
	job->ticket = (uint64_t *)sl_cut_items(a, 1, sizeof(*job->ticket));
}

/* Bytes of scratch for any job up to shape. */
template <bool MATCHES> static size_t scratch_for(const struct sl_shape *shape)
{
	struct deflate_job job = {};
	struct sl_arena a = {};

	set_parts(&job, shape->part, shape->n_parts, true, SL_RAW);
	cut<MATCHES>(&a, &job);
	return a.used;
}

/* Blocks for a number of segments: at most blocks_each per multiprocessor, so all are resident. */
static uint32_t grid(uint64_t segments, uint32_t multiprocessors, uint32_t blocks_each)
{
	uint64_t most = (uint64_t)multiprocessors * blocks_each;

	most = most < BLOCKS_MAX ? most : (uint64_t)BLOCKS_MAX;
	return (uint32_t)(segments < most ? segments : most);
}

/* Queues the clearing of the ticket and the four kernels. */
template <bool MATCHES>
static enum sl_status queue(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct deflate_job j = {};
	struct sl_arena a = x->scratch;
	struct sl_limits limits;

	set_parts(&j, job->part, job->n_parts, job->whole_chunks, job->wrapper);
	j.out = (uint8_t *)job->out;
	j.out_size = job->out_size;
	j.out_bytes = job->out_bytes;
	j.out_used = job->out_used;
	SL_TRY(sl_device_limits(&limits));
	cut<MATCHES>(&a, &j);
	SL_TRY(sl_fill(j.ticket, 0, sizeof(*j.ticket), x->stream));
	SL_TRY(SL_LAUNCH(segments_kernel<MATCHES>,
		grid(j.n_segments, limits.multiprocessors, BLOCKS), THREADS,
		sizeof(struct block_memory), x->stream, j));
	/* one block per stream; scratch limits their number */
	SL_TRY(SL_LAUNCH(sums_kernel, (uint32_t)j.n_streams, 32, 0, x->stream, j));
	SL_TRY(SL_LAUNCH(streams_kernel, 1, THREADS, THREADS * sizeof(uint64_t), x->stream, j));
	return SL_LAUNCH(copy_kernel, grid(j.n_segments, limits.multiprocessors, 8), THREADS, 0,
		x->stream, j);
}

#endif
