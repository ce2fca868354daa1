/* hold.cu - what stands before a call that is timed: emptied caches, and a stream that waits. */
#include "bench/kernels.h"
#include "primitives/kernel/kernel.cuh"

/* --- caches ----------------------------------------------------------------------------------- */

/* Reads all, in vectors. The sum is what keeps the compiler from leaving that out; it is 0. */
static __global__ void flush_kernel(const uint4 *block, size_t n, uint32_t *sum)
{
	size_t threads = (size_t)gridDim.x * blockDim.x;
	uint32_t mine = 0;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
		uint4 v = block[i];

		mine |= v.x | v.y | v.z | v.w;
	}
	if (mine != 0)
		*sum = mine;
}

enum { BLOCK = 256, BLOCKS = 1024 };

enum sl_status sl_queue_flush(void *block, size_t bytes, sl_stream s)
{
	return SL_LAUNCH(flush_kernel, BLOCKS, BLOCK, 0, s, (const uint4 *)block,
		bytes / sizeof(uint4), (uint32_t *)block);
}

size_t sl_cache_bytes(void)
{
	int device = 0, bytes = 0;

	(void)cudaGetDevice(&device);
	if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device) != cudaSuccess)
		(void)cudaGetLastError();
	return bytes > 0 ? (size_t)bytes : (size_t)64 << 20;
}

/* --- hold ------------------------------------------------------------------------------------- */

/* Some 30 ms on any device of today. */
#define CYCLES_MOST ((long long)1 << 26)

/* One thread that asks the host's memory, over and over. */
static __global__ void hold_kernel(volatile uint32_t *hold)
{
	long long start = clock64();

	while (hold[SL_HOLD_RELEASED] == 0)
		if (clock64() - start > CYCLES_MOST) {
			hold[SL_HOLD_GAVE_UP] = 1;
			__threadfence_system();
			return;
		}
}

/* Pinned memory has the same address on both sides (unified addressing, CUDA C++ Programming
 * Guide).
 */
enum sl_status sl_queue_hold(uint32_t *hold, sl_stream s)
{
	return SL_LAUNCH(hold_kernel, 1, 1, 0, s, (volatile uint32_t *)hold);
}
