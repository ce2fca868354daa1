/*
 * deflate/pack.cuh - from segments that wait in scratch to streams, one behind another.
 */
#ifndef SL_DEFLATE_PACK_CUH
#define SL_DEFLATE_PACK_CUH

#include "primitives/base/kernel.cuh"
#include "lookup.cuh"

enum { PIECE_BYTES = SL_SEGMENT + 32 }; /* a segment in scratch, at most SL_STORED_BYTES more */

/* A segment that waits. */
struct piece {
	uint64_t at; /* in its stream */
	uint32_t bytes;
	struct sl_check check;
};

/* A stream: where it begins in out, NOWHERE if it does not fit. */
struct place {
	uint64_t at;
	uint32_t check;
};

static constexpr uint64_t NOWHERE = UINT64_MAX;

struct deflate_job {
	struct sl_streams streams;
	uint8_t *out;
	uint64_t out_size;
	size_t *out_bytes, *out_used;
	/* scratch */
	uint8_t *staged;     /* PIECE_BYTES a segment */
	struct piece *piece; /* one a segment */
	struct place *place; /* one a stream */
	uint32_t *found;     /* SL_PLACES a block */
	uint16_t *order;     /* the same */
	uint32_t *token;     /* SL_SEGMENT a block */
	uint64_t *ticket;    /* segments that are taken */
};

/* Adds up the segments of a stream: each has its place, the stream its check. Gives its bytes. */
static __device__ inline uint64_t add_up(const struct deflate_job &job, uint64_t k)
{
	const struct sl_streams *s = &job.streams;
	uint64_t at = sl_header_bytes(s->wrapper), bytes = sl_chunk_bytes(s, k);
	struct sl_check all = {0, 0};
	struct sl_segment g;
	uint64_t i = k * s->each;

	do {
		struct piece *p = &job.piece[i];

		g = sl_segment_of(s, i++);
		p->at = at;
		at += p->bytes;
		all = sl_check_join(s->wrapper, all, p->check, g.bytes);
	} while (!g.last);
	job.place[k].check = sl_check_value(s->wrapper, all, bytes);
	return at + sl_trailer_bytes(s->wrapper);
}

/* Sums up to and with each thread's, in end. (Hillis and Steele.) */
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

/* One block: where streams begin, as long as they fit. */
static __global__ void __launch_bounds__(THREADS) streams_kernel(struct deflate_job job)
{
	SL_SHARED_DYNAMIC(uint64_t, end);
	uint64_t used = job.out_used ? *job.out_used : 0, fitting = used;

	for (uint64_t first = 0; first < job.streams.n; first += THREADS) {
		uint64_t k = first + threadIdx.x, bytes = k < job.streams.n ? add_up(job, k) : 0;

		scan(end, bytes);
		if (k < job.streams.n) {
			uint64_t to = used + end[threadIdx.x];

			job.place[k].at = to <= job.out_size ? to - bytes : NOWHERE;
			job.out_bytes[k] = to <= job.out_size ? bytes : 0;
		}
		for (uint32_t i = 0; threadIdx.x == 0 && i < THREADS; i++)
			fitting = used + end[i] <= job.out_size ? used + end[i] : fitting;
		used += end[THREADS - 1];
		__syncthreads();
	}
	if (threadIdx.x == 0 && job.out_used)
		*job.out_used = fitting;
}

/* Bytes to anywhere, from a multiple of 4: most of them by words of where they go. */
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

/* Each block a segment at a time, to where it belongs, and what is before and behind a stream. */
static __global__ void __launch_bounds__(THREADS) pack_kernel(struct deflate_job job)
{
	const struct sl_streams *s = &job.streams;

	for (uint64_t i = blockIdx.x; i < s->n_segments; i += gridDim.x) {
		struct sl_segment g = sl_segment_of(s, i);
		struct place place = job.place[g.stream];
		const struct piece p = job.piece[i];
		const uint8_t *from = job.staged + i * PIECE_BYTES;
		uint32_t header = g.from == 0 ? sl_header_bytes(s->wrapper) : 0;
		uint32_t trailer = g.last ? sl_trailer_bytes(s->wrapper) : 0;
		uint8_t *to = job.out + place.at + p.at;

		if (place.at == NOWHERE)
			continue;
		copy(to, from, p.bytes);
		if (threadIdx.x < header)
			to[(int)threadIdx.x - (int)header] =
				sl_header_byte(s->wrapper, threadIdx.x);
		if (threadIdx.x < trailer)
			to[p.bytes + threadIdx.x] = sl_trailer_byte(
				s->wrapper, place.check, sl_chunk_bytes(s, g.stream), threadIdx.x);
	}
}

#endif
