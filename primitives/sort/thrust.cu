/*
 * sort/thrust.cu - the sort of Thrust, stable_sort_by_key, which is CUB's Onesweep for unsigned
 * keys: the other device backends are compared with it.
 *
 * Thrust sorts by all bits of a type and in place, so a job with outputs is copied there first. For
 * a range of bits, these bits are extracted into the narrowest type that holds them and sorted
 * together with the positions of their keys; then keys and indices are gathered from those
 * positions. (A comparison function for the range would make Thrust use a merge sort.) So a range
 * of bits costs more than all bits: two random reads per pair, and twice the memory. Keys only are
 * carried along by their extracted bits directly.
 *
 * Memory for all bits of u32 keys: 4 + 4 * 16 bytes per pair; for a range in place 52 more, 8 of
 * them random. Runs on the caller's stream without waiting; temporary memory is cut from scratch.
 * CUDA devices only.
 */
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "pairs.cuh"
#include "primitives/kernel/thrust_arena.cuh"

namespace
{

/* Extracts the job's bits from a key. */
template <typename K, typename Part> struct extract_bits {
	K mask;
	uint32_t shift;

	__host__ __device__ Part operator()(K key) const
	{
		return (Part)(key >> shift & mask);
	}
};

/* Maps a position to the item there. */
template <typename T> struct item_at {
	const T *item;

	__host__ __device__ T operator()(uint32_t position) const
	{
		return item[position];
	}
};

/*
 * Scratch for a range of bits. Thrust's own memory follows; when Thrust is done, n keys in the same
 * place. Keys only need no positions, but carry whole keys along, which is the same size or less.
 */
struct sort_thrust_scratch {
	void *part;         /* n extracted keys */
	uint32_t *position; /* n positions */
};

} /* namespace */

static struct sort_thrust_scratch lay_out(struct sl_arena *a, uint32_t n, size_t part_bytes)
{
	struct sort_thrust_scratch l;

	l.part = sl_cut_items(a, n, part_bytes);
	l.position = (uint32_t *)sl_cut_items(a, n, sizeof(*l.position));
	return l;
}

/*
 * Thrust cuts a second buffer of pairs and about 1 KiB per tile of CUB: 0.16 bytes per pair with
 * u32 keys on an H200 (CUDA 13.0), more with u64 keys, whose tiles are smaller. The estimate allows
 * 1 byte per pair and 64 KiB of fixed cost. A range of bits needs most.
 */
static size_t scratch(const struct sl_shape *shape)
{
	size_t key_bytes = sl_type_bytes(shape->type);
	struct sl_arena a = {};

	lay_out(&a, shape->n, key_bytes);
	sl_cut(&a, shape->n * (key_bytes + sizeof(uint32_t) + 1) + ((size_t)64 << 10));
	return a.used;
}

/* Sorts by all bits of the key type. */
template <typename K>
static enum sl_status sort_whole(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct pairs<K> p = output_of<K>(job);
	struct sl_arena a = x->scratch;

	if (job->key_out)
		SL_TRY(copy_pairs<K>(x, p, {(K *)job->key, job->index}, job));
	return sl_thrust("sort/thrust", x->stream, &a, [&](const auto &on) {
		if (p.index)
			thrust::stable_sort_by_key(on, p.key, p.key + job->n, p.index);
		else
			thrust::stable_sort(on, p.key, p.key + job->n);
	});
}

/* The extraction for the job's bits. */
template <typename K, typename Part>
static struct extract_bits<K, Part> bits_of(const struct sl_sort_job *job) {
	uint32_t width = job->end_bit - job->begin_bit;

	return {(K)(~(K)0 >> (8 * sizeof(K) - width)), job->begin_bit};
}

/* Sorts keys only by a range of bits. */
template <typename K, typename Part>
static enum sl_status sort_keys(struct sl_exec *x, const struct sl_sort_job *job)
{
	const struct pairs<K> output = output_of<K>(job);
	struct sl_arena a = x->scratch;
	Part *part = (Part *)sl_cut_items(&a, job->n, sizeof(Part));
	const K *key = (const K *)job->key;

	if (job->key_out)
		SL_TRY(sl_copy(output.key, key, job->n * sizeof(K), x->stream));
	return sl_thrust("sort/thrust", x->stream, &a, [&](const auto &on) {
		thrust::transform(on, key, key + job->n, part, bits_of<K, Part>(job));
		thrust::stable_sort_by_key(on, part, part + job->n, output.key);
	});
}

/* Sorts pairs by a range of bits, by way of positions. */
template <typename K, typename Part>
static enum sl_status sort_pairs(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch, rest;
	struct sort_thrust_scratch l = lay_out(&a, job->n, sizeof(Part));
	struct pairs<K> output = output_of<K>(job), sorted = output;
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
	return job->key_out ? SL_OK : copy_pairs(x, output, sorted, job);
}

template <typename K, typename Part>
static enum sl_status sort_range(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->index ? sort_pairs<K, Part>(x, job) : sort_keys<K, Part>(x, job);
}

/* Selects the narrowest type for the job's bits. */
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
	.help = "stable_sort_by_key of Thrust; a range of bits costs more than all bits; "
		"without n_on_device",
	.scratch = scratch,
	.sort = run,
};
