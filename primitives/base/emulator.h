/*
 * emulator.h - CUDA's words for kernels, in plain C++: what kernel.cuh includes for the emulated
 * device.
 *
 * Only the words that our kernels use, in one dimension. emulated.h says what they end in.
 */
#ifndef SL_BASE_EMULATOR_H
#define SL_BASE_EMULATOR_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "emulated.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (sl_emulated_here.thread)
#define blockIdx  (sl_emulated_here.block)
#define blockDim  (sl_emulated_here.threads)
#define gridDim   (sl_emulated_here.blocks)

struct alignas(8) uint2 {
	uint32_t x, y;
};

struct alignas(16) uint4 {
	uint32_t x, y, z, w;
};

struct alignas(16) ulonglong2 {
	unsigned long long x, y;
};

/* --- shared memory ---------------------------------------------------------------------------- */

#define SL_SHARED(type, name)             \
	static const char name##_key = 0; \
	type &name = *reinterpret_cast<type *>(sl_emulated_shared(&name##_key, sizeof(type)))
#define SL_SHARED_DYNAMIC(type, name) type *name = reinterpret_cast<type *>(sl_emulated_dynamic())

/* --- barriers and warps ----------------------------------------------------------------------- */

inline void __syncthreads()
{
	sl_emulated_barrier(false);
}

inline int __syncthreads_count(int yes)
{
	return (int)sl_emulated_barrier(yes != 0);
}

inline int __syncthreads_or(int yes)
{
	return sl_emulated_barrier(yes != 0) != 0;
}

inline int __syncthreads_and(int yes)
{
	return sl_emulated_barrier(yes == 0) == 0;
}

inline void __syncwarp(uint32_t mask = 0xffffffffu)
{
	sl_emulated_exchange(mask, 0);
}

template <class T> inline uint64_t sl_to_word(T value)
{
	uint64_t word = 0;

	static_assert(sizeof(T) <= sizeof(word), "a warp exchanges words of 64 bits at most");
	memcpy(&word, &value, sizeof(value));
	return word;
}

template <class T> inline T sl_of_word(uint64_t word)
{
	T value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

template <class T> inline T __shfl_sync(uint32_t mask, T value, int from)
{
	return sl_of_word<T>(sl_emulated_exchange(mask, sl_to_word(value))[from & 31]);
}

template <class T> inline T __shfl_up_sync(uint32_t mask, T value, uint32_t by)
{
	const uint64_t *words = sl_emulated_exchange(mask, sl_to_word(value));
	uint32_t lane = sl_emulated_lane();

	return sl_of_word<T>(words[lane >= by ? lane - by : lane]);
}

template <class T> inline T __shfl_down_sync(uint32_t mask, T value, uint32_t by)
{
	const uint64_t *words = sl_emulated_exchange(mask, sl_to_word(value));
	uint32_t lane = sl_emulated_lane();

	return sl_of_word<T>(words[lane + by < SL_WARP ? lane + by : lane]);
}

template <class T> inline T __shfl_xor_sync(uint32_t mask, T value, uint32_t with)
{
	return sl_of_word<T>(
		sl_emulated_exchange(mask, sl_to_word(value))[sl_emulated_lane() ^ with]);
}

inline uint32_t __ballot_sync(uint32_t mask, int yes)
{
	const uint64_t *words = sl_emulated_exchange(mask, yes != 0);
	uint32_t votes = 0;

	for (uint32_t lane = 0; lane < SL_WARP; lane++)
		if ((mask >> lane & 1) && words[lane])
			votes |= 1u << lane;
	return votes;
}

inline int __any_sync(uint32_t mask, int yes)
{
	return __ballot_sync(mask, yes) != 0;
}

inline int __all_sync(uint32_t mask, int yes)
{
	return __ballot_sync(mask, yes) == mask;
}

template <class T> inline uint32_t __match_any_sync(uint32_t mask, T value)
{
	uint64_t mine = sl_to_word(value);
	const uint64_t *words = sl_emulated_exchange(mask, mine);
	uint32_t same = 0;

	for (uint32_t lane = 0; lane < SL_WARP; lane++)
		if ((mask >> lane & 1) && words[lane] == mine)
			same |= 1u << lane;
	return same;
}

/* --- integers --------------------------------------------------------------------------------- */

inline int __popc(uint32_t x)
{
	return __builtin_popcount(x);
}

inline int __ffs(uint32_t x)
{
	return __builtin_ffs((int)x);
}

inline int __clz(uint32_t x)
{
	return x ? __builtin_clz(x) : 32;
}

/* --- atomics: relaxed, as CUDA's are ---------------------------------------------------------- */

template <class T> inline T atomicAdd(T *at, std::type_identity_t<T> value)
{
	return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

template <class T> inline T atomicOr(T *at, std::type_identity_t<T> value)
{
	return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}

template <class T> inline T atomicAnd(T *at, std::type_identity_t<T> value)
{
	return __atomic_fetch_and(at, value, __ATOMIC_RELAXED);
}

template <class T> inline T atomicExch(T *at, std::type_identity_t<T> value)
{
	return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}

template <class T> inline T atomicMax(T *at, std::type_identity_t<T> value)
{
	T was = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (was < value && !__atomic_compare_exchange_n(
				      at, &was, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return was;
}

template <class T> inline T sl_load_relaxed(const T *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

template <class T> inline void sl_store_relaxed(T *at, std::type_identity_t<T> value)
{
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

template <class T> inline T sl_load_acquire(const T *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

template <class T> inline void sl_store_release(T *at, std::type_identity_t<T> value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

inline void sl_backoff(uint32_t nanoseconds)
{
	(void)nanoseconds;
	sl_emulated_yield();
}

/* --- launches --------------------------------------------------------------------------------- */

template <class... P, class... A>
static inline enum sl_status sl_launch(const char *name, void (*kernel)(P...), uint32_t blocks,
	uint32_t threads, size_t shared_bytes, sl_stream stream, A... arguments)
{
	auto body = [=] { kernel(arguments...); };
	using closure = decltype(body);
	struct sl_emulated_launch l = {name, blocks, threads, shared_bytes,
		[](const void *of) { (*static_cast<const closure *>(of))(); }};

	static_assert(std::is_trivially_copyable_v<closure>, "arguments travel as bytes");
	static_assert(sizeof(body) <= SL_CLOSURE_BYTES, "the arguments are too large");
	SL_TRY(sl_launch_allowed(name));
	return sl_launch_taken(sl_emulated_queue(&l, &body, sizeof(body), stream), name);
}

#endif
