/*
 * sort/pairs.cuh - shared by the device sorts: the order of passes over pairs of key and index, and
 * the buffers between which they move.
 *
 * A least-significant-digit radix sort moves all pairs once per digit, from the input to the output
 * by way of a second buffer. Keys only are pairs without an index.
 */
#ifndef SL_PRIMITIVES_SORT_PAIRS_CUH
#define SL_PRIMITIVES_SORT_PAIRS_CUH

#include "primitives/count.cuh"

template <typename K> struct pairs {
	K *key;
	uint32_t *index; /* NULL: keys only */
};

/* Bit field of a key that a pass sorts by: (key >> shift) & mask. */
struct digit_field {
	uint32_t shift, mask;
};

/* The digit of a key. */
template <typename K>
static __device__ __forceinline__ uint32_t digit_in(K key, struct digit_field d)
{
	return (uint32_t)(key >> d.shift) & d.mask;
}

/* Moves pair i to place at of other arrays. */
template <typename K>
static __device__ __forceinline__ void move_pair(
	struct pairs<K> from, uint64_t i, struct pairs<K> to, uint64_t at)
{
	to.key[at] = from.key[i];
	if (to.index)
		to.index[at] = from.index[i];
}

/* The second buffer, in scratch. */
struct pair_buffer {
	void *key;       /* n */
	uint32_t *index; /* n; NULL: keys only */
};

/* Cuts or measures the second buffer. */
static inline struct pair_buffer cut_pair_buffer(
	struct sl_arena *a, uint32_t n, enum sl_type type, bool keys_only)
{
	struct pair_buffer o = {};

	o.key = sl_cut_items(a, n, sl_type_bytes(type));
	if (!keys_only)
		o.index = (uint32_t *)sl_cut_items(a, n, sizeof(*o.index));
	return o;
}

/* Number of passes for the job's bits; the last digit may be narrower. */
static inline uint32_t passes_of(const struct sl_sort_job *job, uint32_t digit_bits)
{
	return (job->end_bit - job->begin_bit + digit_bits - 1) / digit_bits;
}

/* The digit that starts at begin_bit; shortened if end_bit comes first. */
SL_HD struct digit_field digit_at(uint32_t begin_bit, uint32_t end_bit, uint32_t digit_bits)
{
	uint32_t left = end_bit - begin_bit;
	struct digit_field d = {begin_bit, (1u << (left < digit_bits ? left : digit_bits)) - 1};

	return d;
}

/* Where the sorted pairs go: the job's outputs, or its inputs for a sort in place. */
template <typename K> static inline struct pairs<K> output_of(const struct sl_sort_job *job) {
	if (job->key_out)
		return {(K *)job->key_out, job->index_out};
	return {(K *)job->key, job->index};
}

/* Copies the pairs of a job whose number is on the device; without the keys if to.key is NULL. */
template <typename K>
static __global__ void copy_kernel(struct pairs<K> to, struct pairs<K> from, struct sl_count count)
{
	uint64_t n = sl_count_read(count), step = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
		if (to.key)
			to.key[i] = from.key[i];
		if (to.index)
			to.index[i] = from.index[i];
	}
}

/* Queues the copy of the pairs; without the keys if the caller does not need them (key_spent). */
template <typename K>
static inline enum sl_status copy_pairs(struct sl_exec *x, struct pairs<K> to, struct pairs<K> from,
	const struct sl_sort_job *job, bool key_spent = false)
{
	if (key_spent)
		to.key = nullptr;
	if (job->n_on_device)
		return SL_LAUNCH(copy_kernel<K>, sl_grid(job->n, 1024), 256, 0, x->stream, to, from,
			sl_count_of(job));
	if (to.key)
		SL_TRY(sl_copy(to.key, from.key, job->n * sizeof(K), x->stream));
	return from.index ? sl_copy(to.index, from.index, job->n * sizeof(uint32_t), x->stream)
	                  : SL_OK;
}

/*
 * Calls each(pass, digit, from, to) for every pass. Passes write the second buffer and the output
 * in turn, so that the last one writes the output. In place, the first pass must not write what it
 * reads; so after an odd number of passes the pairs are copied back, which moves as many bytes as a
 * pass (16 per pair with u32 keys), at the speed of a copy.
 */
template <typename K, class Each>
static inline enum sl_status for_passes(struct sl_exec *x, const struct sl_sort_job *job,
	struct pair_buffer other, uint32_t digit_bits, const Each &each)
{
	const struct pairs<K> output = output_of<K>(job);
	struct pairs<K> from = {(K *)job->key, job->index}, to = {
	};
	uint32_t passes = passes_of(job, digit_bits), passes_left = passes, bit = job->begin_bit;

	if (from.key == output.key)
		passes_left += passes_left % 2;
	for (uint32_t pass = 0; pass < passes; pass++, passes_left--, bit += digit_bits) {
		if (passes_left % 2 == 1)
			to = output;
		else
			to = {(K *)other.key, other.index};
		SL_TRY(each(pass, digit_at(bit, job->end_bit, digit_bits), from, to));
		from = to;
	}
	return from.key == output.key ? SL_OK : copy_pairs(x, output, from, job, job->key_spent);
}

#endif
