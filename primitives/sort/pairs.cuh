/*
 * sort/pairs.cuh - what the sorts of the device share: pairs of key and index that move from the
 * caller's input to his output, by way of another buffer, digit by digit from the least
 * significant. Keys alone are pairs without an index.
 */
#ifndef SL_PRIMITIVES_SORT_PAIRS_CUH
#define SL_PRIMITIVES_SORT_PAIRS_CUH

#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

template <typename K> struct pairs {
	K *key;
	uint32_t *index; /* NULL: keys alone */
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
	uint32_t *index; /* n; NULL: keys alone */
};

static inline struct other_pairs cut_other(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only)
{
	struct other_pairs o = {};

	o.key = sl_cut_items(a, n, type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
	if (!keys_only)
		o.index = (uint32_t *)sl_cut_items(a, n, sizeof(*o.index));
	return o;
}

/* Digits of digit_bits that the job has; the last may be narrower. */
static inline uint32_t passes_of(const struct sl_sort_job *job, uint32_t digit_bits)
{
	return (job->end_bit - job->begin_bit + digit_bits - 1) / digit_bits;
}

/* The digit that begins there, of bits that end there. */
SL_HD struct digit_place digit_at(uint32_t begin_bit, uint32_t end_bit, uint32_t digit_bits)
{
	uint32_t left = end_bit - begin_bit;
	struct digit_place d = {begin_bit, (1u << (left < digit_bits ? left : digit_bits)) - 1};

	return d;
}

/* Where the sorted pairs go. */
template <typename K> static inline struct pairs<K> home_of(const struct sl_sort_job *job) {
	if (job->key_out)
		return {(K *)job->key_out, job->index_out};
	return {(K *)job->key, job->index};
}

template <typename K>
static inline enum sl_status copy_pairs(struct sl_exec *x, struct pairs<K> to, struct pairs<K> from,
	uint32_t n, bool key_spent = false)
{
	if (!key_spent)
		SL_TRY(sl_copy(to.key, from.key, n * sizeof(K), x->stream));
	return from.index ? sl_copy(to.index, from.index, n * sizeof(uint32_t), x->stream) : SL_OK;
}

/*
 * Calls each(pass, digit, from, to) for every pass. Passes write to the other buffer and home in
 * turns, the last one home. But in place the first cannot write where it reads: so after an odd
 * number of them the pairs are in the other buffer and are copied, 16 bytes a pair with u32 keys,
 * as much as a pass moves, but at the speed of a copy.
 */
template <typename K, class Each>
static inline enum sl_status for_passes(struct sl_exec *x, const struct sl_sort_job *job,
	struct other_pairs other, uint32_t digit_bits, const Each &each)
{
	const struct pairs<K> home = home_of<K>(job);
	struct pairs<K> from = {(K *)job->key, job->index}, to = {
	};
	uint32_t passes = passes_of(job, digit_bits), left = passes, bit = job->begin_bit;

	if (from.key == home.key)
		left += left % 2;
	for (uint32_t pass = 0; pass < passes; pass++, left--, bit += digit_bits) {
		if (left % 2 == 1)
			to = home;
		else
			to = {(K *)other.key, other.index};
		SL_TRY(each(pass, digit_at(bit, job->end_bit, digit_bits), from, to));
		from = to;
	}
	return from.key == home.key ? SL_OK : copy_pairs(x, home, from, job->n, job->key_spent);
}

#endif
