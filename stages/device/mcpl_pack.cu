/*
 * mcpl_pack.cu - makes MCPL records of the survivors on a device.
 *
 * A thread makes the record of one row. The records of a block are collected in shared memory
 * first, so that they are written with coalesced accesses.
 *
 * Memory traffic: reads the columns and writes the records once.
 */
#include "stages/device/mcpl_pack.h"

#include "primitives/kernel/kernel.cuh"
#include "stages/formats/mcpl/mcpl.h"

enum { BLOCK = 256 };

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

enum sl_status SL_NAME(sl_queue_records)(const struct sl_table *t, const struct sl_mcpl_record *r,
	uint32_t n, uint32_t *words, size_t *used, sl_stream s)
{
	return SL_LAUNCH(records_kernel, sl_grid(n, BLOCK), BLOCK, (size_t)BLOCK * r->bytes, s,
		sl_mcpl_rows_of(t), *r, n, words, used);
}
