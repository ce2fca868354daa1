/*
 * cuda.cuh - what every .cu file needs: launches that are checked, and how large they may be.
 */
#ifndef SL_BASE_CUDA_CUH
#define SL_BASE_CUDA_CUH

#include <stdint.h>

#include "device_driver.h"
#include "fault.h"

/* CUDA's own limit of gridDim.x on every device since 3.0. Kernels stride over the rest. */
#define SL_GRID_MAX UINT64_C(0x7fffffff)

/* Call right after a launch: was it accepted? (How it ended is sl_stream_wait's to tell.) */
static inline enum sl_status sl_launched(const char *kernel)
{
	int error = sl_fault("dev_launch");

	if (error == 0)
		error = (int)cudaGetLastError();
	return sl_device_status(error, kernel);
}

/* Sets *block to the threads a block that were asked for, or to the backend's default for 0. */
static inline enum sl_status sl_block(
	const char *backend, uint32_t asked, uint32_t by_default, uint32_t *block)
{
	int device = 0, most = 0;
	cudaError_t error = cudaGetDevice(&device);

	*block = asked > 0 ? asked : by_default;
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device);
	SL_TRY(sl_device_status((int)error, backend));
	if (asked > (uint32_t)most)
		return sl_fail(SL_USAGE,
			"%s: block=%u threads, but this device has blocks of 1 to %d; "
			"leave it out for %u",
			backend, asked, most, by_default);
	return SL_OK;
}

/* Blocks that n threads fill, one at least. */
static inline uint32_t sl_grid(uint64_t n, uint32_t block)
{
	uint64_t blocks = (n + block - 1) / block;

	return (uint32_t)(blocks < 1 ? 1 : blocks < SL_GRID_MAX ? blocks : SL_GRID_MAX);
}

#endif
