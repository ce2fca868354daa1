/*
 * write.cu - stage write on a device: gathers each column of the survivors in key order, and
 * digests it.
 *
 * One launch per column. A thread processes rows in strides of the grid and sums their digests in a
 * register; sums.cuh adds the sums of all threads.
 */
#include <string.h>

#include "primitives/count.cuh"
#include "stages/counting/sums.cuh"
#include "stages/write.h"

enum { BLOCK = 256, EACH = 8, BLOCKS_MOST = 2048 }; /* EACH: rows per thread, at least */

template <class T>
static __global__ void gather_kernel(
	const T *from, const uint32_t *index, T *to, struct sl_count count, uint64_t *digest)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x, mine[1] = {};
	uint32_t n = sl_count_read(count);

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += threads) {
		T value = from[index[j]];

		to[j] = value;
		mine[0] += sl_digest_item(sl_digest_weight(j), sl_digest_bits(value));
	}
	sl_block_add<sl_words_of<1>>(mine, digest);
}

/* The column id is not stored; it follows from the position of a particle. */
static __global__ void gather_ids_kernel(const uint64_t *first_id, const uint32_t *index,
	uint64_t *to, struct sl_count count, uint64_t *digest)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x, mine[1] = {};
	uint32_t n = sl_count_read(count);

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += threads) {
		to[j] = *first_id + index[j];
		mine[0] += sl_digest_item(sl_digest_weight(j), to[j]);
	}
	sl_block_add<sl_words_of<1>>(mine, digest);
}

/* Digests a constant column: the same value in each row. */
static __global__ void digest_kernel(uint64_t bits, struct sl_count count, uint64_t *digest)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x, mine[1] = {};
	uint32_t n = sl_count_read(count);

	for (uint64_t j = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; j < n; j += threads)
		mine[0] += sl_digest_item(sl_digest_weight(j), bits);
	sl_block_add<sl_words_of<1>>(mine, digest);
}

/* The rows of a batch. */
static struct sl_count count_of(const struct sl_batch *b)
{
	return {b->n_survivors, false, b->n_counted};
}

static uint32_t grid_of(uint32_t n)
{
	uint32_t blocks = sl_grid(n, BLOCK * EACH);

	return blocks < BLOCKS_MOST ? blocks : (uint32_t)BLOCKS_MOST;
}

template <class T>
static enum sl_status gather_as(
	const struct sl_batch *b, const struct sl_table_column *c, uint64_t *digest, sl_stream s)
{
	return SL_LAUNCH(gather_kernel<T>, grid_of(b->n_survivors), BLOCK, 0, s,
		(const T *)sl_column_at(&b->columns, c->column), b->index, (T *)c->data,
		count_of(b), digest);
}

static enum sl_status gather(
	const struct sl_batch *b, const struct sl_table_column *c, uint64_t *digest, sl_stream s)
{
	uint32_t blocks = grid_of(b->n_survivors);
	uint64_t bits = 0;

	if (c->constant) {
		memcpy(&bits, c->data, sl_column_facts[c->column].bytes);
		return SL_LAUNCH(digest_kernel, blocks, BLOCK, 0, s, bits, count_of(b), digest);
	}
	if (c->column == SL_COLUMN_id)
		return SL_LAUNCH(gather_ids_kernel, blocks, BLOCK, 0, s, b->first_id_on_device,
			b->index, (uint64_t *)c->data, count_of(b), digest);
	switch (sl_column_facts[c->column].type) {
	case SL_TYPE_F32:
		return gather_as<float>(b, c, digest, s);
	case SL_TYPE_U32:
		return gather_as<uint32_t>(b, c, digest, s);
	case SL_TYPE_U64:
		return gather_as<uint64_t>(b, c, digest, s);
	case SL_TYPE_U8:
		return gather_as<uint8_t>(b, c, digest, s);
	case SL_TYPE_I32:
		return gather_as<int32_t>(b, c, digest, s);
	}
	return SL_OK;
}

enum sl_status SL_NAME(sl_queue_gather)(
	const struct sl_batch *b, uint64_t digest[SL_COLUMN_COUNT], sl_stream s)
{
	for (uint32_t k = 0; k < b->table.n_columns; k++) {
		const struct sl_table_column *c = &b->table.column[k];

		SL_TRY(gather(b, c, &digest[c->column], s));
	}
	return SL_OK;
}
