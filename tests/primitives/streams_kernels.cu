/* streams_kernels.cu - see streams_kernels.h. For CUDA only: it reads the clock of the device. */
#include "streams_kernels.h"

#include "primitives/kernel/item_loops.cuh"

/* LIMIT_NS: three minutes, so that a test that fails ends; the chains of the longest take one. */
static const uint64_t LIMIT_NS = UINT64_C(180000000000), LATE_NS = 200000;

static __device__ uint64_t now_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

static __global__ void hold_kernel(volatile int *flag)
{
	uint64_t began = now_ns();

	while (*flag == 0 && now_ns() - began < LIMIT_NS)
		__nanosleep(1000);
}

static __global__ void copy_late_kernel(uint32_t *to, const uint32_t *from, uint32_t n)
{
	uint64_t began = now_ns();

	while (now_ns() - began < LATE_NS) {
	}
	sl_for_items(n, [=](uint64_t i) { to[i] = from[i]; });
}

static __global__ void load_memory_kernel(uint32_t *words, uint32_t n, volatile int *flag)
{
	uint64_t began = now_ns(), x = blockIdx.x * UINT64_C(7919) + threadIdx.x;

	while (*flag == 0 && now_ns() - began < LIMIT_NS)
		for (int i = 0; i < 64; i++) {
			x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			atomicAdd(&words[(x >> 20) % n], 1u);
		}
}

enum sl_status streams_hold(uint32_t blocks, size_t shared_bytes, volatile int *flag, sl_stream s)
{
	return SL_LAUNCH(hold_kernel, blocks, 32, shared_bytes, s, flag);
}

enum sl_status streams_copy_late(uint32_t *to, const uint32_t *from, uint32_t n, sl_stream s)
{
	return SL_LAUNCH(copy_late_kernel, 64, 256, 0, s, to, from, n);
}

enum sl_status streams_load_memory(uint32_t *words, uint32_t n, volatile int *flag, sl_stream s)
{
	return SL_LAUNCH(load_memory_kernel, 60, 256, 0, s, words, n, flag);
}
