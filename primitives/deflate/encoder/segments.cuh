/*
 * encoder/segments.cuh - compresses segments, one thread block each: loads the bytes, searches,
 * parses, builds the codes and writes a DEFLATE block to scratch.
 *
 * MATCHES: whether the kernel searches matches and runs (device.cu), or runs only (device_fast.cu).
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_SEGMENTS_CUH
#define SL_PRIMITIVES_DEFLATE_ENCODER_SEGMENTS_CUH

#include "assemble.cuh"
#include "huffman_codes.cuh"
#include "match_search.cuh"
#include "primitives/kernel/kernel.cuh"

enum {
	BLOCKS = 4,      /* per multiprocessor, limited by shared memory (228 KiB on an H200) */
	BLOCKS_MAX = 600 /* each needs separate scratch */
};

static_assert(THREADS == (int)SL_SLICES, "one thread per slice");
static_assert(BLOCKS * (sizeof(struct block_memory) + 1024) <= 228 * 1024,
	"BLOCKS blocks fit in the shared memory of a multiprocessor");

/* --- bytes ------------------------------------------------------------------------------------ */

/* Resets the block's state and loads the bytes of the history and the segment. */
static __device__ inline void load_segment(const struct segment_task &p, const struct sl_streams &s)
{
	struct block_memory *mem = p.mem;

	for (uint32_t i = threadIdx.x; i < SL_LITLEN_SYMBOLS + SL_DISTANCE_SYMBOLS; i += THREADS) {
		mem->block.count[i] = i == SL_END_OF_BLOCK;
		mem->block.length[i] = 0;
	}
	if (threadIdx.x < ALPHABETS)
		mem->symbol_stats[threadIdx.x] = symbol_stats{};
	if (s.wrapper == SL_GZIP)
		mem->scratch.checksums.crc[threadIdx.x] = sl_crc_of_byte(threadIdx.x);
	if (threadIdx.x < SL_PAD)
		mem->data[p.end + threadIdx.x] = 0;
	if (threadIdx.x == 0) {
		mem->sum = mem->found = mem->runs = mem->probe[0] = mem->probe[1] = 0;
		mem->block.cost.min = UINT8_MAX;
		mem->checksum = sl_deflate_checksum{0, 0};
	}
	sl_chunk_load(&s, p.segment.stream, p.segment.from - p.segment.history,
		p.segment.history + p.segment.bytes, threadIdx.x, THREADS, mem->data + p.begin);
}

/* Sum over the lanes, in lane 0. */
static __device__ inline uint32_t sum_of_lanes(uint32_t mine)
{
	for (uint32_t by = 16; by > 0; by /= 2)
		mine += __shfl_down_sync(SL_LANES, mine, by);
	return mine;
}

/* Minimum over the lanes, in lane 0. */
static __device__ inline uint32_t least_of_lanes(uint32_t mine)
{
	for (uint32_t by = 16; by > 0; by /= 2) {
		uint32_t other = __shfl_down_sync(SL_LANES, mine, by);

		mine = other < mine ? other : mine;
	}
	return mine;
}

/*
 * For a warp: counts 32 bytes, one atomic per run of equal neighbours, and stores the bit mask of
 * the positions where runs start.
 */
static __device__ inline void count_row(
	const struct segment_task &p, uint32_t i, uint32_t byte, bool begins)
{
	uint32_t lane = threadIdx.x % 32, word = __ballot_sync(SL_LANES, begins);
	uint32_t next = word >> lane >> 1, equal = next ? (uint32_t)__ffs((int)next) : 32 - lane;

	equal = equal < p.end - i ? equal : p.end - i;
	if (i < p.end && (begins || lane == 0))
		atomicAdd(&p.mem->block.count[byte], equal);
	if (lane == 0)
		p.mem->run_starts[i / 32] = word;
}

/*
 * Counts the bytes, marks run starts, and computes Adler-32. ROWS rows are loaded before the first
 * is used, to overlap latencies.
 */
static __device__ inline void count(const struct segment_task &p)
{
	uint32_t lane = threadIdx.x % 32, runs = 0, a = 0, b = 0;
	struct block_memory *mem = p.mem;

	for (uint32_t round = SL_HISTORY; round < p.end; round += ROWS * THREADS) {
		uint32_t byte[ROWS];
		bool begins[ROWS];

		SL_UNROLL
		for (uint32_t k = 0; k < ROWS; k++) {
			uint32_t i = round + k * THREADS + threadIdx.x;

			byte[k] = i < p.end ? mem->data[i] : 0;
			begins[k] = i < p.end && sl_starts_run(mem->data, p.begin, i);
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
	b = sum_of_lanes(b % SL_ADLER_MODULUS);
	if (lane == 0) {
		atomicAdd(&mem->runs, runs);
		atomicAdd(&mem->checksum.a, a);
		atomicAdd(&mem->checksum.b, b);
	}
}

/* CRC-32: each thread does one slice, then slices are joined pairwise in log2(slices) steps. */
static __device__ inline void make_crc(const struct segment_task &p)
{
	uint32_t slice = threadIdx.x;
	struct sl_deflate_checksum *checksum = p.mem->scratch.checksums.of_slice;

	if (slice < p.slices || slice == 0)
		checksum[slice] = sl_checksum_slice(SL_GZIP, p.mem->data + slice_from(slice),
			slice_to(p, slice) - slice_from(slice), p.mem->scratch.checksums.crc);
	__syncthreads();
	for (uint32_t by = 1; by < p.slices; by *= 2) {
		uint32_t right = slice + by, last = right + by < p.slices ? right + by : p.slices;

		if (slice % (2 * by) == 0 && right < p.slices)
			checksum[slice] = sl_checksum_join(SL_GZIP, checksum[slice],
				checksum[right], slice_to(p, last - 1) - slice_from(right));
		__syncthreads();
	}
	if (slice == 0)
		p.mem->checksum = checksum[0];
	__syncthreads();
}

/*
 * Sets the cost of each literal in a code for literals only, the minimum, and the total; resets the
 * counts.
 */
static __device__ inline void make_costs(const struct segment_task &p)
{
	uint32_t n = p.segment.bytes, *count = &p.mem->block.count[threadIdx.x];
	uint32_t cost = sl_literal_cost(*count, n), least = least_of_lanes(cost);
	uint32_t sum = sum_of_lanes(sl_literal_entropy(*count, n));

	p.mem->block.cost.literal[threadIdx.x] = (uint8_t)cost;
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&p.mem->sum, sum);
		atomicMin(&p.mem->block.cost.min, least);
	}
	*count = 0;
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Cost of the first slices, one per lane: by runs in warp 0, by matches in warp 1. */
static __device__ inline void probe(const struct segment_task &p)
{
	uint32_t slice = threadIdx.x % 32, warp = threadIdx.x / 32;
	struct sl_parse q = {p.mem->data, p.mem->run_starts, &p.mem->block.cost, p.end, NULL};

	if (warp < 2 && slice < SL_PROBE_SLICES)
		atomicAdd(&p.mem->probe[warp],
			sl_slice_cost(&q, warp == 0 ? SL_MODE_RUNS : SL_MODE_MATCHES,
				slice_from(slice), p.found + slice, SL_SLICES));
	__syncthreads();
}

/* Chooses the mode of the segment; searches matches if the mode may need them. */
template <bool MATCHES>
static __device__ inline enum sl_match_mode search_matches(const struct segment_task &p)
{
	uint32_t n = p.segment.bytes, first = SL_PROBE + (uint32_t)SL_HISTORY;
	enum sl_match_mode mode = sl_match_mode_initial(p.mem->runs, n);

	if constexpr (!MATCHES) {
		__syncthreads(); /* make_costs() added to sum */
		return sl_match_mode_fast(mode, p.mem->runs, p.mem->sum, n);
	}
	if (mode == SL_MODE_MATCHES && sl_hashed_end(p.end) >= first) {
		search_positions(p, first);
		if (p.mem->found >= SL_PROBE_MATCHES_MIN)
			probe(p);
		mode = sl_match_mode_after_probe(sl_matches_gain(p.mem->probe[0], p.mem->probe[1]),
			p.mem->runs, p.mem->sum, n);
	}
	if (mode == SL_MODE_MATCHES)
		search_positions(p, sl_hashed_end(p.end));
	return mode;
}

/*
 * Position, plus 1, where the run that continues into the thread's slice started; 0: in the
 * history.
 */
static __device__ inline uint32_t previous_run_start(const struct segment_task &p)
{
	uint32_t slice = threadIdx.x, run = 0;

	while (slice > 0 && run == 0)
		run = p.mem->run[--slice];
	return run;
}

/* Parses the thread's slice; threads past the last slice return no tokens. */
template <bool MATCHES>
static __device__ inline struct sl_tokens parse(
	const struct segment_task &p, enum sl_match_mode mode)
{
	const bool by_matches = MATCHES && mode == SL_MODE_MATCHES;

	struct sl_parse q = {
		p.mem->data, p.mem->run_starts, &p.mem->block.cost, p.end, p.mem->block.count};
	uint32_t slice = threadIdx.x, from = slice_from(slice), to = slice_to(p, slice);
	struct sl_tokens tokens = {p.token + slice, SL_SLICES, 0, 0};
	bool in_segment = slice < p.slices;

	if (in_segment)
		p.mem->run[slice] = (uint16_t)sl_last_run_start(q.run_starts, from, to);
	__syncthreads();
	if (in_segment && by_matches)
		sl_parse_matches(&q, from, to, p.found + slice, &tokens);
	else if (in_segment)
		sl_parse_runs(&q, sl_run_resumed(&q, previous_run_start(p), from), to, &tokens);
	if (by_matches) {
		uint32_t n = __shfl_up_sync(SL_LANES, tokens.n, 1);
		const struct sl_tokens left = {tokens.first - 1, SL_SLICES, n, 0};

		__syncwarp();
		if (in_segment && slice % 2 == 1)
			sl_tokens_join(&q, &left, &tokens);
	}
	return tokens;
}

/* --- bits ------------------------------------------------------------------------------------- */

/*
 * Writes a stored block to scratch, by words: the 5 bytes of its header shift the segment by one
 * byte within a word.
 */
static __device__ inline uint32_t store(const struct segment_task &p, uint8_t *to)
{
	const uint32_t *word = (const uint32_t *)(p.mem->data + SL_HISTORY);
	uint32_t bytes = p.segment.bytes + SL_STORED_HEADER_BYTES, lead[2] = {0, 0};

	for (uint32_t i = 0; i < SL_STORED_HEADER_BYTES; i++)
		lead[i / 4] |= (uint32_t)sl_stored_header_byte(p.segment.last, p.segment.bytes, i)
		               << i % 4 * 8;
	for (uint32_t i = threadIdx.x; i < (bytes + 3) / 4; i += THREADS)
		((uint32_t *)to)[i] = i == 0   ? lead[0]
		                      : i == 1 ? lead[1] | word[0] << 8
		                               : word[i - 2] >> 24 | word[i - 1] << 8;
	return bytes;
}

/*
 * Writes a coded block into the words that held the bytes, all slices at the same time, and copies
 * it to scratch.
 */
static __device__ inline void write(const struct segment_task &p, const struct sl_tokens &tokens,
	struct bit_offsets bits, uint32_t bytes, uint8_t *to)
{
	const struct sl_deflate_block *b = &p.mem->block;
	uint32_t *word = (uint32_t *)p.mem->data, words = (bytes + 3) / 4;

	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		word[i] = 0;
	__syncthreads();
	sl_tokens_write(b, &tokens, word, bits.before);
	if (threadIdx.x == THREADS - 1) {
		sl_block_header_write(b, p.segment.last, word);
		sl_block_end(b, p.segment.last, word, bits.all);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < words; i += THREADS)
		((uint32_t *)to)[i] = word[i];
}

/* Encodes the parsed segment, or stores it if that is shorter. Returns its bytes in scratch. */
static __device__ inline uint32_t encode(
	const struct segment_task &p, const struct sl_tokens &tokens, uint8_t *to)
{
	const struct sl_deflate_block *b = &p.mem->block;
	const struct bit_offsets bits = make_header(p, tokens);
	uint32_t bytes = sl_block_bytes(b, p.segment.last, bits.all);

	if (bytes > p.segment.bytes)
		return store(p, to);
	write(p, tokens, bits, bytes, to);
	return bytes;
}

/* Searches, parses and encodes a loaded segment. Returns its bytes in scratch. */
template <bool MATCHES>
static __device__ inline uint32_t compress(
	const struct segment_task &p, enum sl_wrapper wrapper, uint8_t *to)
{
	enum sl_match_mode mode;

	count(p);
	__syncthreads();
	if (wrapper == SL_GZIP)
		make_crc(p);
	make_costs(p);
	mode = p.segment.bytes > 0 ? search_matches<MATCHES>(p) : SL_MODE_STORED;
	if (mode == SL_MODE_STORED)
		return store(p, to);
	const struct sl_tokens tokens = parse<MATCHES>(p, mode);

	__syncthreads();
	make_codes(p);
	return encode(p, tokens, to);
}

/*
 * Persistent blocks take segments by tickets, because the time of a segment varies by a factor of
 * ten.
 */
template <bool MATCHES>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
	segments_kernel(const __grid_constant__ struct deflate_job job)
{
	SL_SHARED_DYNAMIC(struct block_memory, mem);
	uint64_t k = blockIdx.x;
	struct segment_task p = {mem, MATCHES ? job.found + k * SL_POSITIONS : NULL,
		MATCHES ? job.sorted + k * SORTED_POSITIONS : NULL, job.token + k * SL_SEGMENT};

	for (;;) {
		if (threadIdx.x == 0)
			mem->segment = atomicAdd(job.ticket, 1);
		__syncthreads();
		uint64_t s = mem->segment;

		if (s >= job.n_segments)
			return;
		const struct deflate_part &part = part_of_segment(job, s);
		p.segment = sl_segment_of(&part.streams, s - part.first_segment);
		p.begin = SL_HISTORY - p.segment.history;
		p.end = SL_HISTORY + p.segment.bytes;
		p.slices = (p.segment.bytes + SL_SLICE - 1) / SL_SLICE;
		load_segment(p, part.streams);
		__syncthreads();
		uint32_t bytes = compress<MATCHES>(p, job.wrapper, job.staged + s * STAGED_BYTES);
		if (threadIdx.x == THREADS - 1) {
			job.segment_output[s].bytes = bytes;
			job.segment_output[s].checksum = sl_checksum_join(job.wrapper,
				sl_deflate_checksum{0, 0}, mem->checksum, p.segment.bytes);
		}
	}
}

#endif
