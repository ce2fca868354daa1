/*
 * cub_backends.cu - CUB's scan, select and sort as backends, measured in the same table and checked
 * against the same answers. (Merrill, CUB, part of the CUDA toolkit; with its own tuning.)
 *
 * They are not in backends.def, because the thrust backends launch the same kernels. Temporary
 * memory is cut beforehand, so only kernels are timed. Sorts write to separate output arrays: CUB
 * then needs no final copy, whatever the number of passes. Eight columns are passed as a zip
 * iterator, CUB's way to move several arrays; one column of 32 bytes is an array of structures.
 */
#include "bench/cub/cub.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/functional>
#include <cuda/std/utility>
#include <cuda/std/version>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>

#include "primitives/kernel/kernel.cuh"

/* Number of columns of the zip iterator. */
enum { ZIPPED = 8 };

/* Cuts the memory of call(temporary, bytes), which only sets bytes if temporary is nullptr. */
template <class C> static void *cut_temporary(struct sl_arena *a, size_t *bytes, const C &call)
{
	*bytes = 0;
	(void)call(nullptr, *bytes);
	return sl_cut(a, *bytes);
}

template <class C> static size_t scratch_of(const C &call)
{
	struct sl_arena a = {};
	size_t bytes;

	cut_temporary(&a, &bytes, call);
	return a.used;
}

template <class C> static enum sl_status run(struct sl_exec *x, const char *name, const C &call)
{
	struct sl_arena a = x->scratch;
	size_t bytes;
	void *temporary = cut_temporary(&a, &bytes, call);

	return sl_launch_end((int)call(temporary, bytes), name);
}

/* --- scan ------------------------------------------------------------------------------------- */

template <class T> static enum sl_status scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	const T *in = (const T *)job->in;
	T *out = (T *)job->out;

	return run(x, "scan/cub", [&](void *temporary, size_t &bytes) {
		return job->inclusive ? cub::DeviceScan::InclusiveSum(
						temporary, bytes, in, out, job->n, x->stream)
		                      : cub::DeviceScan::ExclusiveSum(
						temporary, bytes, in, out, job->n, x->stream);
	});
}

static enum sl_status run_scan(struct sl_exec *x, const struct sl_scan_job *job)
{
	switch (job->type) {
	case SL_U32:
		return scan<uint32_t>(x, job);
	case SL_U64:
		return scan<uint64_t>(x, job);
	case SL_F32:
		return scan<float>(x, job);
	default:
		return scan<double>(x, job);
	}
}

template <class T> static size_t scan_scratch(uint32_t n)
{
	return scratch_of([&](void *temporary, size_t &bytes) {
		return cub::DeviceScan::ExclusiveSum(
			temporary, bytes, (const T *)nullptr, (T *)nullptr, n);
	});
}

static size_t scratch_of_scan(const struct sl_shape *most)
{
	return sl_type_bytes(most->type) == sizeof(uint32_t) ? scan_scratch<uint32_t>(most->n)
	                                                     : scan_scratch<uint64_t>(most->n);
}

/* --- compact ---------------------------------------------------------------------------------- */

/* Eight words as an array of structures has them. */
struct alignas(16) record {
	uint32_t word[8];
};

/* Input and output of column k. */
template <class T> static const T *from(const struct sl_compact_job *job, int k)
{
	return (const T *)job->column[k].from;
}

template <class T> static T *to(const struct sl_compact_job *job, int k)
{
	return (T *)job->column[k].to;
}

/* Calls select(in, out) with the items to compact: indices, one column, or 8 columns zipped. */
template <class C> static cudaError_t with_items(const struct sl_compact_job *job, const C &select)
{
	uint32_t n = job->n_columns, bytes = n > 0 ? job->column[0].bytes : 0;

	if (n == 0)
		return select(thrust::counting_iterator<uint32_t>(0), job->out);
	if (n == 1 && bytes == sizeof(uint32_t))
		return select(from<uint32_t>(job, 0), to<uint32_t>(job, 0));
	if (n == 1 && bytes == sizeof(record))
		return select(from<record>(job, 0), to<record>(job, 0));
	return [&]<int... k>(cuda::std::integer_sequence<int, k...>)
	{
		return select(thrust::make_zip_iterator(from<uint32_t>(job, k)...),
			thrust::make_zip_iterator(to<uint32_t>(job, k)...));
	}
	(cuda::std::make_integer_sequence<int, ZIPPED>{});
}

static cudaError_t select(
	void *temporary, size_t &bytes, const struct sl_compact_job *job, cudaStream_t stream)
{
	return with_items(job, [&](auto in, auto out) {
		return cub::DeviceSelect::Flagged(
			temporary, bytes, in, job->keep, out, job->n_out, job->n, stream);
	});
}

/* The maximum over all cases of with_items(). */
static size_t scratch_of_compact(const struct sl_shape *most)
{
	static const struct {
		uint32_t n_columns, bytes;
	} cases[] = {
		{0, 0}, {1, sizeof(uint32_t)}, {1, sizeof(record)}, {ZIPPED, sizeof(uint32_t)}};
	size_t n_cases = most->n_columns > 0 ? sizeof(cases) / sizeof(cases[0]) : 1, bytes = 0;

	for (size_t i = 0; i < n_cases; i++) {
		struct sl_compact_column column[ZIPPED] = {};
		const struct sl_compact_job job = {
			.n = most->n, .n_columns = cases[i].n_columns, .column = column};

		column[0].bytes = cases[i].bytes;
		size_t needed = scratch_of([&](void *temporary, size_t &size) {
			return select(temporary, size, &job, nullptr);
		});
		bytes = needed > bytes ? needed : bytes;
	}
	return bytes;
}

static bool is_supported(const struct sl_compact_job *job)
{
	uint32_t n = job->n_columns;

	for (uint32_t k = 0; k < n; k++)
		if (job->column[k].bytes != sizeof(uint32_t) &&
			(n != 1 || job->column[k].bytes != sizeof(record)))
			return false;
	return n == 0 || (!job->out && (n == 1 || n == ZIPPED));
}

static enum sl_status run_compact(struct sl_exec *x, const struct sl_compact_job *job)
{
	if (!is_supported(job))
		return sl_fail(SL_USAGE,
			"compact/cub supports indices, 1 column of 4 or 32 bytes, and %d columns of "
			"4 bytes; choose one of these",
			ZIPPED);
	return run(x, "compact/cub", [&](void *temporary, size_t &bytes) {
		return select(temporary, bytes, job, x->stream);
	});
}

/* --- sort ------------------------------------------------------------------------------------- */

/* Not in place: CUB's calls with pointers, not double buffers, keep their input. */
template <class Key>
static cudaError_t radix_sort(
	void *temporary, size_t &bytes, const struct sl_sort_job *job, cudaStream_t stream)
{
	const Key *key = (const Key *)job->key;
	Key *out = (Key *)job->key_out;
	int from = (int)job->begin_bit, to = (int)job->end_bit;

	if (!job->index)
		return cub::DeviceRadixSort::SortKeys(
			temporary, bytes, key, out, job->n, from, to, stream);
	return cub::DeviceRadixSort::SortPairs(temporary, bytes, key, out,
		(const uint32_t *)job->index, job->index_out, job->n, from, to, stream);
}

template <class Key> static size_t sort_scratch(const struct sl_shape *most)
{
	uint32_t index = 0; /* not read: only the pointer is tested */
	const struct sl_sort_job job = {.index = most->keys_only ? nullptr : &index,
		.n = most->n,
		.end_bit = 8 * sizeof(Key)};

	return scratch_of([&](void *temporary, size_t &bytes) {
		return radix_sort<Key>(temporary, bytes, &job, nullptr);
	});
}

static size_t scratch_of_sort(const struct sl_shape *most)
{
	return most->type == SL_U32 ? sort_scratch<uint32_t>(most) : sort_scratch<uint64_t>(most);
}

template <class Key> static enum sl_status sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	return run(x, "sort/cub", [&](void *temporary, size_t &bytes) {
		return radix_sort<Key>(temporary, bytes, job, x->stream);
	});
}

static enum sl_status run_sort(struct sl_exec *x, const struct sl_sort_job *job)
{
	return job->type == SL_U32 ? sort<uint32_t>(x, job) : sort<uint64_t>(x, job);
}

/* --- expand ----------------------------------------------------------------------------------- */

/* Of equal ends the last one stores the index of the run after it. */
template <class E>
static __global__ void start_kernel(const E *end, uint32_t n, uint32_t *start, uint32_t n_out)
{
	uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n && end[i] < n_out && (i + 1 == n || end[i + 1] != end[i]))
		start[end[i]] = (uint32_t)i + 1;
}

/* The largest start up to each slot, in place. */
static cudaError_t scan_starts(
	void *temporary, size_t &bytes, uint32_t *out, uint32_t n_out, cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveScan(
		temporary, bytes, out, out, cuda::maximum<uint32_t>{}, n_out, stream);
}

static size_t scratch_of_expand(const struct sl_shape *most)
{
	return scratch_of([&](void *temporary, size_t &bytes) {
		return scan_starts(temporary, bytes, nullptr, most->n_out, nullptr);
	});
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	SL_TRY(sl_fill(job->out, 0, job->n_out * sizeof(*job->out), x->stream));
	SL_TRY(SL_LAUNCH(start_kernel<E>, sl_grid(job->n, 256), 256, 0, x->stream,
		(const E *)job->runs, job->n - 1, job->out, job->n_out));
	return run(x, "expand/cub", [&](void *temporary, size_t &bytes) {
		return scan_starts(temporary, bytes, job->out, job->n_out, x->stream);
	});
}

static enum sl_status run_expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	if (job->n_columns > 0)
		return sl_fail(SL_USAGE, "expand/cub gathers no columns; leave them out");
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const int sl_cub_version = CCCL_VERSION;

/* --- the table -------------------------------------------------------------------------------- */

const struct sl_backend sl_cub_backends[] = {
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
		.help = "cub::DeviceSelect::Flagged of a counting iterator, or of columns",
		.scratch = scratch_of_compact,
		.compact = run_compact,
	},
	{
		.name = "CUB",
		.primitive = SL_SORT,
		.space = SL_DEVICE,
		.help = "cub::DeviceRadixSort::SortPairs, SortKeys",
		.scratch = scratch_of_sort,
		.sort = run_sort,
	},
	{},
	{
		.name = "CUB",
		.primitive = SL_EXPAND,
		.space = SL_DEVICE,
		.help = "a kernel that stores the starts of runs, and cub::DeviceScan for the maximum",
		.scratch = scratch_of_expand,
		.expand = run_expand,
	},
};
