/*
 * pack.cu - kernels for packed data: the bounds of positions, the digest of the packed bytes, the
 * filling of constant columns, and records of the MCPL format.
 *
 * A thread processes values in strides of the grid. Warps reduce in registers and then update the
 * size header with an atomic operation. The minimum is stored as the largest complemented key, so
 * that a size header of zeros is the neutral element of all reductions.
 *
 * A thread makes the record of one row. The records of a block are collected in shared memory
 * first, so that they are written with coalesced accesses. The columns are read and the records
 * written once.
 */
#include "stages/device/pack.h"

#include <string.h>

#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"
#include "stages/counting/sums.cuh"
#include "stages/formats/mcpl/mcpl.h"

enum { BLOCK = 256, VALUES_PER_THREAD = 8, BLOCKS_MAX = 512 }; /* VALUES_PER_THREAD: at least */

static uint32_t grid_of(size_t n)
{
	size_t blocks = sl_ceil_div(n, BLOCK * VALUES_PER_THREAD);

	return (uint32_t)(blocks < BLOCKS_MAX ? blocks : (size_t)BLOCKS_MAX);
}

/* The largest over the lanes of a warp, in lane 0. */
static __device__ __forceinline__ uint32_t warp_max(uint32_t v)
{
	for (uint32_t by = 16; by > 0; by /= 2) {
		uint32_t other = __shfl_down_sync(SL_LANES, v, by);

		v = other > v ? other : v;
	}
	return v;
}

static __global__ void bounds_kernel(
	const float *value, uint32_t n, uint32_t *below, uint32_t *above)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
	uint32_t least = 0, greatest = 0;

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += threads) {
		float v = value[j];
		uint32_t key = sl_key_from_f32_bits(sl_bits(v));

		if (v != v) /* NaN is neither below nor above any number */
			continue;
		least = ~key > least ? ~key : least;
		greatest = key > greatest ? key : greatest;
	}
	least = warp_max(least);
	greatest = warp_max(greatest);
	if (threadIdx.x % 32 == 0) {
		atomicMax(below, least);
		atomicMax(above, greatest);
	}
}

/* Word j of n bytes, padded with zeros. */
static __device__ inline uint64_t word_of(const uint8_t *bytes, uint64_t n, uint64_t j)
{
	uint64_t at = j * sizeof(uint64_t), word = 0;

	if (n - at >= sizeof(word))
		return ((const uint64_t *)(const void *)bytes)[j];
	for (uint64_t k = at; k < n; k++)
		word |= (uint64_t)bytes[k] << 8 * (k - at);
	return word;
}

static __global__ void digest_kernel(const uint8_t *bytes, const size_t *used, uint64_t *digest)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x, n = *used, mine[1] = {};
	uint64_t words = (n + sizeof(uint64_t) - 1) / sizeof(uint64_t);

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < words; j += threads)
		mine[0] += sl_digest_word(j, word_of(bytes, n, j));
	sl_block_add<sl_words_of<1>>(mine, digest);
}

static __global__ void fill_kernel(uint64_t word, uint64_t n, uint64_t *words)
{
	uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (j < n)
		words[j] = word;
}

static __global__ void records_kernel(struct sl_mcpl_rows rows, struct sl_mcpl_record r, uint32_t n,
	uint32_t *words, size_t *used)
{
	SL_SHARED_DYNAMIC(uint32_t, block);
	uint64_t first = (uint64_t)blockIdx.x * BLOCK, each = r.bytes / sizeof(uint32_t);
	uint32_t left = n - (uint32_t)first, here = left < BLOCK ? left : (uint32_t)BLOCK;

	if (threadIdx.x < here)
		sl_mcpl_record_of_row(&r, &rows, first + threadIdx.x, block + threadIdx.x * each);
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < here * each; k += BLOCK)
		words[first * each + k] = block[k];
	if (used && blockIdx.x == 0 && threadIdx.x == 0)
		*used = (size_t)n * r.bytes;
}

enum sl_status SL_NAME(sl_queue_fill)(
	const void *value, uint32_t bytes, uint32_t n, uint64_t *words, sl_stream s)
{
	uint64_t word, all = sl_ceil_div((uint64_t)n * bytes, sizeof(word));

	for (uint32_t at = 0; at < sizeof(word); at += bytes)
		memcpy((char *)&word + at, value, bytes);
	return SL_LAUNCH(fill_kernel, sl_grid(all, BLOCK), BLOCK, 0, s, word, all, words);
}

enum sl_status SL_NAME(sl_queue_bounds)(
	const struct sl_batch *b, struct sl_pack_size_header *header, sl_stream s)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];
		int axis = (int)c->column - (int)SL_COLUMN_x;

		if (c->constant || axis < 0 || axis >= 3)
			continue;
		SL_TRY(SL_LAUNCH(bounds_kernel, grid_of(b->n_survivors), BLOCK, 0, s,
			(const float *)c->data, b->n_survivors, &header->below[axis],
			&header->above[axis]));
	}
	return SL_OK;
}

enum sl_status SL_NAME(sl_queue_pack_digest)(
	const uint8_t *out, size_t max_bytes, struct sl_pack_size_header *header, sl_stream s)
{
	return SL_LAUNCH(digest_kernel, grid_of(max_bytes / sizeof(uint64_t) + 1), BLOCK, 0, s, out,
		&header->used, &header->digest);
}

enum sl_status SL_NAME(sl_queue_records)(const struct sl_table *t, const struct sl_mcpl_record *r,
	uint32_t n, uint32_t *words, size_t *used, sl_stream s)
{
	return SL_LAUNCH(records_kernel, sl_grid(n, BLOCK), BLOCK, (size_t)BLOCK * r->bytes, s,
		sl_mcpl_rows_of(t), *r, n, words, used);
}
