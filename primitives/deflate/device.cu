/*
 * deflate/device.cu - DEFLATE on the device: a block of threads for each segment of 32 KiB.
 *
 * The threads gather the bytes of the segment, plane by plane (streams.h), count them and mark
 * where runs begin. Where more than runs is to be said, places are sorted by the hash of what
 * stands there (lookup.cuh), so that those to be tried for one stand before it, and all are tried
 * at the same time; first a few, as in the low planes of floats there is nothing to find, and these
 * are stored. A thread parses a slice of 128 bytes (tokens.h). Codes are made by all threads
 * (huffman.h). What the bits of each slice come to gives the place of those of the next, so all
 * slices are written at the same time, by atomic or, into the shared memory that held the bytes.
 * Segments wait in scratch; a warp for each stream adds up where they belong and joins their
 * checks, one block where streams do, and all are copied there.
 *
 * Beside its bytes, read once for each plane, a segment takes 10 bytes a byte for places in
 * order, what was found at them and tokens, in memory that a block uses for all its segments, so
 * that it stays in the cache. No byte depends on how many blocks or threads there are: cpu.c writes
 * the same.
 */
#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"
#include "codes.cuh"
#include "lookup.cuh"
#include "pack.cuh"

enum {
	BLOCKS = 4,       /* a multiprocessor, by their shared memory on a Hopper */
	BLOCKS_MOST = 600 /* for the memory that each has in scratch */
};

static_assert(THREADS == (int)SL_SLICES, "a thread a slice");
static_assert(BLOCKS * (sizeof(struct room) + 1024) <= 228 * 1024, "blocks of a multiprocessor");

/* --- bytes ------------------------------------------------------------------------------------ */

static __device__ inline void load(const struct part &p, const struct sl_streams &s)
{
	struct room *r = p.r;

	for (uint32_t i = threadIdx.x; i < SL_LENGTHS + SL_DISTANCES; i += THREADS) {
		r->block.count[i] = i == SL_END;
		r->block.length[i] = 0;
	}
	if (threadIdx.x < ALPHABETS)
		r->alphabet[threadIdx.x] = alphabet{};
	if (s.wrapper == SL_GZIP)
		r->u.checks.crc[threadIdx.x] = sl_crc_of_byte(threadIdx.x);
	if (threadIdx.x < SL_PAD)
		r->data[p.end + threadIdx.x] = 0;
	if (threadIdx.x == 0) {
		r->sum = r->found = r->runs = r->probe[0] = r->probe[1] = 0;
		r->block.cost.least = UINT8_MAX;
		r->check = sl_check{0, 0};
	}
	sl_chunk_load(&s, p.segment.stream, p.segment.from - p.segment.history,
		p.segment.history + p.segment.bytes, threadIdx.x, THREADS, r->data + p.begin);
}

/* A sum of all lanes, for the first. */
static __device__ inline uint32_t sum_of_lanes(uint32_t mine)
{
	for (uint32_t by = 16; by > 0; by /= 2)
		mine += __shfl_down_sync(SL_LANES, mine, by);
	return mine;
}

/* The least of all lanes, for the first. */
static __device__ inline uint32_t least_of_lanes(uint32_t mine)
{
	for (uint32_t by = 16; by > 0; by /= 2) {
		uint32_t other = __shfl_down_sync(SL_LANES, mine, by);

		mine = other < mine ? other : mine;
	}
	return mine;
}

/* Counts the bytes of a row, alike neighbours at once, and marks where runs begin. */
static __device__ inline void count_row(
	const struct part &p, uint32_t i, uint32_t byte, bool begins)
{
	uint32_t lane = threadIdx.x % 32, word = __ballot_sync(SL_LANES, begins);
	uint32_t next = word >> lane >> 1, alike = next ? (uint32_t)__ffs((int)next) : 32 - lane;

	alike = alike < p.end - i ? alike : p.end - i;
	if (i < p.end && (begins || lane == 0))
		atomicAdd(&p.r->block.count[byte], alike);
	if (lane == 0)
		p.r->breaks[i / 32] = word;
}

/* Counts bytes, marks runs, and sums up Adler's check; some rows are read before the first is used.
 */
static __device__ inline void count(const struct part &p)
{
	uint32_t lane = threadIdx.x % 32, runs = 0, a = 0, b = 0;
	struct room *r = p.r;

	for (uint32_t round = SL_HISTORY; round < p.end; round += ROWS * THREADS) {
		uint32_t byte[ROWS];
		bool begins[ROWS];

		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++) {
			uint32_t i = round + k * THREADS + threadIdx.x;

			byte[k] = i < p.end ? r->data[i] : 0;
			begins[k] = i < p.end && sl_is_break(r->data, p.begin, i);
		}
		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++) {
			uint32_t i = round + k * THREADS + threadIdx.x;

			count_row(p, i, byte[k], begins[k]);
			runs += begins[k];
			a += byte[k];
			b += (p.end - i) * byte[k];
		}
	}
	runs = sum_of_lanes(runs);
	a = sum_of_lanes(a);
	b = sum_of_lanes(b % SL_ADLER);
	if (lane == 0) {
		atomicAdd(&r->runs, runs);
		atomicAdd(&r->check.a, a);
		atomicAdd(&r->check.b, b);
	}
}

/* The other check, of slices; then joins these, neighbours first. */
static __device__ inline void make_crc(const struct part &p)
{
	uint32_t slice = threadIdx.x;
	struct sl_check *check = p.r->u.checks.of_slice;

	if (slice < p.slices || slice == 0)
		check[slice] = sl_check_slice(SL_GZIP, p.r->data + slice_from(slice),
			slice_to(p, slice) - slice_from(slice), p.r->u.checks.crc);
	__syncthreads();
	for (uint32_t by = 1; by < p.slices; by *= 2) {
		uint32_t right = slice + by, last = right + by < p.slices ? right + by : p.slices;

		if (slice % (2 * by) == 0 && right < p.slices)
			check[slice] = sl_check_join(SL_GZIP, check[slice], check[right],
				slice_to(p, last - 1) - slice_from(right));
		__syncthreads();
	}
	if (slice == 0)
		p.r->check = check[0];
	__syncthreads();
}

/* What literals cost if there is nothing else; their counts are 0 again. */
static __device__ inline void make_costs(const struct part &p)
{
	uint32_t n = p.segment.bytes, *count = &p.r->block.count[threadIdx.x];
	uint32_t cost = sl_literal_cost(*count, n), least = least_of_lanes(cost);
	uint32_t sum = sum_of_lanes(sl_literal_sum(*count, n));

	p.r->block.cost.of[threadIdx.x] = (uint8_t)cost;
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&p.r->sum, sum);
		atomicMin(&p.r->block.cost.least, least);
	}
	*count = 0;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* What the first slices take, a lane each: by runs in the first warp, by matches in the second. */
static __device__ inline void probe(const struct part &p)
{
	uint32_t slice = threadIdx.x % 32, warp = threadIdx.x / 32;
	struct sl_parse q = {p.r->data, p.r->breaks, &p.r->block.cost, p.end, NULL};

	if (warp < 2 && slice < SL_PROBE_SLICES)
		atomicAdd(
			&p.r->probe[warp], sl_slice_cost(&q, warp == 0 ? SL_RUNS : SL_MATCHES,
						   slice_from(slice), p.found + slice, SL_SLICES));
	__syncthreads();
}

/* What is to be said: looks up matches, if it is they. */
static __device__ inline enum sl_device_mode look_up(const struct part &p)
{
	uint32_t n = p.segment.bytes, first = SL_PROBE + (uint32_t)SL_HISTORY;
	enum sl_device_mode way = sl_device_mode_first(p.r->runs, n);

	if (way == SL_MATCHES && sl_hashed_end(p.end) >= first) {
		look_up_places(p, first);
		if (p.r->found >= SL_FOUND_LEAST)
			probe(p);
		way = sl_device_mode_of(
			sl_matches_gain(p.r->probe[0], p.r->probe[1]), p.r->runs, p.r->sum, n);
	}
	if (way == SL_MATCHES)
		look_up_places(p, sl_hashed_end(p.end));
	return way;
}

/* Where the run began, plus 1, that goes on into the thread's slice; 0: in the history. */
static __device__ inline uint32_t run_before(const struct part &p)
{
	uint32_t slice = threadIdx.x, run = 0;

	while (slice > 0 && run == 0)
		run = p.r->run[--slice];
	return run;
}

/* The tokens of the thread's slice; of one behind the last, none. */
static __device__ inline struct sl_tokens parse(const struct part &p, enum sl_device_mode way)
{
	struct sl_parse q = {p.r->data, p.r->breaks, &p.r->block.cost, p.end, p.r->block.count};
	uint32_t slice = threadIdx.x, from = slice_from(slice), to = slice_to(p, slice);
	struct sl_tokens tokens = {p.token + slice, SL_SLICES, 0, 0};
	bool there = slice < p.slices;

	if (there)
		p.r->run[slice] = (uint16_t)sl_last_break(q.breaks, from, to);
	__syncthreads();
	if (there && way == SL_MATCHES)
		sl_parse_matches(&q, from, to, p.found + slice, &tokens);
	else if (there)
		sl_parse_runs(&q, sl_run_resumed(&q, run_before(p), from), to, &tokens);
	if (way == SL_MATCHES) {
		uint32_t n = __shfl_up_sync(SL_LANES, tokens.n, 1);
		const struct sl_tokens left = {tokens.first - 1, SL_SLICES, n, 0};

		__syncwarp();
		if (there && slice % 2 == 1)
			sl_tokens_join(&q, &left, &tokens);
	}
	return tokens;
}

/* --- bits ------------------------------------------------------------------------------------- */

/* Words: five bytes stand before those of the segment. */
static __device__ inline uint32_t store(const struct part &p, uint8_t *to)
{
	const uint32_t *word = (const uint32_t *)(p.r->data + SL_HISTORY);
	uint32_t bytes = p.segment.bytes + SL_STORED_BYTES, lead[2] = {0, 0};

	for (uint32_t i = 0; i < SL_STORED_BYTES; i++)
		lead[i / 4] |= (uint32_t)sl_stored_byte(p.segment.last, p.segment.bytes, i)
		               << i % 4 * 8;
	for (uint32_t i = threadIdx.x; i < (bytes + 3) / 4; i += THREADS)
		((uint32_t *)to)[i] = i == 0   ? lead[0]
		                      : i == 1 ? lead[1] | word[0] << 8
		                               : word[i - 2] >> 24 | word[i - 1] << 8;
	return bytes;
}

/* Into the words that held the bytes, all slices at the same time; from there to scratch. */
static __device__ inline void write(const struct part &p, const struct sl_tokens &tokens,
	struct bits bits, uint32_t bytes, uint8_t *to)
{
	const struct sl_block *b = &p.r->block;
	uint32_t *word = (uint32_t *)p.r->data, words = (bytes + 3) / 4;

	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		word[i] = 0;
	__syncthreads();
	sl_tokens_write(b, &tokens, word, bits.before);
	if (threadIdx.x == THREADS - 1) {
		sl_header_write(b, p.segment.last, word);
		sl_block_end(b, p.segment.last, word, bits.all);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		((uint32_t *)to)[i] = word[i];
}

/* Gives the bytes of the segment in scratch. */
static __device__ inline uint32_t encode(
	const struct part &p, const struct sl_tokens &tokens, uint8_t *to)
{
	const struct sl_block *b = &p.r->block;
	const struct bits bits = make_header(p, tokens);
	uint32_t bytes = sl_block_bytes(b, p.segment.last, bits.all);

	if (bytes > p.segment.bytes)
		return store(p, to);
	write(p, tokens, bits, bytes, to);
	return bytes;
}

/* The same, of a segment whose bytes are loaded. */
static __device__ inline uint32_t compress(
	const struct part &p, enum sl_wrapper wrapper, uint8_t *to)
{
	enum sl_device_mode way;

	count(p);
	__syncthreads();
	if (wrapper == SL_GZIP)
		make_crc(p);
	make_costs(p);
	way = p.segment.bytes > 0 ? look_up(p) : SL_STORED;
	if (way == SL_STORED)
		return store(p, to);
	const struct sl_tokens tokens = parse(p, way);

	__syncthreads();
	make_codes(p);
	return encode(p, tokens, to);
}

/* Blocks take segments as they come to them: some take ten times as long as others. */
static __global__ void __launch_bounds__(THREADS, BLOCKS) segments_kernel(struct deflate_job job)
{
	SL_SHARED_DYNAMIC(struct room, r);
	uint64_t k = blockIdx.x;
	struct part p = {
		r, job.found + k * SL_PLACES, job.order + k * ORDERED, job.token + k * SL_SEGMENT};

	for (;;) {
		if (threadIdx.x == 0)
			r->segment = atomicAdd(job.ticket, 1);
		__syncthreads();
		uint64_t s = r->segment;

		if (s >= job.streams.n_segments)
			return;
		p.segment = sl_segment_of(&job.streams, s);
		p.begin = SL_HISTORY - p.segment.history;
		p.end = SL_HISTORY + p.segment.bytes;
		p.slices = (p.segment.bytes + SL_SLICE - 1) / SL_SLICE;
		load(p, job.streams);
		__syncthreads();
		uint32_t bytes = compress(p, job.streams.wrapper, job.staged + s * PIECE_BYTES);
		if (threadIdx.x == THREADS - 1) {
			job.piece[s].bytes = bytes;
			job.piece[s].check = sl_check_join(
				job.streams.wrapper, sl_check{0, 0}, r->check, p.segment.bytes);
		}
	}
}

/* --- host ------------------------------------------------------------------------------------- */

static void cut(struct sl_arena *a, struct deflate_job *job)
{
	uint64_t n = job->streams.n_segments, blocks = n < BLOCKS_MOST ? n : (uint64_t)BLOCKS_MOST;

	job->staged = (uint8_t *)sl_cut_items(a, n, PIECE_BYTES);
	job->piece = (struct piece *)sl_cut_items(a, n, sizeof(*job->piece));
	job->place = (struct place *)sl_cut_items(a, job->streams.n, sizeof(*job->place));
	job->found = (uint32_t *)sl_cut_items(a, blocks * SL_PLACES, sizeof(*job->found));
	job->token = (uint32_t *)sl_cut_items(a, blocks * SL_SEGMENT, sizeof(*job->token));
	job->order = (uint16_t *)sl_cut_items(a, blocks * ORDERED, sizeof(*job->order));
	job->ticket = (uint64_t *)sl_cut_items(a, 1, sizeof(*job->ticket));
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
	uint64_t segments = j.streams.n_segments;
	struct sl_arena a = x->scratch;
	struct sl_limits limits;

	SL_TRY(sl_device_limits(&limits));
	cut(&a, &j);
	SL_TRY(sl_fill(j.ticket, 0, sizeof(*j.ticket), x->stream));
	SL_TRY(SL_LAUNCH(segments_kernel, grid(segments, limits.multiprocessors, BLOCKS), THREADS,
		sizeof(struct room), x->stream, j));
	/* no more than scratch has pieces for, of 32 KiB each */
	SL_TRY(SL_LAUNCH(sums_kernel, (uint32_t)j.streams.n, 32, 0, x->stream, j));
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
