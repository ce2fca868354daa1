/*
 * deflate/codes.cuh - the codes of a segment, and those of its header, by a block.
 *
 * A thread a symbol, or an item of a list (huffman.h). While one thread lists what the header has
 * to say, all add up the bits of slices, two threads each.
 */
#ifndef SL_DEFLATE_CODES_CUH
#define SL_DEFLATE_CODES_CUH

#include "primitives/base/kernel.cuh"
#include "lookup.cuh"

/* Tokens of half a slice: those of the first halves are the first threads'. */
static __device__ inline struct sl_tokens half_of(const struct part &p, uint32_t slice)
{
	uint32_t n = p.r->tokens[slice], first = threadIdx.x < SL_SLICES ? 0 : n / 2;

	return {p.token + first * SL_SLICES + slice, SL_SLICES,
		threadIdx.x < SL_SLICES ? n / 2 : n - n / 2};
}

/* Which of all halves is the thread's. */
static __device__ inline uint32_t half_number(void)
{
	return threadIdx.x % SL_SLICES * 2 + threadIdx.x / SL_SLICES;
}

/* An alphabet's symbols in order, by the threads from first on, one a symbol. */
static __device__ inline void sort_symbols(const struct part &p, const uint32_t *count,
	uint32_t base, uint32_t n, uint32_t s, uint32_t *used)
{
	if (s >= n || count[s] == 0)
		return;
	sl_huffman_place(&p.r->u.work, count, base, n, s);
	atomicAdd(used, 1);
}

/* The lists of one or two alphabets, at the same time. */
static __device__ inline void merge(struct sl_alphabet a, struct sl_alphabet b)
{
	for (;;) {
		uint32_t of_a = sl_list_items(&a), items = of_a + sl_list_items(&b);

		if (items == 0)
			return;
		for (uint32_t i = threadIdx.x; i < items; i += THREADS) {
			const struct sl_alphabet one = i < of_a ? a : b; /* stays in registers */

			sl_huffman_merge(&one, i < of_a ? i : i - of_a);
		}
		__syncthreads();
		sl_list_end(&a);
		sl_list_end(&b);
	}
}

/* Of literals and lengths, and of distances. */
static __device__ inline void make_codes(const struct part &p)
{
	struct sl_block *b = &p.r->block;
	struct sl_huffman_work *w = &p.r->u.work;
	uint32_t *used = p.r->used;

	if (threadIdx.x == 0)
		sl_huffman_two(b->count + SL_LENGTHS, SL_DISTANCES);
	__syncthreads();
	for (uint32_t s = threadIdx.x; s < SL_SYMBOLS_MOST; s += THREADS)
		if (s < SL_LENGTHS)
			sort_symbols(p, b->count, 0, SL_LENGTHS, s, &used[0]);
		else
			sort_symbols(p, b->count + SL_LENGTHS, SL_LENGTHS, SL_DISTANCES,
				s - SL_LENGTHS, &used[1]);
	__syncthreads();
	struct sl_alphabet lengths = sl_alphabet_of(w, 0, used[0], SL_CODE_MOST);
	struct sl_alphabet distances = sl_alphabet_of(w, SL_LENGTHS, used[1], SL_CODE_MOST);

	merge(lengths, distances);
	for (uint32_t i = threadIdx.x; i < used[0]; i += THREADS)
		b->length[w->order[i]] = sl_huffman_length(&lengths, i);
	if (threadIdx.x < used[1])
		b->length[SL_LENGTHS + w->order[SL_LENGTHS + threadIdx.x]] =
			sl_huffman_length(&distances, threadIdx.x);
	__syncthreads();
	for (uint32_t s = threadIdx.x; s < SL_LENGTHS; s += THREADS)
		b->code[s] = sl_huffman_code(b->length, SL_LENGTHS, s);
	if (threadIdx.x < SL_DISTANCES)
		b->code[SL_LENGTHS + threadIdx.x] =
			sl_huffman_code(b->length + SL_LENGTHS, SL_DISTANCES, threadIdx.x);
}

/* Of the header's symbols, which one thread lists while others add up the bits of slices. */
static __device__ inline void make_header(const struct part &p)
{
	struct sl_block *b = &p.r->block;
	struct sl_huffman_work *w = &p.r->u.work;
	uint32_t t = threadIdx.x, slice = t % SL_SLICES;

	if (t == THREADS - 1)
		sl_header_make(b);
	if (slice < p.slices) {
		const struct sl_tokens tokens = half_of(p, slice);

		p.r->bits[half_number()] = (uint16_t)sl_tokens_bits(b, &tokens);
	}
	if (t < SL_CODE_LENGTHS)
		b->length_length[t] = 0;
	__syncthreads();
	sort_symbols(p, b->length_count, 0, SL_CODE_LENGTHS, t, &p.r->used[2]);
	__syncthreads();
	struct sl_alphabet a = sl_alphabet_of(w, 0, p.r->used[2], SL_CODE_LENGTH_MOST);

	merge(a, sl_alphabet_of(w, 0, 0, 0));
	if (t < a.used)
		b->length_length[w->order[t]] = sl_huffman_length(&a, t);
	__syncthreads();
	if (t < SL_CODE_LENGTHS)
		b->length_code[t] = sl_huffman_code(b->length_length, SL_CODE_LENGTHS, t);
	if (t == THREADS - 1)
		b->n_code_lengths = sl_code_lengths_used(b);
	__syncthreads();
}

#endif
