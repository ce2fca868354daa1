/*
 * deflate/device.cu - DEFLATE on the device: a block of threads for each segment of 32 KiB.
 *
 * The threads gather the bytes of the segment, plane by plane (streams.h), and count them. They
 * look up where the same bytes stood before, 256 places at a time, in tables in shared memory;
 * where neither counts nor the first places promise anything, as in the low planes of floats, the
 * segment is stored. They parse a slice of 258 bytes each, with a match wherever one costs fewer
 * bits than its bytes (tokens.h). Codes are made by one thread an alphabet (huffman.h), as trees
 * are a chain of steps; other blocks have the multiprocessor meanwhile. What the bits of each slice
 * come to gives the place of those of the next, so all slices are written at the same time, by
 * atomic or, into the shared memory that held the bytes. Segments wait in scratch; then one block
 * adds up where each belongs and joins their checks, and all are copied there.
 *
 * Beside its bytes, read once for each plane, a segment takes 2 bytes a byte for what was looked up
 * and its tokens, in memory that a block uses for all its segments, so that it stays in the cache.
 * No byte depends on how many blocks or threads there are: cpu.c writes the same.
 */
#include "primitives/base/kernel.cuh"
#include "primitives/primitives.h"
#include "pack.cuh"

enum {
	BLOCKS = 2,       /* a multiprocessor, by their shared memory on a Hopper */
	BLOCKS_MOST = 512 /* for the memory that each has in scratch */
};

/* What a block has in shared memory; behind it, if there is room, SL_SEGMENT bytes of data. */
struct room {
	struct sl_block block;
	struct sl_places last;
	uint32_t crc[SL_CRC_TABLE];
	struct sl_check check[SL_SLICES];         /* of slices; then the first of all */
	uint32_t end[SL_SLICES], bits[SL_SLICES]; /* of the tokens of a slice */
	uint32_t sum, found; /* what literals would take; places that were found in earnest */
};

/* A segment and the thread's part in it. */
struct part {
	struct room *r;
	uint8_t *data;
	uint16_t *token;
	struct sl_segment segment;
	uint32_t slices;
};

static __device__ inline uint32_t slice_end(const struct part &p, uint32_t slice)
{
	uint32_t end = (slice + 1) * SL_SLICE;

	return end < p.segment.bytes ? end : p.segment.bytes;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static __device__ inline void load(const struct part &p, const struct sl_streams &s)
{
	uint32_t *last = (uint32_t *)&p.r->last;

	for (uint32_t i = threadIdx.x; i < sizeof(p.r->last) / sizeof(*last); i += THREADS)
		last[i] = 0;
	for (uint32_t i = threadIdx.x; i < SL_LENGTHS + SL_DISTANCES; i += THREADS)
		p.r->block.count[i] = i == SL_END;
	p.r->crc[threadIdx.x] = sl_crc_of_byte(threadIdx.x);
	if (threadIdx.x == 0)
		p.r->sum = p.r->found = 0;
	sl_chunk_load(&s, p.segment.stream, p.segment.from, p.segment.bytes, threadIdx.x, THREADS,
		p.data);
}

/* Counts bytes and makes the checks of slices; then joins these, neighbours first. */
static __device__ inline void count_and_check(const struct part &p, enum sl_wrapper wrapper)
{
	uint32_t slice = threadIdx.x, from = slice * SL_SLICE;
	struct sl_check *check = p.r->check;

	for (uint32_t i = threadIdx.x; i < p.segment.bytes; i += THREADS)
		atomicAdd(&p.r->block.count[p.data[i]], 1);
	if (slice < p.slices)
		check[slice] = sl_check_slice(
			wrapper, p.data + from, slice_end(p, slice) - from, p.r->crc);
	__syncthreads();
	for (uint32_t by = 1; by < p.slices; by *= 2) {
		uint32_t right = slice + by, last = right + by < p.slices ? right + by : p.slices;

		if (slice % (2 * by) == 0 && right < p.slices)
			check[slice] = sl_check_join(wrapper, check[slice], check[right],
				slice_end(p, last - 1) - right * SL_SLICE);
		__syncthreads();
	}
}

/* What literals cost if there is nothing else; their counts are 0 again. */
static __device__ inline void make_costs(const struct part &p)
{
	uint32_t n = p.segment.bytes, *count = &p.r->block.count[threadIdx.x];

	p.r->block.cost[threadIdx.x] = sl_literal_cost(*count, n);
	atomicAdd(&p.r->sum, sl_literal_sum(*count, n));
	*count = 0;
}

/*
 * For each place how far back the same bytes may stand: what earlier rounds have found. False: it
 * is not worth it.
 */
static __device__ inline bool look_up(const struct part &p)
{
	struct sl_places *last = &p.r->last;
	uint32_t n = sl_hashed_places(p.segment.bytes);

	for (uint32_t i = n + threadIdx.x; i < p.segment.bytes; i += THREADS)
		p.token[i] = 0;
	for (uint32_t round = 0; round < n; round += THREADS) {
		uint32_t i = round + threadIdx.x;

		if (round == SL_PROBE && p.r->found < SL_FOUND_LEAST &&
			sl_is_dull(p.r->sum, p.segment.bytes))
			return false;
		if (i < n) {
			uint32_t place = sl_look_up(last, p.data, i);

			if (round < SL_PROBE && sl_is_same(p.data, place, i, SL_FOUND_BYTES))
				atomicAdd(&p.r->found, 1);
			p.token[i] = sl_distance_to(place, i);
		}
		__syncthreads();
		if (i < n && sl_is_landmark(p.data, i)) {
			atomicMax(&last->of_short[sl_hash_short(p.data + i)], i + 1);
			atomicMax(&last->of_long[sl_hash_long(p.data + i)], i + 1);
		}
		__syncthreads();
	}
	return true;
}

static __device__ inline void parse(const struct part &p)
{
	uint32_t slice = threadIdx.x, from = slice * SL_SLICE;

	if (slice >= p.slices)
		return;
	uint32_t to = slice_end(p, slice);
	uint32_t end = sl_parse_slice(p.data, from, to, p.r->block.cost, p.token);

	sl_tokens_count(&p.r->block, p.token, from, end);
	p.r->end[slice] = end;
}

/* --- codes ------------------------------------------------------------------------------------ */

/* What one thread does is done by several at the same time, each in a warp of its own. */
static __device__ inline void make_codes(const struct part &p)
{
	struct sl_block *b = &p.r->block;
	uint32_t slice = threadIdx.x;

	for (uint32_t s = threadIdx.x; s < SL_LENGTHS; s += THREADS)
		sl_huffman_place(b->count, SL_LENGTHS, s, b->work[0].order);
	__syncthreads();
	if (threadIdx.x == 0)
		sl_length_codes_make(b);
	if (threadIdx.x == THREADS / 2)
		sl_distance_codes_make(b);
	__syncthreads();
	if (threadIdx.x == THREADS - 1)
		sl_header_make(b);
	if (slice < p.slices)
		p.r->bits[slice] = sl_tokens_bits(b, p.token, slice * SL_SLICE, p.r->end[slice]);
	__syncthreads();
}

/* --- bits ------------------------------------------------------------------------------------- */

static __device__ inline uint32_t store(const struct part &p, uint8_t *to)
{
	for (uint32_t i = threadIdx.x; i < SL_STORED_BYTES; i += THREADS)
		to[i] = sl_stored_byte(p.segment.last, p.segment.bytes, i);
	for (uint32_t i = threadIdx.x; i < p.segment.bytes; i += THREADS)
		to[SL_STORED_BYTES + i] = p.data[i];
	return p.segment.bytes + SL_STORED_BYTES;
}

/* Into the words that held the bytes, all slices at the same time; from there to scratch. */
static __device__ inline void write(
	const struct part &p, uint32_t first_bit, uint32_t bits, uint32_t bytes, uint8_t *to)
{
	const struct sl_block *b = &p.r->block;
	uint32_t *word = (uint32_t *)p.data, words = (bytes + 3) / 4;

	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		word[i] = 0;
	__syncthreads();
	if (threadIdx.x < p.slices)
		sl_tokens_write(
			b, p.token, threadIdx.x * SL_SLICE, p.r->end[threadIdx.x], word, first_bit);
	if (threadIdx.x == THREADS - 1) {
		sl_header_write(b, p.segment.last, word);
		sl_block_end(b, p.segment.last, word, bits);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		((uint32_t *)to)[i] = word[i];
}

/* Gives the bytes of the segment in scratch. */
static __device__ inline uint32_t encode(const struct part &p, uint8_t *to)
{
	const struct sl_block *b = &p.r->block;
	uint32_t bits = sl_header_bits(b), first_bit = bits, bytes;

	for (uint32_t k = 0; k < p.slices; k++) {
		first_bit += k < threadIdx.x ? p.r->bits[k] : 0;
		bits += p.r->bits[k];
	}
	bytes = sl_block_bytes(b, p.segment.last, bits);
	if (bytes > p.segment.bytes)
		return store(p, to);
	write(p, first_bit, bits, bytes, to);
	return bytes;
}

/* The same, of a segment whose bytes are loaded. */
static __device__ inline uint32_t compress(
	const struct part &p, enum sl_wrapper wrapper, uint8_t *to)
{
	count_and_check(p, wrapper);
	make_costs(p);
	if (p.segment.bytes == 0 || !look_up(p))
		return store(p, to);
	__syncthreads();
	parse(p);
	__syncthreads();
	make_codes(p);
	return encode(p, to);
}

static __global__ void __launch_bounds__(THREADS) segments_kernel(struct deflate_job job)
{
	SL_SHARED_DYNAMIC(struct room, r);
	uint64_t first = (uint64_t)blockIdx.x * SL_SEGMENT;
	struct part p = {r, job.data ? job.data + first : (uint8_t *)(r + 1), job.token + first};

	for (uint64_t s = blockIdx.x; s < job.streams.n_segments; s += gridDim.x) {
		p.segment = sl_segment_of(&job.streams, s);
		p.slices = (p.segment.bytes + SL_SLICE - 1) / SL_SLICE;
		load(p, job.streams);
		__syncthreads();
		uint32_t bytes = compress(p, job.streams.wrapper, job.staged + s * PIECE_BYTES);
		if (threadIdx.x == THREADS - 1) {
			job.piece[s].bytes = bytes;
			job.piece[s].check = p.slices > 0 ? p.r->check[0] : sl_check{0, 0};
		}
		__syncthreads();
	}
}

/* --- host ------------------------------------------------------------------------------------- */

static void cut(struct sl_arena *a, struct deflate_job *job)
{
	uint64_t n = job->streams.n_segments, blocks = n < BLOCKS_MOST ? n : (uint64_t)BLOCKS_MOST;

	job->staged = (uint8_t *)sl_cut_items(a, n, PIECE_BYTES);
	job->piece = (struct piece *)sl_cut_items(a, n, sizeof(*job->piece));
	job->place = (struct place *)sl_cut_items(a, job->streams.n, sizeof(*job->place));
	job->token = (uint16_t *)sl_cut_items(a, blocks * SL_SEGMENT, sizeof(*job->token));
	job->data = (uint8_t *)sl_cut_items(a, blocks, SL_SEGMENT);
}

static size_t scratch(const struct sl_shape *most)
{
	struct deflate_job job = {};
	struct sl_arena a = {};

	job.streams = sl_streams_make(most->in_bytes, most->chunk_bytes, most->item_bytes, true);
	cut(&a, &job);
	return a.used;
}

static uint32_t grid(uint64_t segments, uint32_t multiprocessors, uint32_t each)
{
	uint64_t most = (uint64_t)multiprocessors * each;

	most = most < BLOCKS_MOST ? most : (uint64_t)BLOCKS_MOST;
	return (uint32_t)(segments < most ? segments : most);
}

static enum sl_status run(struct sl_exec *x, const struct sl_deflate_job *job)
{
	struct deflate_job j = {sl_streams_of(job), (uint8_t *)job->out, job->out_size,
		job->out_bytes, job->out_used};
	size_t shared = sizeof(struct room) + SL_SEGMENT;
	uint64_t segments = j.streams.n_segments;
	struct sl_arena a = x->scratch;
	struct sl_limits limits;

	SL_TRY(sl_device_limits(&limits));
	cut(&a, &j);
	if (shared <= limits.shared_bytes)
		j.data = NULL;
	else
		shared = sizeof(struct room);
	SL_TRY(SL_LAUNCH(segments_kernel, grid(segments, limits.multiprocessors, BLOCKS), THREADS,
		shared, x->stream, j));
	SL_TRY(SL_LAUNCH(streams_kernel, 1, THREADS, THREADS * sizeof(uint64_t), x->stream, j));
	return SL_LAUNCH(
		pack_kernel, grid(segments, limits.multiprocessors, 8), THREADS, 0, x->stream, j);
}

const struct sl_backend SL_NAME(sl_deflate_device) = {
	.name = "device",
	.primitive = SL_DEFLATE,
	.space = SL_DEVICE,
	.help = "a block of threads each 32 KiB: runs, matches, Huffman; one level",
	.scratch = scratch,
	.deflate = run,
};
