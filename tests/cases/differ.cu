/* differ.cu - compares two blocks of device memory on the device. */
#include "primitives/kernel/kernel.cuh"
#include "tests/cases/cross_check.h"

enum { BLOCK = 256, BLOCKS_MOST = 4096 };

static __global__ void differ_kernel(
	const unsigned char *p, const unsigned char *q, uint64_t bytes, uint32_t *differ)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;

	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += threads)
		if (p[i] != q[i])
			sl_store_relaxed(differ, 1u);
}

enum sl_status SL_NAME(sl_queue_differ)(
	const void *p, const void *q, uint64_t bytes, uint32_t *differ, sl_stream s)
{
	const uint32_t most = BLOCKS_MOST;
	uint32_t blocks = sl_grid(bytes, BLOCK);

	return SL_LAUNCH(differ_kernel, blocks < most ? blocks : most, BLOCK, 0, s,
		(const unsigned char *)p, (const unsigned char *)q, bytes, differ);
}
