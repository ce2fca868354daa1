/*
 * kernel.cuh - the header of every .cu file. nvcc compiles the file for CUDA devices, and the C++
 * compiler of the host compiles the same file for the emulated device.
 *
 *	static __global__ void add_kernel(const uint32_t *in, uint32_t *out, uint64_t n);
 *
 *	return SL_LAUNCH(add_kernel, sl_grid(n, block), block, 0, x->stream, in, out, n);
 *
 * Besides the names of CUDA C that emulator/cuda_names.h lists, kernels use:
 *
 *	SL_SHARED(type, name)           a variable in shared memory
 *	SL_SHARED_DYNAMIC(type, name)   type *name: the dynamic shared memory of the launch
 *	sl_load_acquire, sl_load_relaxed, sl_store_release, sl_store_relaxed
 *	                                atomic access, at device scope, to words of 4 or 8 bytes that
 *	                                blocks exchange
 *	sl_store_vector(to, uint4)      stores 16 bytes to global memory at a multiple of 16
 *	sl_backoff(ns)                  required in every loop that waits for another block; with 0
 *	                                the loop polls again without a pause
 *	sl_match_lanes<BITS>(value)     the lanes of the warp with the same value as the caller; value
 *	                                has only its lowest BITS bits
 *	SL_LAUNCH(kernel, blocks, threads, shared bytes, stream, arguments...)
 *	                                queues the kernel and returns a status; put a template with
 *	                                commas in parentheses: (kernel<T, 4>)
 *	sl_launch_early("kernel", kernel, blocks, ...)
 *	                                the same with programmatic dependent launch: its blocks may
 *	                                start before those of the previous launch on the stream end
 *	sl_launch_as("kernel", kernel, early, blocks, ...)
 *	                                early or ordinary, by the argument
 *	sl_wait_for_previous()              in a kernel that is launched early, by all threads before they
 *	                                access global memory: waits until the previous launches end
 *	sl_trigger_next()             by all threads: an early launch that follows this kernel may
 *	                                start once all blocks of this one have started
 *	sl_compiled_for(kernel)         on the host: the compute capability (90 for 9.0) of the code
 *	                                that runs on the current device; less than that of the device
 *	                                if the code is PTX of an older architecture
 *	SL_UNROLL                       before a short loop whose arrays must stay in registers
 *	SL_NAME(sl_scan_naive)          the name of a host object that the file defines: gets the
 *	                                suffix _emulated for the emulated device
 */
#ifndef SL_PRIMITIVES_KERNEL_KERNEL_CUH
#define SL_PRIMITIVES_KERNEL_KERNEL_CUH

#include "primitives/device/device_driver.h"

#ifdef SL_EMULATED
#include "primitives/emulator/cuda_names.h"
#define SL_UNROLL     /* no gain here, and six times the compile time */
#define SL_NAME(name) name##_emulated
#define SL_GRID_CONSTANT
#else
#include "cuda.cuh"
#define SL_UNROLL        _Pragma("unroll")
#define SL_NAME(name)    name
#define SL_GRID_CONSTANT __grid_constant__ /* a parameter that threads read in place */
#endif

#include <type_traits>

#define SL_LAUNCH(kernel, ...) sl_launch(#kernel, kernel, __VA_ARGS__)

/* The mask of all lanes of a warp. */
#define SL_LANES 0xffffffffu

/* The limit of gridDim.x on devices since compute capability 3.0. Kernels stride over the rest. */
#define SL_GRID_MAX UINT64_C(0x7fffffff)

/* The number of blocks for n threads, at least 1. */
static inline uint32_t sl_grid(uint64_t n, uint32_t block)
{
	uint64_t blocks = (n + block - 1) / block;

	return (uint32_t)(blocks < 1 ? 1 : blocks < SL_GRID_MAX ? blocks : SL_GRID_MAX);
}

/*
 * Selects an instance of a template by the items per thread: calls each with the constant that
 * equals items, the last one if none does.
 */
template <uint32_t FIRST, uint32_t... MORE, class Each>
static inline enum sl_status sl_with_items(uint32_t items, const Each &each)
{
	if constexpr (sizeof...(MORE) > 0)
		if (items != FIRST)
			return sl_with_items<MORE...>(items, each);
	return each(std::integral_constant<uint32_t, FIRST>{});
}

#endif
