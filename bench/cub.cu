/*
 * cub.cu - CUB's scan, select and sort as backends: the best library there is, in the same table
 * and held to the same answers. (Merrill, CUB; in the CUDA toolkit. Its own choice of tuning.)
 *
 * They are not in the matrix: thrust, which is, ends in the same kernels. Temporary memory is asked
 * for beforehand, so that what is timed is the kernels. Sort takes CUB's double buffers, the faster
 * of its two interfaces: four passes for 32 bits and eight for 64 end where they began; of an odd
 * number the result is copied back.
 */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/version>
#include <thrust/iterator/counting_iterator.h>

#include "bench/kernels.h"
#include "primitives/base/kernel.cuh"

/* Calls call(temporary, bytes) once to be told the bytes, which are then cut. */
template <class C> static void *cut_temporary(struct sl_arena *a, size_t *bytes, const C &call)
{
	*bytes = 0;
	(void)call(nullptr, *bytes);
	return sl_cut(a, *bytes);
}

/* --- scan ------------------------------------------------------------------------------------- */

template <class T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	const T *in = (const T *)job->in;
	T *out = (T *)job->out;
	auto call = [&](void *temporary, size_t &bytes) {
		return job->inclusive ? cub::DeviceScan::InclusiveSum(
						temporary, bytes, in, out, job->n, x->stream)
		                      : cub::DeviceScan::ExclusiveSum(
						temporary, bytes, in, out, job->n, x->stream);
	};
	size_t bytes;
	void *temporary = cut_temporary(&a, &bytes, call);

	return sl_launch_taken((int)call(temporary, bytes), "scan/cub");
}

static enum sl_status run_scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	return job->type == SL_U32 ? scan<uint32_t>(x, job) : scan<uint64_t>(x, job);
}

template <class T> static size_t scan_scratch(uint32_t n)
{
	struct sl_arena a = {};
	size_t bytes;

	cut_temporary(&a, &bytes, [&](void *temporary, size_t &needed) {
		return cub::DeviceScan::ExclusiveSum(
			temporary, needed, (const T *)nullptr, (T *)nullptr, n);
	});
	return a.used;
}

static size_t scratch_of_scan(const struct sl_shape *most)
{
	return most->type == SL_U32 ? scan_scratch<uint32_t>(most->n)
	                            : scan_scratch<uint64_t>(most->n);
}

/* --- compact ---------------------------------------------------------------------------------- */

static cudaError_t select(
	void *temporary, size_t &bytes, const struct sl_compact_job *job, cudaStream_t stream)
{
	return cub::DeviceSelect::Flagged(temporary, bytes, thrust::counting_iterator<uint32_t>(0),
		job->keep, job->out, job->n_out, job->n, stream);
}

static size_t scratch_of_compact(const struct sl_shape *most)
{
	const struct sl_compact_job job = {.n = most->n};
	struct sl_arena a = {};
	size_t bytes;

	cut_temporary(&a, &bytes, [&](void *temporary, size_t &needed) {
		return select(temporary, needed, &job, nullptr);
	});
	return a.used;
}

static enum sl_status run_compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_arena a = x->scratch;
	auto call = [&](void *temporary, size_t &bytes) {
		return select(temporary, bytes, job, x->stream);
	};
	size_t bytes;
	void *temporary = cut_temporary(&a, &bytes, call);

	return sl_launch_taken((int)call(temporary, bytes), "compact/cub");
}

/* --- sort ------------------------------------------------------------------------------------- */

template <class Key> struct pairs {
	cub::DoubleBuffer<Key> key;
	cub::DoubleBuffer<uint32_t> index;
	void *temporary;
	size_t bytes;
};

template <class Key>
static cudaError_t sort_pairs(
	struct pairs<Key> *p, uint32_t n, uint32_t from, uint32_t to, cudaStream_t stream)
{
	return cub::DeviceRadixSort::SortPairs(
		p->temporary, p->bytes, p->key, p->index, n, (int)from, (int)to, stream);
}

template <class Key>
static struct pairs<Key> lay_out(struct sl_arena *a, Key *key, uint32_t *index, uint32_t n) {
	struct pairs<Key> p;

	p.key = cub::DoubleBuffer<Key>(key, (Key *)sl_cut_items(a, n, sizeof(Key)));
	p.index = cub::DoubleBuffer<uint32_t>(
		index, (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t)));
	p.temporary = nullptr;
	p.bytes = 0;
	(void)sort_pairs(&p, n, 0, 8 * sizeof(Key), nullptr);
	p.temporary = sl_cut(a, p.bytes);
	return p;
}

static size_t
scratch_of_sort(const struct sl_shape *most)
{
	struct sl_arena a = {};

	if (most->type == SL_U32)
		lay_out<uint32_t>(&a, nullptr, nullptr, most->n);
	else
		lay_out<uint64_t>(&a, nullptr, nullptr, most->n);
	return a.used;
}

template <class Key> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	struct sl_arena a = x->scratch;
	Key *key = (Key *)job->key;
	struct pairs<Key> p = lay_out(&a, key, job->index, job->n);

	SL_TRY(sl_launch_taken(
		(int)sort_pairs(&p, job->n, job->begin_bit, job->end_bit, x->stream), "sort/cub"));
	if (p.key.Current() != key)
		SL_TRY(sl_copy(key, p.key.Current(), job->n * sizeof(Key), x->stream));
	if (p.index.Current() != job->index)
		SL_TRY(sl_copy(
			job->index, p.index.Current(), job->n * sizeof(uint32_t), x->stream));
	return SL_OK;
}

static enum sl_status run_sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

const int sl_bench_cccl = CCCL_VERSION;

/* --- the three -------------------------------------------------------------------------------- */

const struct sl_backend sl_bench_cub[] = {
	{
		.name = "CUB",
		.primitive = SL_SCAN,
		.space = SL_DEVICE,
		.help = "cub::DeviceScan",
		.scratch = scratch_of_scan,
		.scan = run_scan,
	},
	{
		.name = "CUB",
		.primitive = SL_COMPACT,
		.space = SL_DEVICE,
		.help = "cub::DeviceSelect::Flagged of a counting iterator",
		.scratch = scratch_of_compact,
		.compact = run_compact,
	},
	{
		.name = "CUB",
		.primitive = SL_SORT,
		.space = SL_DEVICE,
		.help = "cub::DeviceRadixSort::SortPairs with double buffers",
		.scratch = scratch_of_sort,
		.sort = run_sort,
	},
};
