/*
 * encoder/huffman_codes.cuh - builds the Huffman codes of a segment and of its header with all
 * threads of a block.
 *
 * One thread per symbol or per list item (huffman.h). The last warp lists the code lengths of the
 * header while the others sum the bits of their slices.
 */
#ifndef SL_PRIMITIVES_DEFLATE_ENCODER_HUFFMAN_CODES_CUH
#define SL_PRIMITIVES_DEFLATE_ENCODER_HUFFMAN_CODES_CUH

#include "match_search.cuh"
#include "primitives/kernel/kernel.cuh"

/*
 * Sorts the symbols of an alphabet by count, one per thread; the symbols s of a warp are
 * consecutive, from a multiple of 32 on. Also finds the number of used symbols and the last one.
 */
static __device__ inline void sort_symbols(const struct segment_task &p, const uint32_t *count,
	uint32_t base, uint32_t n, uint32_t s, struct symbol_stats *a)
{
	bool is_used = s < n && count[s] > 0;
	uint32_t used = __ballot_sync(SL_LANES, is_used);

	if (is_used)
		sl_huffman_place(&p.mem->scratch.work, count, base, n, s);
	if (threadIdx.x % 32 == 0 && used > 0) {
		atomicAdd(&a->used, (uint32_t)__popc(used));
		atomicMax(&a->end, s + 1 + sl_floor_log2(used));
	}
}

/* For a warp: sl_huffman_use_two() for the distances. */
static __device__ inline void use_two(uint32_t *count)
{
	uint32_t s = threadIdx.x % 32,
		 free = __ballot_sync(SL_LANES, s < SL_DISTANCE_SYMBOLS && count[s] == 0);
	uint32_t used = (uint32_t)(SL_DISTANCE_SYMBOLS - __popc(free));

	if ((free >> s & 1) && (uint32_t)__popc(free & ((1u << s) - 1)) + used < 2)
		count[s] = 1;
	__syncwarp();
}

/* For a block: package-merge of one or two alphabets at the same time. */
static __device__ inline void merge(struct sl_alphabet a, struct sl_alphabet b)
{
	for (;;) {
		uint32_t items_a = sl_huffman_list_items(&a),
			 items = items_a + sl_huffman_list_items(&b);

		if (items == 0)
			return;
		for (uint32_t i = threadIdx.x; i < items; i += THREADS) {
			const struct sl_alphabet one =
				i < items_a ? a : b; /* a copy, so that it stays in registers */

			sl_huffman_merge(&one, i < items_a ? i : i - items_a);
		}
		__syncthreads();
		sl_huffman_next_list(&a);
		sl_huffman_next_list(&b);
	}
}

/* Stores the code length of the i-th symbol in order, and counts it. */
static __device__ inline void set_length(
	const struct sl_alphabet &alphabet, uint32_t i, uint8_t *length, struct symbol_stats *a)
{
	uint8_t bits = sl_huffman_length(&alphabet, i);

	length[alphabet.w->order[alphabet.base + i]] = bits;
	atomicAdd(&a->of_length[bits], 1u);
}

/* Builds the codes of literals and lengths, and of distances. */
static __device__ inline void make_codes(const struct segment_task &p)
{
	struct sl_deflate_block *b = &p.mem->block;
	struct sl_huffman_work *w = &p.mem->scratch.work;
	struct symbol_stats *literal_stats = &p.mem->symbol_stats[LITERALS],
			    *distance_stats = &p.mem->symbol_stats[DISTANCES];
	uint32_t t = threadIdx.x, *distance = b->count + SL_LITLEN_SYMBOLS;

	sort_symbols(p, b->count, 0, SL_LITLEN_SYMBOLS, t, literal_stats);
	if (t < 32) {
		sort_symbols(p, b->count, 0, SL_LITLEN_SYMBOLS, THREADS + t, literal_stats);
	} else if (t < 64) {
		use_two(distance);
		sort_symbols(p, distance, SL_LITLEN_SYMBOLS, SL_DISTANCE_SYMBOLS, t - 32,
			distance_stats);
	}
	__syncthreads();
	struct sl_alphabet lengths = sl_alphabet_of(w, 0, literal_stats->used, SL_CODE_MAX);
	struct sl_alphabet distances =
		sl_alphabet_of(w, SL_LITLEN_SYMBOLS, distance_stats->used, SL_CODE_MAX);

	merge(lengths, distances);
	for (uint32_t i = t; i < lengths.used; i += THREADS)
		set_length(lengths, i, b->length, literal_stats);
	if (t < distances.used)
		set_length(distances, t, b->length + SL_LITLEN_SYMBOLS, distance_stats);
	__syncthreads();
	for (uint32_t s = t; s < SL_LITLEN_SYMBOLS; s += THREADS)
		b->code[s] = sl_huffman_code(b->length, literal_stats->of_length, s);
	if (t < SL_DISTANCE_SYMBOLS)
		b->code[SL_LITLEN_SYMBOLS + t] = sl_huffman_code(
			b->length + SL_LITLEN_SYMBOLS, distance_stats->of_length, t);
}

/* Inclusive scan over the lanes. (Hillis and Steele.) */
static __device__ inline uint32_t sum_up_to_lane(uint32_t mine)
{
	uint32_t lane = threadIdx.x % 32;

	for (uint32_t by = 1; by < 32; by *= 2) {
		uint32_t below = __shfl_up_sync(SL_LANES, mine, by);

		mine += lane >= by ? below : 0;
	}
	return mine;
}

/*
 * For a warp: lists the code lengths of the header, one lane per run of equal lengths. Marks where
 * these runs start in run_starts, which is no longer needed for the bytes.
 */
static __device__ inline void list_lengths(const struct segment_task &p)
{
	struct sl_deflate_block *b = &p.mem->block;
	uint32_t lane = threadIdx.x % 32, *run_starts = p.mem->run_starts, symbols = 0;
	uint32_t n = p.mem->symbol_stats[LITERALS].end + p.mem->symbol_stats[DISTANCES].end;

	if (lane == 0) {
		b->n_lengths = p.mem->symbol_stats[LITERALS].end;
		b->n_distances = p.mem->symbol_stats[DISTANCES].end;
	}
	if (lane < SL_CODE_LENGTH_SYMBOLS)
		b->length_count[lane] = 0;
	__syncwarp();
	for (uint32_t row = 0; row < n; row += 32) {
		uint32_t i = row + lane;
		bool begins = i < n && (i == 0 || sl_block_header_length(b, i) !=
							  sl_block_header_length(b, i - 1));
		uint32_t word = __ballot_sync(SL_LANES, begins);

		if (lane == 0)
			run_starts[row / 32] = word;
	}
	__syncwarp();
	for (uint32_t row = 0; row < n; row += 32) {
		uint32_t i = row + lane, length = 0, same = 0, mine = 0, sum;

		if (run_starts[row / 32] >> lane & 1) {
			length = sl_block_header_length(b, i);
			same = 1 + sl_run_length(run_starts, i + 1, n - i - 1);
			mine = sl_repeat_symbols(length, same);
		}
		sum = symbols + sum_up_to_lane(mine);
		if (same > 0)
			sl_block_header_repeat(b, sum - mine, length, same);
		symbols = __shfl_sync(SL_LANES, sum, 31);
	}
	if (lane == 0)
		b->n_symbols = symbols;
}

/* Bit offset of the thread's tokens in the block, and of the end of all tokens. */
struct bit_offsets {
	uint32_t before, all;
};

/* From the scan within each warp and the sums of the warps. */
static __device__ inline struct bit_offsets bit_offsets_of(
	const struct segment_task &p, uint32_t mine, uint32_t sum)
{
	uint32_t header = sl_block_header_bits(&p.mem->block);
	struct bit_offsets b = {header + sum - mine, header};

	for (uint32_t warp = 0; warp < WARPS; warp++) {
		b.before += warp < threadIdx.x / 32 ? p.mem->bits[warp] : 0;
		b.all += p.mem->bits[warp];
	}
	return b;
}

/* Builds the header and its code; returns the bit offsets of the tokens. */
static __device__ inline struct bit_offsets make_header(
	const struct segment_task &p, const struct sl_tokens &tokens)
{
	struct sl_deflate_block *b = &p.mem->block;
	struct sl_huffman_work *w = &p.mem->scratch.work;
	struct symbol_stats *code_lengths = &p.mem->symbol_stats[CODE_LENGTHS];
	uint32_t t = threadIdx.x, mine, sum;

	if (t / 32 == WARPS - 1)
		list_lengths(p);
	mine = sl_tokens_bits(b, &tokens);
	sum = sum_up_to_lane(mine);
	if (t % 32 == 31)
		p.mem->bits[t / 32] = sum;
	if (t < SL_CODE_LENGTH_SYMBOLS)
		b->length_length[t] = 0;
	__syncthreads();
	if (t < 32)
		sort_symbols(p, b->length_count, 0, SL_CODE_LENGTH_SYMBOLS, t, code_lengths);
	__syncthreads();
	struct sl_alphabet a = sl_alphabet_of(w, 0, code_lengths->used, SL_CODE_LENGTH_MAX);

	merge(a, sl_alphabet_of(w, 0, 0, 0));
	if (t < a.used)
		set_length(a, t, b->length_length, code_lengths);
	__syncthreads();
	if (t < SL_CODE_LENGTH_SYMBOLS)
		b->length_code[t] = sl_huffman_code(b->length_length, code_lengths->of_length, t);
	if (t == THREADS - 1)
		b->n_code_lengths = sl_code_lengths_used(b);
	__syncthreads();
	return bit_offsets_of(p, mine, sum);
}

#endif
