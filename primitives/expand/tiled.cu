/*
 * expand/tiled.cu - tiles of slots: a block loads the ends of the runs of its slots into shared
 * memory and searches them there.
 *
 * Third of the device backends naive -> work_efficient -> tiled -> shared. Two threads search the
 * runs of the first and of the last slot of the tile in global memory. The ends between them are
 * loaded piece by piece, and each thread adds the number of ends of the piece that are at most its
 * slot.
 *
 * Against naive: log2 n dependent loads of global memory per tile instead of per slot. Against
 * work_efficient: no array of counts and no scan. But a tile in which many runs without slots end
 * has many pieces, and the other blocks wait for it: shared divides runs and slots together.
 *
 * Memory: 4 or 8 bytes read per run and 4 written per slot. Launches: 1, and 1 per column. Scratch:
 * the indices of jobs with columns.
 */
#include "expand.cuh"

/* The largest block, and slots per thread. */
enum { BLOCK_MAX = 1024, ITEMS = 4 };

/* The runs of the first and of the last slot of a tile. */
struct runs_of_tile {
	uint32_t at[2];
};

/* A block has blockDim.x * ITEMS slots, and room for as many ends in shared memory. */
template <class E>
static __global__ void __launch_bounds__(BLOCK_MAX)
	tile_kernel(const E *end, uint32_t n, uint32_t *out, uint64_t n_out)
{
	SL_SHARED_DYNAMIC(E, piece);
	SL_SHARED(struct runs_of_tile, runs);
	uint32_t room = blockDim.x * ITEMS, index[ITEMS];
	uint64_t first = (uint64_t)blockIdx.x * room;
	uint64_t last = first + room < n_out ? first + room - 1 : n_out - 1;

	if (threadIdx.x < 2)
		runs.at[threadIdx.x] = ends_up_to(end, n, threadIdx.x == 0 ? first : last);
	__syncthreads();
	SL_UNROLL
	for (uint32_t k = 0; k < ITEMS; k++)
		index[k] = runs.at[0];
	for (uint64_t from = runs.at[0]; from < runs.at[1]; from += room) {
		uint32_t size = (uint32_t)(runs.at[1] - from < room ? runs.at[1] - from : room);

		for (uint32_t i = threadIdx.x; i < size; i += blockDim.x)
			piece[i] = end[from + i];
		__syncthreads();
		SL_UNROLL
		for (uint32_t k = 0; k < ITEMS; k++)
			index[k] += ends_up_to(piece, size, first + threadIdx.x + k * blockDim.x);
		__syncthreads();
	}
	SL_UNROLL
	for (uint32_t k = 0; k < ITEMS; k++)
		if (first + threadIdx.x + k * blockDim.x < n_out)
			out[first + threadIdx.x + k * blockDim.x] = index[k];
}

/* --- host ------------------------------------------------------------------------------------- */

static size_t shared_bytes(struct sl_tuning tuning, enum sl_type type)
{
	return (size_t)tuning.block * ITEMS * sl_type_bytes(type);
}

template <class E> static enum sl_status expand(struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_arena a = x->scratch;
	uint32_t *index = sl_expand_cut_indices(&a, job->n_out, job->n_columns, job->out);

	SL_TRY(SL_LAUNCH((tile_kernel<E>), sl_grid(job->n_out, x->tuning.block * ITEMS),
		x->tuning.block, shared_bytes(x->tuning, job->type), x->stream,
		(const E *)job->runs, job->n - 1, index, job->n_out));
	return gather_columns(x, job, index);
}

static enum sl_status run(struct sl_exec *x, const struct sl_expand_job *job)
{
	return job->type == SL_U32 ? expand<uint32_t>(x, job) : expand<uint64_t>(x, job);
}

const struct sl_backend SL_NAME(sl_expand_tiled) = {
	.name = "tiled",
	.primitive = SL_EXPAND,
	.space = SL_DEVICE,
	.help = "tiles of slots: binary searches in the ends of their runs in shared memory",
	.tunable = {.block = 256,
		.block_step = 32,
		.block_most = BLOCK_MAX,
		.shared_bytes = shared_bytes},
	.scratch = sl_expand_scratch_of_indices,
	.expand = run,
};
