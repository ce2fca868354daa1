/*
 * compact/thrust.cu - stream compaction with Thrust: an inclusive scan whose output iterator
 * scatters.
 *
 * thrust::copy_if() is made for this task, but it returns the end of its output and therefore waits
 * for the device. An inclusive scan returns nothing that the host does not know. Its i-th sum goes
 * to an output iterator that receives (i, sum) and stores a survivor's index at position sum - 1;
 * the last sum is the count. So the call does not wait, and the positions are never stored.
 *
 * Memory per item: 2 bytes read (the flag is read again when its sum is known), 4 written per
 * survivor. With columns the positions are stored as well, 4 bytes per item, and each column is one
 * thrust::scatter_if(), which reads 5 bytes and the column's item.
 *
 * Scratch: temporary memory of CUB; with columns also n positions. Needs CUDA 12.8, the first
 * release with tabulate_output_iterator. CUDA devices only.
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

/* Maps a flag to the number that it adds to the sum. */
struct is_kept {
	__host__ __device__ uint32_t operator()(uint8_t keep) const
	{
		return keep != 0;
	}
};

/* Consumes the inclusive sum of flags 0 .. i. */
struct store_survivor {
	struct sl_compact_job job;
	uint32_t *position; /* n positions for the columns; NULL: the job has none */

	__host__ __device__ void operator()(uint64_t i, uint32_t sum) const
	{
		if (job.out && job.keep[i])
			job.out[sum - 1] = (uint32_t)i;
		if (position)
			position[i] = sum - 1;
		if (i + 1 == job.n)
			*job.n_out = sum;
	}
};

} /* namespace */

/* Cuts n positions if the job has columns; otherwise NULL. */
static uint32_t *cut_positions(struct sl_arena *a, uint32_t n, uint32_t n_columns)
{
	return n_columns > 0 ? (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t)) : nullptr;
}

/*
 * CUB's scan of u32 uses 0.003 bytes per item and 1 KB (CUDA 13.0); the rest is a margin for other
 * versions. Thrust fails with SL_INTERNAL if it needs more.
 */
static size_t scratch(const struct sl_shape *shape)
{
	struct sl_arena a = {};

	cut_positions(&a, shape->n, shape->n_columns);
	sl_cut(&a, shape->n / 32 + ((size_t)64 << 10));
	return a.used;
}

/* Scatters a column of items of type T. */
template <class T, class On>
static void scatter_items(const On &on, const struct sl_compact_job *job, const uint32_t *position,
	const struct sl_compact_column *c)
{
	const T *from = (const T *)c->from;

	thrust::scatter_if(on, from, from + job->n, position, job->keep, (T *)c->to);
}

/* Selects the item type of the column. */
template <class On>
static void scatter_column(const On &on, const struct sl_compact_job *job, const uint32_t *position,
	const struct sl_compact_column *c)
{
	switch (c->bytes) {
#define X(item_bytes, type)                                \
	case item_bytes:                                   \
		scatter_items<type>(on, job, position, c); \
		break;
		SL_COMPACT_ITEMS(X)
#undef X
	}
}

static enum sl_status run(struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *position = cut_positions(&a, job->n, job->n_columns);
	auto flag = thrust::make_transform_iterator(job->keep, is_kept{});
	auto sum = thrust::make_tabulate_output_iterator(store_survivor{*job, position});

	return sl_thrust("compact/thrust", x->stream, &a, [&](const auto &on) {
		thrust::inclusive_scan(on, flag, flag + job->n, sum);
		for (uint32_t k = 0; k < job->n_columns; k++)
			scatter_column(on, job, position, &job->column[k]);
	});
}

const struct sl_backend sl_compact_thrust = {
	.name = "thrust",
	.primitive = SL_COMPACT,
	.space = SL_DEVICE,
	.help = "inclusive_scan of Thrust whose output iterator scatters, a single pass; "
		"without n_on_device",
	.scratch = scratch,
	.compact = run,
};
