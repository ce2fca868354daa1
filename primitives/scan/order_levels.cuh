/*
 * order_levels.cuh - scans of f32 and f64 in the order of order.h by arrays of the sums of nodes in
 * global memory: the backends naive, work_efficient and tiled.
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

/* Cuts the arrays from level `first` on, or measures them. */
template <typename T>
static inline struct order_arrays<T> order_cut(struct sl_arena *a, uint32_t n, uint32_t first)
{
	struct order_arrays<T> l = {};

	l.levels = sl_order_levels(n);
	for (uint32_t level = first; level < l.levels; level++)
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

/* Queues the sums of the levels from `first` on; those of first - 1, or the items, are in child. */
template <typename T>
static inline enum sl_status order_sum(const struct sl_exec *x, const struct order_arrays<T> *l,
	const T *child, uint32_t n, uint32_t first)
{
	for (uint32_t level = first; level < l->levels; level++) {
		uint32_t children = sl_order_nodes(n, level - 1);

		SL_TRY(SL_LAUNCH(order_sum_kernel<T>, sl_grid(children / RADIX + 1, 256), 256, 0,
			x->stream, child, children, l->level[level]));
		child = l->level[level];
	}
	return SL_OK;
}

/* Queues the chains of the levels from `first` on. */
template <typename T>
static inline enum sl_status order_chain(
	const struct sl_exec *x, const struct order_arrays<T> *l, uint32_t n, uint32_t first)
{
	for (uint32_t level = first; level < l->levels; level++) {
		uint32_t nodes = sl_order_nodes(n, level);

		SL_TRY(SL_LAUNCH(order_chain_kernel<T>, sl_grid(nodes / RADIX + 1, 256), 256, 0,
			x->stream, l->level[level], nodes));
	}
	return SL_OK;
}

/* --- naive: each item adds up all siblings before its nodes ----------------------------------- */

template <typename T>
static __global__ void order_naive_kernel(const T *in, T *out, struct order_arrays<T> sums,
	uint64_t n, bool inclusive)
{
	sl_for_items(n, [=](uint64_t i) {
		T result = 0;

		for (uint32_t level = 0; level < sums.levels; level++) {
			const T *of = level == 0 ? in : sums.level[level];
			uint64_t node = i >> (SL_ORDER_BITS * level), k = node / RADIX * RADIX;
			T sum = 0;

			for (; k < node + (level == 0 && inclusive); k++)
				sum += of[k];
			result = level == 0 ? sum : sum + result;
		}
		out[i] = order_result(result);
	});
}

/* In place, the items are copied first: each thread reads those of others. */
template <typename T>
static inline enum sl_status order_naive(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct order_arrays<T> sums = order_cut<T>(&a, job->n, 1);
	T *copy = (T *)sl_cut_items(&a, job->n, sizeof(T));
	const T *in = (const T *)job->in;

	if (job->in == job->out) {
		SL_TRY(sl_copy(copy, in, job->n * sizeof(T), x->stream));
		in = copy;
	}
	SL_TRY(order_sum(x, &sums, in, job->n, 1));
	return SL_LAUNCH(order_naive_kernel<T>, sl_grid(job->n, x->tuning.block), x->tuning.block,
		0, x->stream, in, (T *)job->out, sums, job->n, job->inclusive);
}

/* --- work_efficient: a thread per 16 items reads one sum per level ---------------------------- */

template <typename T>
static __global__ void order_strip_kernel(const T *in, T *out, struct order_arrays<T> before,
	uint64_t n, bool inclusive)
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
static inline enum sl_status order_work_efficient(struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_arena a = x->scratch;
	struct order_arrays<T> sums = order_cut<T>(&a, job->n, 1);
	const T *in = (const T *)job->in;

	SL_TRY(order_sum(x, &sums, in, job->n, 1));
	SL_TRY(order_chain(x, &sums, job->n, 1));
	return SL_LAUNCH(order_strip_kernel<T>, sl_grid(job->n / RADIX + 1, x->tuning.block),
		x->tuning.block, 0, x->stream, in, (T *)job->out, sums, job->n, job->inclusive);
}

/* Bytes of the arrays from level `first` on, and of a copy of the items if the backend needs one. */
static inline size_t order_scratch(const struct sl_shape *shape, uint32_t first, bool copies)
{
	struct sl_arena a = {};

	if (shape->type == SL_F32)
		order_cut<float>(&a, shape->n, first);
	else
		order_cut<double>(&a, shape->n, first);
	sl_cut_items(&a, copies ? shape->n : 0, sl_type_bytes(shape->type));
	return a.used;
}

#endif
