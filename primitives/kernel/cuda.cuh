/* cuda.cuh - the functions that kernel.cuh lists, for CUDA devices. */
#ifndef SL_PRIMITIVES_KERNEL_CUDA_CUH
#define SL_PRIMITIVES_KERNEL_CUDA_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "primitives/device/device_driver.h"

#define SL_SHARED(type, name) __shared__ type name
/* Aligned to lines of 128 bytes, where bulk loads (bulk.cuh) are fastest. */
#define SL_SHARED_DYNAMIC(type, name)                                     \
	extern __shared__ __align__(128) unsigned char sl_shared_bytes[]; \
	type *name = reinterpret_cast<type *>(sl_shared_bytes)

/*
 * Adds to a word of global memory. The address space is stated: nvcc 13.0 compiled some of these
 * additions, in kernels that also add to shared memory, for shared memory.
 */
static __device__ __forceinline__ void sl_add_global(uint64_t *to, uint64_t value)
{
	asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
		     "l"(value)
		     : "memory");
}

/* PTX ISA, 9.7.9: relaxed, acquire and release at device scope, since sm_70. */
#define SL_ORDERED(type, bits, constraint)                                                         \
	static __device__ __forceinline__ type sl_load_relaxed(const type *at)                     \
	{                                                                                          \
		type v;                                                                            \
		asm volatile("ld.relaxed.gpu.global.u" #bits " %0, [%1];"                          \
			     : "=" constraint(v)                                                   \
			     : "l"(at)                                                             \
			     : "memory");                                                          \
		return v;                                                                          \
	}                                                                                          \
	static __device__ __forceinline__ type sl_load_acquire(const type *at)                     \
	{                                                                                          \
		type v;                                                                            \
		asm volatile("ld.acquire.gpu.global.u" #bits " %0, [%1];"                          \
			     : "=" constraint(v)                                                   \
			     : "l"(at)                                                             \
			     : "memory");                                                          \
		return v;                                                                          \
	}                                                                                          \
	static __device__ __forceinline__ void sl_store_relaxed(type *at, type v)                  \
	{                                                                                          \
		asm volatile("st.relaxed.gpu.global.u" #bits " [%0], %1;" ::"l"(at), constraint(v) \
			     : "memory");                                                          \
	}                                                                                          \
	static __device__ __forceinline__ void sl_store_release(type *at, type v)                  \
	{                                                                                          \
		asm volatile("st.release.gpu.global.u" #bits " [%0], %1;" ::"l"(at), constraint(v) \
			     : "memory");                                                          \
	}

SL_ORDERED(uint32_t, 32, "r")
SL_ORDERED(uint64_t, 64, "l")

/* CUDA defines atomicAdd for unsigned long long, which is not the same type as uint64_t. */
static __device__ __forceinline__ uint64_t atomicAdd(uint64_t *at, uint64_t value)
{
	return atomicAdd(reinterpret_cast<unsigned long long *>(at), value);
}

/* In C, the compiler stores four words one by one unless it can prove that they are adjacent. */
static __device__ __forceinline__ void sl_store_vector(void *to, uint4 v)
{
	asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y),
		     "r"(v.z), "r"(v.w)
		     : "memory");
}

/* One ballot per bit, in PTX: the same in C compiles to twice the instructions. */
template <int BITS> static __device__ __forceinline__ uint32_t sl_match_lanes(uint32_t value)
{
	uint32_t lanes = 0xffffffff;

#pragma unroll
	for (int bit = 0; bit < BITS; bit++) {
		uint32_t alike;

		asm volatile("{\n\t"
			     ".reg .pred mine;\n\t"
			     "and.b32 %0, %1, %2;\n\t"
			     "setp.ne.u32 mine, %0, 0;\n\t"
			     "vote.sync.ballot.b32 %0, mine, 0xffffffff;\n\t"
			     "@!mine not.b32 %0, %0;\n\t"
			     "}"
			     : "=&r"(alike)
			     : "r"(value), "r"(1u << bit));
		lanes &= alike;
	}
	return lanes;
}

static __device__ __forceinline__ void sl_backoff(uint32_t nanoseconds)
{
	if (nanoseconds > 0)
		__nanosleep(nanoseconds);
}

/*
 * Programmatic dependent launch (PTX ISA, 9.7.13.13) exists since Hopper; older devices run
 * launches in order.
 */
static __device__ __forceinline__ void sl_wait_for_previous(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void sl_trigger_next(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* 0 if there is no code for the device; a launch then returns the reason. */
template <class... P> static inline uint32_t sl_compiled_for(void (*kernel)(P...))
{
	struct cudaFuncAttributes a = {};

	if (cudaFuncGetAttributes(&a, kernel) != cudaSuccess)
		(void)cudaGetLastError();
	return (uint32_t)a.ptxVersion;
}

/*
 * Dynamic shared memory that needs no attribute: 48 KiB per block, minus the static shared memory
 * of the kernels of this library.
 */
#define SL_SHARED_PLAIN ((size_t)40 << 10)

template <class... P, class... A>
static inline enum sl_status sl_launch_as(const char *name, void (*kernel)(P...), bool early,
	uint32_t blocks, uint32_t threads, size_t shared_bytes, sl_stream stream,
	const A &...arguments)
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	cudaError_t error = cudaSuccess;

	SL_TRY(sl_launch_begin(name));
	if (shared_bytes > SL_SHARED_PLAIN)
		error = cudaFuncSetAttribute(
			kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = blocks;
	config.blockDim = threads;
	config.dynamicSmemBytes = shared_bytes;
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = early;
	if (error == cudaSuccess)
		error = cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...);
	/*
	 * Clears an error of this launch only: the last error may also be one that the caller
	 * ignored.
	 */
	if (error != cudaSuccess)
		(void)cudaGetLastError();
	return sl_launch_end((int)error, name);
}

template <class... P, class... A>
static inline enum sl_status sl_launch(const char *name, void (*kernel)(P...), uint32_t blocks,
	uint32_t threads, size_t shared_bytes, sl_stream stream, const A &...arguments)
{
	return sl_launch_as(
		name, kernel, false, blocks, threads, shared_bytes, stream, arguments...);
}

template <class... P, class... A>
static inline enum sl_status sl_launch_early(const char *name, void (*kernel)(P...),
	uint32_t blocks, uint32_t threads, size_t shared_bytes, sl_stream stream,
	const A &...arguments)
{
	return sl_launch_as(
		name, kernel, true, blocks, threads, shared_bytes, stream, arguments...);
}

#endif
