/*
 * order_levels.cuh - scans and sums of f32 and f64 in the order of order.h by arrays of the sums of
 * nodes in global memory: the scan of the backends naive, work_efficient and tiled, which differ
 * for integers only, and the sum of all device backends.
 *
 *	level 1    sums of 16 items
 *	level 2    sums of 16 nodes of level 1, and so on
 *
 * An array has the sums of all nodes of a level. order_chain() replaces each sum by that of the
 * siblings before it, which is what an item adds.
 */
#ifndef SL_PRIMITIVES_SCAN_ORDER_LEVELS_CUH
#define SL_PRIMITIVES_SCAN_ORDER_LEVELS_CUH

#include <string.h>

#include "order.h"
#include "primitives/kernel/item_loops.cuh"
#include "primitives/primitives.h"

static constexpr uint32_t RADIX = SL_ORDER_RADIX;

static __device__ __forceinline__ float order_result(float sum)
{
	uint32_t nan = sl_order_nan_f32();
	float is_nan;

	memcpy(&is_nan, &nan, sizeof(nan));
	return sum == sum ? sum : is_nan;
}

static __device__ __forceinline__ double order_result(double sum)
{
	uint64_t nan = sl_order_nan_f64();
	double is_nan;

	memcpy(&is_nan, &nan, sizeof(nan));
	return sum == sum ? sum : is_nan;
}

/* The arrays of the levels 1 to levels - 1, as kernels get them. */
template <typename T> struct order_arrays {
	T *level[SL_ORDER_LEVELS]; /* level[0]: NULL */
	uint32_t levels;
};

/* Cuts the arrays, or measures them. */
template <typename T>
static inline struct order_arrays<T> order_cut(struct sl_arena *a, uint32_t n) {
	struct order_arrays<T> l = {
	};

	l.levels = sl_order_levels(n);
	for (uint32_t level = 1; level < l.levels; level++)
		l.level[level] = (T *)sl_cut_items(a, sl_order_nodes(n, level), sizeof(T));
	return l;
}

/* to[i] = the sum of children 16 i to 16 i + 15, of which there are n in all. */
template <typename T>
static __global__ void order_sum_kernel(const T *child, uint64_t n, T *to)
{
	sl_for_items((n + RADIX - 1) / RADIX, [=](uint64_t i) {
		T sum = 0;

		for (uint64_t k = i * RADIX; k < (i + 1) * RADIX && k < n; k++)
			sum += child[k];
		to[i] = sum;
	});
}

/* The sum of all children of the root. */
template <typename T> static __global__ void order_root_kernel(const T *child, uint64_t n, T *to)
{
	T sum = 0;

	for (uint64_t k = 0; k < n; k++)
		sum += child[k];
	*to = order_result(sum);
}

/* Replaces each of n sums by that of the siblings before it. */
template <typename T> static __global__ void order_chain_kernel(T *sums, uint64_t n)
{
	sl_for_items((n + RADIX - 1) / RADIX, [=](uint64_t i) {
		T sum = 0;

		for (uint64_t k = i * RADIX; k < (i + 1) * RADIX && k < n; k++) {
			T own = sums[k];

			sums[k] = sum;
			sum += own;
		}
	});
}

/* Queues the sums of all levels. */
template <typename T>
static inline enum sl_status order_sum(
	const struct sl_exec *x, const struct order_arrays<T> *l, const T *child, uint32_t n)
{
	for (uint32_t level = 1; level < l->levels; level++) {
		uint32_t children = sl_order_nodes(n, level - 1);

		SL_TRY(SL_LAUNCH(order_sum_kernel<T>, sl_grid(children / RADIX + 1, 256), 256, 0,
			x->stream, child, children, l->level[level]));
		child = l->level[level];
	}
	return SL_OK;
}

/* Queues the chains of all levels. */
template <typename T>
static inline enum sl_status order_chain(
	const struct sl_exec *x, const struct order_arrays<T> *l, uint32_t n)
{
	for (uint32_t level = 1; level < l->levels; level++) {
		uint32_t nodes = sl_order_nodes(n, level);

		SL_TRY(SL_LAUNCH(order_chain_kernel<T>, sl_grid(nodes / RADIX + 1, 256), 256, 0,
			x->stream, l->level[level], nodes));
	}
	return SL_OK;
}

/* --- the sum of all items, by all backends ---------------------------------------------------- */

template <typename T>
static inline enum sl_status order_root(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	const struct order_arrays<T> sums = order_cut<T>(&a, job->n);
	const T *top = sums.levels > 1 ? sums.level[sums.levels - 1] : (const T *)job->in;

	SL_TRY(order_sum(x, &sums, (const T *)job->in, job->n));
	return SL_LAUNCH(order_root_kernel<T>, 1, 1, 0, x->stream, top,
		sl_order_nodes(job->n, sums.levels - 1), (T *)job->sum);
}

static inline enum sl_status order_sum_of(struct sl_exec *x, const struct sl_scan_job *job)
{
	return job->type == SL_F32 ? order_root<float>(x, job) : order_root<double>(x, job);
}

/* --- the scan: a thread per 16 items reads one sum per level ---------------------------------- */

template <typename T>
static __global__ void order_strip_kernel(
	const T *in, T *out, struct order_arrays<T> before, uint64_t n, bool inclusive)
{
	sl_for_items((n + RADIX - 1) / RADIX, [=](uint64_t strip) {
		T sum = 0;

		for (uint64_t i = strip * RADIX; i < (strip + 1) * RADIX && i < n; i++) {
			T item = in[i], result = inclusive ? sum + item : sum;

			for (uint32_t level = 1; level < before.levels; level++)
				result += before.level[level][i >> (SL_ORDER_BITS * level)];
			out[i] = order_result(result);
			sum += item;
		}
	});
}

template <typename T>
static inline enum sl_status order_levels(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct order_arrays<T> sums = order_cut<T>(&a, job->n);
	const T *in = (const T *)job->in;

	SL_TRY(order_sum(x, &sums, in, job->n));
	SL_TRY(order_chain(x, &sums, job->n));
	return SL_LAUNCH(order_strip_kernel<T>, sl_grid(job->n / RADIX + 1, x->tuning.block),
		x->tuning.block, 0, x->stream, in, (T *)job->out, sums, job->n, job->inclusive);
}

static inline enum sl_status order_levels_of(struct sl_exec *x, const struct sl_scan_job *job)
{
	return job->type == SL_F32 ? order_levels<float>(x, job) : order_levels<double>(x, job);
}

/* Bytes of the arrays. */
static inline size_t order_scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	if (shape->type == SL_F32)
		order_cut<float>(&a, shape->n);
	else
		order_cut<double>(&a, shape->n);
	return a.used;
}

#endif
