/*
 * sort/pairs.cuh - what the sorts of the device share: pairs of key and index that move from the
 * caller's buffer to another one and back, digit by digit from the least significant.
 */
#ifndef SL_SORT_PAIRS_CUH
#define SL_SORT_PAIRS_CUH

#include "primitives/base/kernel.cuh"
#include "primitives/primitives.h"

template <typename K> struct pairs {
	K *key;
	uint32_t *index;
};

/* Where in a key a digit is: its lowest bit, and ones for as many as it has. */
struct digit_place {
	uint32_t shift, mask;
};

template <typename K>
static __device__ __forceinline__ uint32_t digit_in(K key, struct digit_place d)
{
	return (uint32_t)(key >> d.shift) & d.mask;
}

/* The buffer that is not the caller's. */
struct other_pairs {
	void *key;       /* n */
	uint32_t *index; /* n */
};

static inline struct other_pairs cut_other(struct sl_arena *a, uint32_t n, enum sl_type type)
{
	struct other_pairs o;

	o.key = sl_cut_items(a, n, type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
	o.index = (uint32_t *)sl_cut_items(a, n, sizeof(*o.index));
	return o;
}

/* Digits of digit_bits that the job has; the last may be narrower. */
static inline uint32_t passes_of(const struct sl_sort_job *job, uint32_t digit_bits)
{
	return (job->end_bit - job->begin_bit + digit_bits - 1) / digit_bits;
}

static inline struct digit_place digit_of(
	const struct sl_sort_job *job, uint32_t pass, uint32_t digit_bits)
{
	uint32_t begin = job->begin_bit + pass * digit_bits, left = job->end_bit - begin;
	struct digit_place d = {begin, (1u << (left < digit_bits ? left : digit_bits)) - 1};

	return d;
}

/*
 * Calls each(pass, digit, from, to) for every pass. After an odd number of them the pairs are in
 * the other buffer and are copied back: 16 bytes a pair with u32 keys, as much as a pass moves, but
 * at the speed of a copy.
 */
template <typename K, class Each>
static inline enum sl_status for_passes(struct sl_exec *x, const struct sl_sort_job *job,
	struct other_pairs other, uint32_t digit_bits, const Each &each)
{
	struct pairs<K> from = {(K *)job->key, job->index}, to = {
		(K *)other.key, other.index
	};
	uint32_t passes = passes_of(job, digit_bits);

	for (uint32_t pass = 0; pass < passes; pass++) {
		struct pairs<K> sorted = to;

		SL_TRY(each(pass, digit_of(job, pass, digit_bits), from, to));
		to = from;
		from = sorted;
	}
	if (passes % 2 == 0)
		return SL_OK;
	SL_TRY(sl_copy(job->key, from.key, job->n * sizeof(K), x->stream));
	return sl_copy(job->index, from.index, job->n * sizeof(uint32_t), x->stream);
}

#endif
