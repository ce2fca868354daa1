/*
 * encoder/assemble.cuh - assembles streams from the segments in scratch: computes the offset of
 * every segment and stream, then copies, with wrappers and checksums.
 *
 * Three kernels: sums_kernel (one warp per stream: segment offsets, stream size, checksum),
 * streams_kernel (one block: stream offsets), copy_kernel (all blocks: the copy).
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_ASSEMBLE_CUH
#define SL_PRIMITIVES_DEFLATE_ENCODER_ASSEMBLE_CUH

#include "match_search.cuh"
#include "primitives/kernel/kernel.cuh"

/* Bytes reserved for a staged segment, which is at most 5 bytes longer than the original. */
enum { STAGED_BYTES = SL_SEGMENT + 32 };

/* Result of one segment. */
struct segment_output {
	uint64_t at; /* offset in its stream */
	uint32_t bytes;
	struct sl_deflate_checksum checksum;
};

/* Result of one stream. at: first its size, then its offset in out, or DOES_NOT_FIT. */
struct stream_output {
	uint64_t at;
	uint32_t checksum;
};

static constexpr uint64_t DOES_NOT_FIT = UINT64_MAX;

/* A part of the job: its streams and segments follow those of the parts before. */
struct deflate_part {
	struct sl_streams streams;
	uint64_t first_stream, first_segment;
};

/*
 * Arguments of all kernels, by value. Kernels take them as __grid_constant__, so that a part can be
 * referred to in place.
 */
struct deflate_job {
	struct deflate_part part[SL_DEFLATE_PARTS_MAX];
	uint32_t n_parts;
	uint64_t n_streams, n_segments; /* of all parts */
	enum sl_wrapper wrapper;
	uint8_t *out;
	uint64_t out_size;
	size_t *out_bytes, *out_used;
	/* the rest is scratch */
	uint8_t *staged;                       /* STAGED_BYTES per segment */
	struct segment_output *segment_output; /* one per segment */
	struct stream_output *stream_output;   /* one per stream */
	uint32_t *found;                       /* SL_POSITIONS per block */
	uint16_t *sorted;                      /* SORTED_POSITIONS per block */
	uint32_t *token;                       /* SL_SEGMENT per block */
	uint64_t *ticket;                      /* number of segments that blocks have taken */
};

/* The part that has a segment. */
static __device__ inline const struct deflate_part &part_of_segment(
	const struct deflate_job &job, uint64_t segment)
{
	uint32_t k = job.n_parts - 1;

	while (job.part[k].first_segment > segment)
		k--;
	return job.part[k];
}

/* The part that has a stream. */
static __device__ inline const struct deflate_part &part_of_stream(
	const struct deflate_job &job, uint64_t stream)
{
	uint32_t k = job.n_parts - 1;

	while (job.part[k].first_stream > stream)
		k--;
	return job.part[k];
}

/* Sum over consecutive segments of a stream. */
struct stream_sum {
	uint64_t bytes, in_bytes; /* encoded; original */
	struct sl_deflate_checksum checksum;
};

/* Sum over segments from .. to - 1 of a part, by one thread. */
static __device__ inline struct stream_sum sum_segments(
	const struct deflate_job &job, const struct deflate_part &part, uint64_t from, uint64_t to)
{
	struct stream_sum all = {0, 0, {0, 0}};

	for (uint64_t i = from; i < to; i++) {
		const struct segment_output p = job.segment_output[part.first_segment + i];
		uint32_t bytes = sl_segment_of(&part.streams, i).bytes;

		all.checksum = sl_checksum_join(job.wrapper, all.checksum, p.checksum, bytes);
		all.in_bytes += bytes;
		all.bytes += p.bytes;
	}
	return all;
}

/*
 * For a warp: joins the sums of all lanes, in lane order; the result is valid in lane 0, except
 * bytes, which all lanes get. *before: encoded bytes of the lanes before. Pairwise joins need only
 * log2(32) steps because the checksums are associative.
 */
static __device__ inline struct stream_sum join_lanes(
	enum sl_wrapper wrapper, struct stream_sum mine, uint64_t *before)
{
	uint32_t lane = threadIdx.x % 32;
	uint64_t sum = mine.bytes;

	for (uint32_t by = 1; by < 32; by *= 2) {
		uint64_t below = __shfl_up_sync(SL_LANES, sum, by);
		uint64_t in_bytes = __shfl_down_sync(SL_LANES, mine.in_bytes, by);
		struct sl_deflate_checksum right = {__shfl_down_sync(SL_LANES, mine.checksum.a, by),
			__shfl_down_sync(SL_LANES, mine.checksum.b, by)};

		sum += lane >= by ? below : 0;
		mine.checksum = sl_checksum_join(wrapper, mine.checksum, right, in_bytes);
		mine.in_bytes += in_bytes;
	}
	*before = sum - mine.bytes;
	mine.bytes = __shfl_sync(SL_LANES, sum, 31);
	return mine;
}

/* One warp per stream: offsets of its segments, its size and its checksum. */
static __global__ void __launch_bounds__(32)
	sums_kernel(const __grid_constant__ struct deflate_job job)
{
	const struct deflate_part &part = part_of_stream(job, blockIdx.x);
	const struct sl_streams *s = &part.streams;
	struct segment_output *output = job.segment_output + part.first_segment;
	uint32_t lane = threadIdx.x, header = sl_wrapper_header_bytes(job.wrapper);
	uint64_t k = blockIdx.x - part.first_stream, first = k * s->segments_per_stream,
		 left = s->n_segments - first;
	uint64_t n = left < s->segments_per_stream ? left : s->segments_per_stream,
		 each = (n + 31) / 32, at;
	uint64_t from = lane * each < n ? lane * each : n;
	uint64_t to = from + each < n ? from + each : n;
	struct stream_sum all = sum_segments(job, part, first + from, first + to);

	all = join_lanes(job.wrapper, all, &at);
	at += header;
	for (uint64_t i = first + from; i < first + to; at += output[i++].bytes)
		output[i].at = at;
	if (lane == 0)
		job.stream_output[blockIdx.x] = {
			header + all.bytes + sl_wrapper_trailer_bytes(job.wrapper),
			sl_checksum_value(job.wrapper, all.checksum, all.in_bytes)};
}

/* Inclusive scan over the threads of a block, in end[]. (Hillis and Steele.) */
static __device__ inline void scan(uint64_t *end, uint64_t mine)
{
	end[threadIdx.x] = mine;
	__syncthreads();
	for (uint32_t by = 1; by < THREADS; by *= 2) {
		uint64_t before = threadIdx.x >= by ? end[threadIdx.x - by] : 0;

		__syncthreads();
		end[threadIdx.x] += before;
		__syncthreads();
	}
}

/*
 * One block: offsets of the streams in out; from the first stream that does not fit, none is
 * written. The host cannot check *out_used, which is in device memory. So the sums are compared
 * with the bytes that are left, which cannot overflow.
 */
static __global__ void __launch_bounds__(THREADS)
	streams_kernel(const __grid_constant__ struct deflate_job job)
{
	SL_SHARED_DYNAMIC(uint64_t, end);
	uint64_t before = job.out_used ? *job.out_used : 0, used = 0, fitting = 0;
	uint64_t left = before < job.out_size ? job.out_size - before : 0;

	for (uint64_t first = 0; first < job.n_streams; first += THREADS) {
		uint64_t k = first + threadIdx.x,
			 bytes = k < job.n_streams ? job.stream_output[k].at : 0;

		scan(end, bytes);
		if (k < job.n_streams) {
			uint64_t to = used + end[threadIdx.x];
			bool fits = to <= left;

			job.stream_output[k].at = fits ? before + to - bytes : DOES_NOT_FIT;
			job.out_bytes[k] = fits ? bytes : 0;
			fitting += fits ? bytes : 0;
		}
		used += end[THREADS - 1];
		__syncthreads();
	}
	scan(end, fitting);
	if (threadIdx.x == THREADS - 1 && job.out_used)
		*job.out_used = before + end[threadIdx.x];
}

/* Copies bytes to any address, mostly by words of the destination; from is aligned to 4 bytes. */
static __device__ inline void copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint32_t head = (uint32_t)(-(uintptr_t)to % 4), words;

	head = head < bytes ? head : bytes;
	words = (bytes - head) / 4;
	if (threadIdx.x < head)
		to[threadIdx.x] = from[threadIdx.x];
	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		((uint32_t *)(to + head))[i] = sl_bytes_at(from, head + 4 * i);
	for (uint32_t i = head + 4 * words + threadIdx.x; i < bytes; i += THREADS)
		to[i] = from[i];
}

/*
 * Each block copies one segment at a time to its final place, and the wrapper around the first and
 * last of a stream.
 */
static __global__ void __launch_bounds__(THREADS)
	copy_kernel(const __grid_constant__ struct deflate_job job)
{
	for (uint64_t i = blockIdx.x; i < job.n_segments; i += gridDim.x) {
		const struct deflate_part &part = part_of_segment(job, i);
		struct sl_segment g = sl_segment_of(&part.streams, i - part.first_segment);
		struct stream_output stream_output =
			job.stream_output[part.first_stream + g.stream];
		const struct segment_output p = job.segment_output[i];
		const uint8_t *from = job.staged + i * STAGED_BYTES;
		uint32_t header = g.from == 0 ? sl_wrapper_header_bytes(job.wrapper) : 0;
		uint32_t trailer = g.last ? sl_wrapper_trailer_bytes(job.wrapper) : 0;
		uint8_t *to = job.out + stream_output.at + p.at;

		if (stream_output.at == DOES_NOT_FIT)
			continue;
		copy(to, from, p.bytes);
		if (threadIdx.x < header)
			to[(int)threadIdx.x - (int)header] =
				sl_wrapper_header_byte(job.wrapper, threadIdx.x);
		if (threadIdx.x < trailer)
			to[p.bytes + threadIdx.x] =
				sl_wrapper_trailer_byte(job.wrapper, stream_output.checksum,
					sl_chunk_bytes(&part.streams, g.stream), threadIdx.x);
	}
}

#endif
