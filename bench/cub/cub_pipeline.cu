/*
 * cub_pipeline.cu - one batch with CUB's device-wide calls and simple kernels around them.
 *
 * One kernel generates the particles, advances them and writes the columns that are needed.
 * DeviceSelect reads the flags from the fates through a transform iterator. The keys of the
 * survivors alone are sorted with their indices by DeviceRadixSort, with double buffers and only
 * the bits that the keys have. One kernel gathers all columns, so each index is read once.
 *
 * The model rules are those of the project, so the results are the same bits.
 */
#include "bench/cub/cub.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "primitives/kernel/kernel.cuh"
#include "stages/particle/weight.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

enum { BLOCK = 256, COLUMNS_MAX = 12 };

/* --- particles -------------------------------------------------------------------------------- */

#define MODEL(name)                                                                                \
	static __global__ void name##_kernel(struct sl_##name rules, uint64_t seed,                \
		uint64_t first_id, uint32_t n, struct sl_columns c, sl_column_set needed)          \
	{                                                                                          \
		uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;                      \
                                                                                                   \
		if (i < n) {                                                                       \
			struct sl_particle p =                                                     \
				sl_##name##_generate(&rules, SL_EVERY_COLUMN, seed, first_id + i); \
			sl_##name##_advance(&rules, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);        \
			sl_store(&c, needed, i, &p);                                               \
		}                                                                                  \
	}
#include "stages/models/models.def"
#undef MODEL

enum sl_status sl_cub_pipeline_generate(const struct sl_cub_pipeline *p, sl_stream s)
{
	const struct sl_batch *b = &p->batch;

	switch (p->model) {
#define MODEL(name)                                                                      \
	case SL_MODEL_##name:                                                            \
		return SL_LAUNCH(name##_kernel, sl_grid(b->n, BLOCK), BLOCK, 0, s,       \
			*(const struct sl_##name *)p->rules, p->seed, b->first_id, b->n, \
			b->columns, p->needed);
#include "stages/models/models.def"
#undef MODEL
	case SL_MODEL_COUNT:
		break;
	}
	return SL_OK;
}

/* --- survivors -------------------------------------------------------------------------------- */

struct has_kept_fate {
	sl_fate_set keep;

	__host__ __device__ uint8_t operator()(uint8_t fate) const
	{
		return sl_has_fate(keep, fate);
	}
};

static cudaError_t select(
	const struct sl_cub_pipeline *p, void *temporary, size_t &bytes, cudaStream_t s)
{
	const struct sl_batch *b = &p->batch;

	return cub::DeviceSelect::Flagged(temporary, bytes, thrust::counting_iterator<uint32_t>(0),
		thrust::make_transform_iterator(b->columns.fate, has_kept_fate{p->keep}), b->index,
		p->n_survivors, b->n, s);
}

enum sl_status sl_cub_pipeline_select(const struct sl_cub_pipeline *p, sl_stream s)
{
	size_t bytes = p->temporary_bytes;

	return sl_launch_end((int)select(p, p->temporary, bytes, s), "select");
}

/* --- order ------------------------------------------------------------------------------------ */

/* After the call key and index point to the buffers that contain the result. */
static cudaError_t sort(
	struct sl_cub_pipeline *p, uint32_t n, void *temporary, size_t &bytes, cudaStream_t s)
{
	struct sl_batch *b = &p->batch;
	cub::DoubleBuffer<uint32_t> key((uint32_t *)b->key, p->other_key);
	cub::DoubleBuffer<uint32_t> index(b->index, p->other_index);
	cudaError_t error = cub::DeviceRadixSort::SortPairs(
		temporary, bytes, key, index, n, 0, (int)p->key_bits, s);

	if (temporary) {
		b->key = key.Current();
		p->other_key = key.Alternate();
		b->index = index.Current();
		p->other_index = index.Alternate();
	}
	return error;
}

enum sl_status sl_cub_pipeline_sort(struct sl_cub_pipeline *p, sl_stream s)
{
	size_t bytes = p->temporary_bytes;

	return sl_launch_end(
		(int)sort(p, p->batch.n_survivors, p->temporary, bytes, s), "sort of pairs");
}

/* --- the table -------------------------------------------------------------------------------- */

struct pointers {
	const uint32_t *from[COLUMNS_MAX];
	uint32_t *to[COLUMNS_MAX];
};

/* Two loops, so that all loads of a row are issued before the first store waits for one. */
static __global__ void gather_kernel(
	struct pointers c, uint32_t n_columns, const uint32_t *index, uint32_t n)
{
	uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t value[COLUMNS_MAX], i;

	if (j >= n)
		return;
	i = index[j];
	SL_UNROLL
	for (uint32_t k = 0; k < COLUMNS_MAX; k++)
		if (k < n_columns)
			value[k] = c.from[k][i];
	SL_UNROLL
	for (uint32_t k = 0; k < COLUMNS_MAX; k++)
		if (k < n_columns)
			c.to[k][j] = value[k];
}

enum sl_status sl_cub_pipeline_gather(const struct sl_cub_pipeline *p, sl_stream s)
{
	const struct sl_batch *b = &p->batch;
	struct pointers c = {};
	uint32_t n = 0;

	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *to = &b->table.column[k];

		if (to->constant)
			continue;
		if (n == COLUMNS_MAX)
			return sl_fail(SL_USAGE,
				"the CUB pipeline gathers at most %d columns; configure fewer",
				COLUMNS_MAX);
		c.from[n] = (const uint32_t *)sl_column_at(&b->columns, to->column);
		c.to[n++] = (uint32_t *)to->data;
	}
	if (n == 0 || b->n_survivors == 0)
		return SL_OK;
	return SL_LAUNCH(gather_kernel, sl_grid(b->n_survivors, BLOCK), BLOCK, 0, s, c, n, b->index,
		b->n_survivors);
}

/* --- memory ----------------------------------------------------------------------------------- */

void sl_cub_pipeline_lay_out(struct sl_arena *a, uint32_t n, struct sl_cub_pipeline *p)
{
	struct sl_batch *b = &p->batch;
	size_t select_bytes = 0, sort_bytes = 0;

	b->n = n;
#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(p->needed, SL_COLUMN_##name))          \
		b->columns.name = (type *)sl_cut_items(a, n, sizeof(type));
#include "stages/particle/columns.def"
#undef COLUMN
	b->index = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
	p->other_index = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
	b->key = sl_cut_items(a, n, sizeof(uint32_t));
	p->other_key = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
	p->n_survivors = (uint32_t *)sl_cut(a, sizeof(uint32_t));
	(void)select(p, nullptr, select_bytes, nullptr);
	(void)sort(p, n, nullptr, sort_bytes, nullptr);
	p->temporary_bytes = select_bytes > sort_bytes ? select_bytes : sort_bytes;
	p->temporary = sl_cut(a, p->temporary_bytes);
}
