/*
 * access_kernels.cu - small kernels whose memory accesses are known, for access.c. Compiled for the
 * emulated device alone.
 */
#include "tests/primitives/emulator/emulator_kernels.h"

#include <string.h>

#include "primitives/kernel/kernel.cuh"

enum { THREADS = 64 };

/* One load and one store per thread, `stride` words apart. */
static __global__ void strided(uint32_t *words, uint32_t stride)
{
	uint32_t i = (blockIdx.x * THREADS + threadIdx.x) * stride;

	words[i] = words[i] + 1;
}

/* The same with 16 bytes per access. */
static __global__ void wide(uint32_t *words, uint32_t stride)
{
	uint4 *four = reinterpret_cast<uint4 *>(words) + threadIdx.x * stride;
	uint4 value = *four;

	value.x ^= value.w;
	*four = value;
}

/* A store and, after a barrier, a load in shared memory: words `stride` apart, mod 1024. */
static __global__ void banks(uint32_t *words, uint32_t stride)
{
	SL_SHARED_DYNAMIC(uint32_t, tile);

	tile[threadIdx.x * stride % 1024] = threadIdx.x;
	__syncthreads();
	words[threadIdx.x] = tile[threadIdx.x * stride % 1024];
}

/* Each thread loops as many times as its number modulo the stride. */
static __global__ void divergent(uint32_t *words, uint32_t stride)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < threadIdx.x % stride; i++)
		sum += words[32 * i];
	words[2048 + threadIdx.x] = sum;
}

/* An update of device memory and one of shared memory, a relaxed load and a relaxed store. */
static __global__ void atomics(uint32_t *words, uint32_t stride)
{
	SL_SHARED_DYNAMIC(uint32_t, tile);

	atomicAdd(&words[threadIdx.x % stride], 1u);
	atomicAdd(&tile[0], 1u);
	sl_store_relaxed(&words[64 + threadIdx.x], sl_load_relaxed(&words[128 + threadIdx.x]));
}

static const struct {
	const char *name;
	void (*kernel)(uint32_t *words, uint32_t stride);
} kernels[] = {{"strided", strided}, {"wide", wide}, {"banks", banks}, {"divergent", divergent},
	{"atomics", atomics}};

enum sl_status launch_access_kernel(
	const char *name, uint32_t blocks, uint32_t stride, uint32_t *words)
{
	for (const auto &k : kernels)
		if (strcmp(k.name, name) == 0)
			return sl_launch(name, k.kernel, blocks, (uint32_t)THREADS,
				(size_t)ACCESS_WORDS, (sl_stream) nullptr, words, stride);
	return sl_fail(SL_INTERNAL, "no kernel %s", name);
}
