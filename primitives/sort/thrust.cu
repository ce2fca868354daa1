/*
 * sort/thrust.cu - Thrust's stable_sort_by_key, which for unsigned keys is CUB's Onesweep.
 *
 * Thrust sorts by all bits of a type, in place: what has an output is copied there first. For a
 * range of bits, these are copied out as narrow a type as holds them, and sorted with the positions
 * of their keys; then keys and indices are gathered from those positions. (A comparison of the
 * range alone would make it a merge sort.) So a range costs more than all bits here: two reads at
 * random a pair, and twice the memory. Keys alone are taken along by their bits themselves.
 *
 * Moves, for all bits of u32 keys, 4 + 4 x 16 bytes a pair; for a range of them in place 52 more, 8
 * of these at random.
 */
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "pairs.cuh"
#include "primitives/kernel/thrust_arena.cuh"

namespace
{

/* A key as its bits under mask, at shift. */
template <typename K, typename Part> struct part_of {
	K mask;
	uint32_t shift;

	__host__ __device__ Part operator()(K key) const
	{
		return (Part)(key >> shift & mask);
	}
};

/* A position as what stands there. */
template <typename T> struct item_at {
	const T *item;

	__host__ __device__ T operator()(uint32_t position) const
	{
		return item[position];
	}
};

/*
 * For a range of bits; behind it Thrust's own memory, and when it is done with that, n keys. Keys
 * alone have no positions, but each key is sorted along: it is as much in all, or less.
 */
struct layout {
	void *part;         /* n */
	uint32_t *position; /* n */
};

} /* namespace */

static struct layout lay_out(struct sl_arena *a, uint32_t n, size_t part_bytes)
{
	struct layout l;

	l.part = sl_cut_items(a, n, part_bytes);
	l.position = (uint32_t *)sl_cut_items(a, n, sizeof(*l.position));
	return l;
}

/*
 * What Thrust cuts is a second buffer of pairs and 1 KiB a tile of CUB's: 0.16 bytes a pair with
 * u32 keys on an H200 (CUDA 13.0), more with u64 ones, whose tiles are shorter. 1 byte is left for
 * it, and 64 KiB for what does not depend on n. A range of bits takes the most.
 */
static size_t scratch(const struct sl_shape *most)
{
	size_t key_bytes = most->type == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
	struct sl_arena a = {};

	lay_out(&a, most->n, key_bytes);
	sl_cut(&a, most->n * (key_bytes + sizeof(uint32_t) + 1) + ((size_t)64 << 10));
	return a.used;
}

template <typename K>
static enum sl_status sort_whole(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct pairs<K> p = home_of<K>(job);
	struct sl_arena a = x->scratch;

	if (job->key_out)
		SL_TRY(copy_pairs<K>(x, p, {(K *)job->key, job->index}, job->n));
	return sl_thrust("sort/thrust", x->stream, &a, [&](const auto &on) {
		if (p.index)
			thrust::stable_sort_by_key(on, p.key, p.key + job->n, p.index);
		else
			thrust::stable_sort(on, p.key, p.key + job->n);
	});
}

template <typename K, typename Part>
static struct part_of<K, Part> bits_of(const struct sl_sort_job *job) {
	uint32_t width = job->end_bit - job->begin_bit;

	return {(K)(~(K)0 >> (8 * sizeof(K) - width)), job->begin_bit};
}

template <typename K, typename Part>
static enum sl_status sort_keys(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct pairs<K> home = home_of<K>(job);
	struct sl_arena a = x->scratch;
	Part *part = (Part *)sl_cut_items(&a, job->n, sizeof(Part));
	const K *key = (const K *)job->key;

	if (job->key_out)
		SL_TRY(sl_copy(home.key, key, job->n * sizeof(K), x->stream));
	return sl_thrust("sort/thrust", x->stream, &a, [&](const auto &on) {
		thrust::transform(on, key, key + job->n, part, bits_of<K, Part>(job));
		thrust::stable_sort_by_key(on, part, part + job->n, home.key);
	});
}

template <typename K, typename Part>
static enum sl_status sort_pairs(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch, rest;
	struct layout l = lay_out(&a, job->n, sizeof(Part));
	struct pairs<K> home = home_of<K>(job), sorted = home;
	uint32_t *position = l.position, *end = position + job->n;
	const K *key = (const K *)job->key;
	Part *part = (Part *)l.part;

	rest = a;
	if (!job->key_out)
		sorted = {(K *)sl_cut_items(&rest, job->n, sizeof(K)), position};
	SL_TRY(sl_thrust("sort/thrust", x->stream, &a, [&](const auto &on) {
		thrust::transform(on, key, key + job->n, part, bits_of<K, Part>(job));
		thrust::sequence(on, position, end);
		thrust::stable_sort_by_key(on, part, part + job->n, position);
		thrust::transform(on, position, end, sorted.key, item_at<K>{key});
		thrust::transform(on, position, end, sorted.index, item_at<uint32_t>{job->index});
	}));
	return job->key_out ? SL_OK : copy_pairs(x, home, sorted, job->n);
}

template <typename K, typename Part>
static enum sl_status sort_range(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->index ? sort_pairs<K, Part>(x, job) : sort_keys<K, Part>(x, job);
}

template <typename K> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	uint32_t width = job->end_bit - job->begin_bit;

	if (width == 8 * sizeof(K))
		return sort_whole<K>(x, job);
	if (width <= 32)
		return sort_range<K, uint32_t>(x, job);
	return sort_range<K, K>(x, job);
}

static enum sl_status run(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

const struct sl_backend sl_sort_thrust = {
	.name = "thrust",
	.primitive = SL_SORT,
	.space = SL_DEVICE,
	.help = "Thrust's stable_sort_by_key, without a wait; a range of bits costs more than all",
	.scratch = scratch,
	.sort = run,
};
