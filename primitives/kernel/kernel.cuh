/*
 * kernel.cuh - what every .cu file includes: one text, compiled by nvcc for CUDA devices and by the
 * host's C++ compiler for the emulated one.
 *
 *	static __global__ void add_kernel(const uint32_t *in, uint32_t *out, uint64_t n);
 *
 *	return SL_LAUNCH(add_kernel, sl_grid(n, block), block, 0, x->stream, in, out, n);
 *
 * Beside CUDA's own words (those in emulator.h):
 *
 *	SL_SHARED(type, name)           a variable in shared memory
 *	SL_SHARED_DYNAMIC(type, name)   type *: the shared memory that the launch asks for
 *	sl_load_acquire, ..._relaxed    words that blocks pass to each other, 4 or 8 bytes, whole;
 *	sl_store_release, ..._relaxed   release and acquire carry what was written before along
 *	sl_store_vector(to, uint4)      16 bytes of global memory, at a multiple of 16
 *	sl_backoff(ns)                  in every loop that waits for another block; 0: asks again at
 *	                                once
 *	sl_lanes_alike<BITS>(value)     the lanes whose lowest bits are the caller's, which are all
 *	                                that value has
 *	SL_LAUNCH(kernel, blocks, threads, shared bytes, stream, arguments...)
 *	                                queues it and gives a status; (kernel<T, 4>) with commas
 *	sl_launch_early("kernel", kernel, blocks, ...)
 *	                                the same, but its blocks may begin before those of the
 *	                                launch before it on the stream end
 *	sl_launch_as("kernel", kernel, early, blocks, ...)
 *	                                one or the other
 *	sl_wait_for_last()              for all threads of a kernel that is launched early, before
 *	                                they touch global memory: the launches before have ended
 *	sl_let_next_begin()             for all threads: what is launched early behind this kernel
 *	                                may begin, once all of its blocks have
 *	sl_compiled_for(kernel)         for the host: the compute capability that the code was
 *	                                compiled for which the current device runs, 90 for 9.0;
 *	                                less than the device's own, if it came as older PTX
 *	SL_UNROLL                       before a loop of few turns, whose arrays stay in registers
 *	SL_NAME(sl_scan_naive)          the name of what the file defines for the host
 */
#ifndef SL_PRIMITIVES_KERNEL_KERNEL_CUH
#define SL_PRIMITIVES_KERNEL_KERNEL_CUH

#include "primitives/device/device_driver.h"

#ifdef SL_EMULATED
#include "primitives/emulator/cuda_names.h"
#define SL_UNROLL     /* nothing is won by it here, and compilers would take six times as long */
#define SL_NAME(name) name##_emulated
#else
#include "cuda.cuh"
#define SL_UNROLL     _Pragma("unroll")
#define SL_NAME(name) name
#endif

#define SL_LAUNCH(kernel, ...) sl_launch(#kernel, kernel, __VA_ARGS__)

/* All lanes of a warp. */
#define SL_LANES 0xffffffffu

/* CUDA's own limit of gridDim.x on every device since 3.0. Kernels stride over the rest. */
#define SL_GRID_MAX UINT64_C(0x7fffffff)

/* Blocks that n threads fill, one at least. */
static inline uint32_t sl_grid(uint64_t n, uint32_t block)
{
	uint64_t blocks = (n + block - 1) / block;

	return (uint32_t)(blocks < 1 ? 1 : blocks < SL_GRID_MAX ? blocks : SL_GRID_MAX);
}

#endif
