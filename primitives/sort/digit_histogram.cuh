/*
 * sort/digits.cuh - digits of 8 bits: how often each occurs, for all passes in one read.
 *
 * No pass changes how often a digit occurs, so the counts of all of them can be taken before the
 * first. (Adinets and Merrill, Onesweep, 2022.) Reads a key once.
 */
#ifndef SL_PRIMITIVES_SORT_DIGIT_HISTOGRAM_CUH
#define SL_PRIMITIVES_SORT_DIGIT_HISTOGRAM_CUH

#include "pairs.cuh"
#include "warp_ballot.cuh"

enum {
	DIGIT_BITS = 8,
	DIGITS = 1 << DIGIT_BITS,
	PASSES_MAX = 64 / DIGIT_BITS,
	/* six blocks with 32 KiB of counts fit on an H200's multiprocessor; each has 8 loads in
	   flight a thread, 48 KiB a multiprocessor of u32 */
	COUNT_BLOCK = 256,
	COUNT_BLOCKS = 6,
	COUNT_LOADS = 8
};

/* The bits that are sorted by are those of mask, at shift. */
template <typename K> struct key_bits {
	K mask;
	uint32_t shift, passes;
};

/*
 * A block's counts, each in several parts. A lane adds to one of them; the parts of a count lie in
 * neighbouring banks, so lanes meet in a bank only if they have the same part.
 */
template <typename K> struct digit_counts {
	static constexpr uint32_t passes = 8 * sizeof(K) / DIGIT_BITS, replicas = 32 / passes;

	uint32_t of[passes][DIGITS][replicas];
};

template <typename K>
static __device__ __forceinline__ void count_key(
	K key, const struct key_bits<K> &bits, struct digit_counts<K> &s_count)
{
	K rest = key >> bits.shift & bits.mask;
	uint32_t replica = lane_index() % s_count.replicas;

	SL_UNROLL
	for (uint32_t pass = 0; pass < s_count.passes; pass++, rest >>= DIGIT_BITS)
		if (pass < bits.passes)
			atomicAdd(&s_count.of[pass][rest % DIGITS][replica], 1);
}

/* Adds to count[pass][digit]. A block counts for itself first, then adds what is not 0. */
template <typename K>
static __global__ void __launch_bounds__(COUNT_BLOCK)
	count_kernel(const K *key, uint64_t n, struct key_bits<K> bits, uint32_t (*count)[DIGITS])
{
	SL_SHARED(struct digit_counts<K>, s_count);
	uint32_t *all = &s_count.of[0][0][0];

	sl_let_next_begin();
	for (uint32_t i = threadIdx.x; i < sizeof(s_count) / sizeof(*all); i += blockDim.x)
		all[i] = 0;
	__syncthreads();
	for (uint64_t first = (uint64_t)blockIdx.x * COUNT_LOADS * COUNT_BLOCK; first < n;
		first += (uint64_t)gridDim.x * COUNT_LOADS * COUNT_BLOCK) {
		const K *from = key + first + threadIdx.x;
		uint64_t left = n - first;
		K some[COUNT_LOADS];

		SL_UNROLL
		for (uint32_t i = 0; i < COUNT_LOADS; i++)
			some[i] = threadIdx.x + i * COUNT_BLOCK < left ? from[i * COUNT_BLOCK] : 0;
		SL_UNROLL
		for (uint32_t i = 0; i < COUNT_LOADS; i++)
			if (threadIdx.x + i * COUNT_BLOCK < left)
				count_key(some[i], bits, s_count);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < bits.passes * DIGITS; i += blockDim.x) {
		uint32_t own = 0;

		SL_UNROLL
		for (uint32_t replica = 0; replica < s_count.replicas; replica++)
			own += s_count.of[i / DIGITS][i % DIGITS][replica];
		if (own > 0)
			atomicAdd(&count[i / DIGITS][i % DIGITS], own);
	}
}

/* Adds to count[pass][digit], all 0, how often each digit occurs in each pass. */
template <typename K>
static inline enum sl_status count_all_digits(
	struct sl_exec *x, const struct sl_sort_job *job, uint32_t (*count)[DIGITS])
{
	uint32_t width = job->end_bit - job->begin_bit;
	struct key_bits<K> bits = {
		(K)(~(K)0 >> (8 * sizeof(K) - width)), job->begin_bit, passes_of(job, DIGIT_BITS)
	};
	uint32_t blocks = sl_grid(job->n, COUNT_BLOCK * COUNT_LOADS), most;
	struct sl_limits limits;

	SL_TRY(sl_device_limits(&limits));
	most = limits.multiprocessors * COUNT_BLOCKS;
	return SL_LAUNCH(count_kernel<K>, blocks < most ? blocks : most, COUNT_BLOCK, 0, x->stream,
		(const K *)job->key, job->n, bits, count);
}

#endif
