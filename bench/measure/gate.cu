/* gate.cu - the kernels that run before a timed call. */
#include "bench/measure/gate.h"

#include "primitives/kernel/kernel.cuh"

/* --- caches ----------------------------------------------------------------------------------- */

/* Writing the result, which is always 0, keeps the compiler from removing the reads. */
static __global__ void flush_kernel(const uint4 *block, size_t n, uint32_t *result)
{
	size_t threads = (size_t)gridDim.x * blockDim.x;
	uint32_t mine = 0;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
		uint4 v = block[i];

		mine |= v.x | v.y | v.z | v.w;
	}
	if (mine != 0)
		*result = mine;
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

/* --- the gate --------------------------------------------------------------------------------- */

/* About 30 ms at 2 GHz: longer than the host needs to queue a call. */
#define CYCLES_MAX ((long long)1 << 26)

/* One thread polls a word of host memory. */
static __global__ void gate_kernel(volatile uint32_t *gate)
{
	long long start = clock64();

	while (gate[SL_GATE_OPEN] == 0)
		if (clock64() - start > CYCLES_MAX) {
			gate[SL_GATE_TIMED_OUT] = 1;
			__threadfence_system();
			return;
		}
}

/* Unified addressing: pinned memory has the same address on host and device (CUDA C++ Programming
 * Guide). */
enum sl_status sl_queue_gate(uint32_t *gate, sl_stream s)
{
	return SL_LAUNCH(gate_kernel, 1, 1, 0, s, (volatile uint32_t *)gate);
}
