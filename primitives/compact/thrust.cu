/*
 * compact/thrust.cu - compaction by Thrust: a scan whose output is the scatter.
 *
 * thrust::copy_if is made for this, but returns where its output ends and so waits until the host
 * knows how many survivors there are. An inclusive scan of the flags returns nothing that the host
 * does not know already. Its i-th sum is written to an iterator that takes (i, sum) instead of
 * storing it: a survivor's index goes to place sum - 1, and the last sum is the count.
 *
 * Reads 2 bytes an item (the flag a second time when its sum is known), writes 4 a survivor; the
 * places are never stored. Needs CUDA 12.8, the first with tabulate_output_iterator.
 *
 * With columns they are stored all the same, 4 bytes an item, and each column is a
 * thrust::scatter_if by them: reads 5 bytes an item and the column's, writes what survives.
 */
#include <thrust/functional.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>

#include "items.h"
#include "primitives/kernel/thrust_arena.cuh"
#include "primitives/primitives.h"

namespace
{

/* A flag as what it adds to the sum. */
struct is_kept {
	__host__ __device__ uint32_t operator()(uint8_t keep) const
	{
		return keep != 0;
	}
};

/* What is done with the sum of flags 0 .. i. */
struct put {
	struct sl_compact_job job;
	uint32_t *place; /* of columns; NULL: there are none */

	__host__ __device__ void operator()(uint64_t i, uint32_t sum) const
	{
		if (job.out && job.keep[i])
			job.out[sum - 1] = (uint32_t)i;
		if (place)
			place[i] = sum - 1;
		if (i + 1 == job.n)
			*job.n_out = sum;
	}
};

} /* namespace */

/* Places of n items, where there are columns. */
static uint32_t *cut_places(struct sl_arena *a, uint32_t n, uint32_t n_columns)
{
	return n_columns > 0 ? (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t)) : nullptr;
}

/* Thrust's scan of u32 takes 0.003 bytes an item and 1 KB (CUDA 13.0); the rest is for others. */
static size_t scratch(const struct sl_shape *most)
{
	struct sl_arena a = {};

	cut_places(&a, most->n, most->n_columns);
	sl_cut(&a, most->n / 32 + ((size_t)64 << 10));
	return a.used;
}

template <class T, class On>
static void move_items(const On &on, const struct sl_compact_job *job, const uint32_t *place,
	const struct sl_compact_column *c)
{
	const T *from = (const T *)c->from;

	thrust::scatter_if(on, from, from + job->n, place, job->keep, (T *)c->to);
}

template <class On>
static void move_column(const On &on, const struct sl_compact_job *job, const uint32_t *place,
	const struct sl_compact_column *c)
{
	switch (c->bytes) {
#define X(item_bytes, type)                          \
	case item_bytes:                             \
		move_items<type>(on, job, place, c); \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *place = cut_places(&a, job->n, job->n_columns);
	auto flag = thrust::make_transform_iterator(job->keep, is_kept{});
	auto sum = thrust::make_tabulate_output_iterator(put{*job, place});

	if (job->n == 0)
		return sl_fill(job->n_out, 0, sizeof(*job->n_out), x->stream);
	return sl_thrust("compact/thrust", x->stream, &a, [&](const auto &on) {
		thrust::inclusive_scan(on, flag, flag + job->n, sum);
		for (uint32_t k = 0; k < job->n_columns; k++)
			move_column(on, job, place, &job->column[k]);
	});
}

const struct sl_backend sl_compact_thrust = {
	.name = "thrust",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "Thrust's inclusive_scan with a scatter for its output, one pass, no wait",
	.scratch = scratch,
	.compact = run,
};
