/*
 * cuda_names.h - the names of CUDA C that the kernels of this library use, defined in C++ for the
 * host compiler: kernel.cuh includes it where the target is the emulated device.
 *
 * Keywords, built-in variables, vector types, barriers, warp calls, intrinsics for integers and
 * floating-point numbers, atomics and launches, in one dimension. Those that can wait or let other
 * threads run call a function of thread.h or emulator.h with the place of the call in the source.
 */
#ifndef SL_PRIMITIVES_EMULATOR_CUDA_NAMES_H
#define SL_PRIMITIVES_EMULATOR_CUDA_NAMES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "primitives/device/device_driver.h"
#include "primitives/emulator/emulator.h"
#include "thread.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

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

/*
 * The functions that gcc calls before each access of this file, for -fsanitize=thread (access.h).
 */
#ifdef SL_COUNTED
#define SL_CALLS(name) asm(".set __tsan_" name ", sl_counted_" name)
#define SL_CALLS_FOR(bytes)               \
	SL_CALLS("read" bytes);           \
	SL_CALLS("write" bytes);          \
	SL_CALLS("unaligned_read" bytes); \
	SL_CALLS("unaligned_write" bytes)
SL_CALLS_FOR("1");
SL_CALLS_FOR("2");
SL_CALLS_FOR("4");
SL_CALLS_FOR("8");
SL_CALLS_FOR("16");
SL_CALLS("read_range");
SL_CALLS("write_range");
SL_CALLS("init");
#endif

/* The place of a call in the source, as the default argument of its last parameter. */
#define SL_AT struct sl_emulated_site at = {__builtin_FILE(), __builtin_LINE()}

/* --- shared memory ---------------------------------------------------------------------------- */

#define SL_SHARED(type, name)                                      \
	static char name##_key;                                    \
	type &name = *reinterpret_cast<type *>(sl_emulated_shared( \
		&name##_key, sizeof(type), {__builtin_FILE(), __builtin_LINE()}))
#define SL_SHARED_DYNAMIC(type, name) type *name = reinterpret_cast<type *>(sl_emulated_dynamic())

/* --- barriers and warps ----------------------------------------------------------------------- */

inline void __syncthreads(SL_AT)
{
	sl_emulated_barrier(at);
}

inline void __syncwarp(uint32_t mask = 0xffffffffu, SL_AT)
{
	sl_emulated_warp(SL_CALL_SYNC, mask, 0, 0, at);
}

template <class T> inline uint64_t sl_to_word(T value)
{
	uint64_t word = 0;

	static_assert(sizeof(T) <= sizeof(word), "a warp exchanges words of 64 bits at most");
	memcpy(&word, &value, sizeof(value));
	return word;
}

template <class T>
inline T sl_shuffle(uint32_t mask, T value, uint32_t from, struct sl_emulated_site at)
{
	uint64_t word = sl_emulated_warp(SL_CALL_SHUFFLE, mask, sl_to_word(value), from, at);

	memcpy(&value, &word, sizeof(value));
	return value;
}

template <class T> inline T __shfl_sync(uint32_t mask, T value, int from, SL_AT)
{
	return sl_shuffle(mask, value, (uint32_t)from % SL_WARP, at);
}

template <class T> inline T __shfl_up_sync(uint32_t mask, T value, uint32_t by, SL_AT)
{
	uint32_t lane = sl_emulated_lane();

	return sl_shuffle(mask, value, lane >= by ? lane - by : lane, at);
}

template <class T> inline T __shfl_down_sync(uint32_t mask, T value, uint32_t by, SL_AT)
{
	uint32_t lane = sl_emulated_lane();

	return sl_shuffle(mask, value, lane + by < SL_WARP ? lane + by : lane, at);
}

template <class T> inline T __shfl_xor_sync(uint32_t mask, T value, uint32_t with, SL_AT)
{
	return sl_shuffle(mask, value, sl_emulated_lane() ^ with, at);
}

inline uint32_t __ballot_sync(uint32_t mask, int predicate, SL_AT)
{
	return (uint32_t)sl_emulated_warp(SL_CALL_BALLOT, mask, predicate != 0, 0, at);
}

inline int __any_sync(uint32_t mask, int predicate, SL_AT)
{
	return __ballot_sync(mask, predicate, at) != 0;
}

template <class T> inline uint32_t __match_any_sync(uint32_t mask, T value, SL_AT)
{
	return (uint32_t)sl_emulated_warp(SL_CALL_MATCH, mask, sl_to_word(value), 0, at);
}

template <int BITS> inline uint32_t sl_match_lanes(uint32_t value, SL_AT)
{
	return __match_any_sync(0xffffffff, value, at);
}

/* --- integers --------------------------------------------------------------------------------- */

inline int __popc(uint32_t x)
{
	return __builtin_popcount(x);
}

inline int __ffs(int x)
{
	return __builtin_ffs(x);
}

inline int __clz(uint32_t x)
{
	return x ? __builtin_clz(x) : 32;
}

/* --- floating-point numbers ------------------------------------------------------------------- */

/* Drops the fraction. A NaN gives 0; a number out of range gives the nearest integer of 32 bits. */
inline uint32_t __float2uint_rz(float x)
{
	return !(x > 0) ? 0 : x < 0x1p32f ? (uint32_t)x : UINT32_MAX;
}

/* --- atomics: relaxed, as those of CUDA ------------------------------------------------------- */

/* sl_emulated_atomic() counts these accesses, not the calls of the compiler. */
#ifdef SL_COUNTED
#define SL_UNCOUNTED __attribute__((no_sanitize_thread))
#else
#define SL_UNCOUNTED
#endif

template <class T> SL_UNCOUNTED inline T atomicAdd(T *to, std::type_identity_t<T> value, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_UPDATE, to, sizeof(T), at);
	return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

template <class T> SL_UNCOUNTED inline T atomicOr(T *to, std::type_identity_t<T> value, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_UPDATE, to, sizeof(T), at);
	return __atomic_fetch_or(to, value, __ATOMIC_RELAXED);
}

SL_UNCOUNTED inline void sl_add_global(uint64_t *to, uint64_t value, SL_AT)
{
	(void)atomicAdd(to, value, at);
}

template <class T>
SL_UNCOUNTED inline T atomicCAS(
	T *to, std::type_identity_t<T> expected, std::type_identity_t<T> value, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_UPDATE, to, sizeof(T), at);
	(void)__atomic_compare_exchange_n(
		to, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return expected;
}

template <class T> SL_UNCOUNTED inline T atomicMax(T *to, std::type_identity_t<T> value, SL_AT)
{
	T previous = __atomic_load_n(to, __ATOMIC_RELAXED);

	sl_emulated_atomic(SL_ACCESS_UPDATE, to, sizeof(T), at);
	while (previous < value && !__atomic_compare_exchange_n(to, &previous, value, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return previous;
}

template <class T> SL_UNCOUNTED inline T atomicMin(T *to, std::type_identity_t<T> value, SL_AT)
{
	T previous = __atomic_load_n(to, __ATOMIC_RELAXED);

	sl_emulated_atomic(SL_ACCESS_UPDATE, to, sizeof(T), at);
	while (previous > value && !__atomic_compare_exchange_n(to, &previous, value, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return previous;
}

inline void sl_store_vector(void *to, uint4 v)
{
	*(uint4 *)to = v;
}

template <class T> SL_UNCOUNTED inline T sl_load_relaxed(const T *from, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_LOAD, from, sizeof(T), at);
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

template <class T>
SL_UNCOUNTED inline void sl_store_relaxed(T *to, std::type_identity_t<T> value, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_STORE, to, sizeof(T), at);
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

template <class T> SL_UNCOUNTED inline T sl_load_acquire(const T *from, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_LOAD, from, sizeof(T), at);
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

template <class T>
SL_UNCOUNTED inline void sl_store_release(T *to, std::type_identity_t<T> value, SL_AT)
{
	sl_emulated_atomic(SL_ACCESS_STORE, to, sizeof(T), at);
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

inline void sl_backoff(uint32_t nanoseconds, SL_AT)
{
	(void)nanoseconds;
	sl_emulated_backoff(at);
}

/* --- launches --------------------------------------------------------------------------------- */

template <class... P> static inline uint32_t sl_compiled_for(void (*)(P...))
{
	return sl_emulated_capability();
}

template <class... P, class... A>
static inline enum sl_status sl_launch(const char *name, void (*kernel)(P...), uint32_t blocks,
	uint32_t threads, size_t shared_bytes, sl_stream stream, A... arguments)
{
	auto body = [=] { kernel(arguments...); };
	using closure = decltype(body);
	struct sl_emulated_launch l = {name, blocks, threads, shared_bytes,
		[](const void *ctx) { (*static_cast<const closure *>(ctx))(); }};

	static_assert(std::is_trivially_copyable_v<closure>, "the arguments are copied as bytes");
	static_assert(sizeof(body) <= SL_CLOSURE_BYTES, "the arguments are too large");
	SL_TRY(sl_launch_begin(name));
	return sl_launch_end(sl_emulated_queue(&l, &body, sizeof(body), stream), name);
}

/* Launches of a stream run one after the other here, so an early one is an ordinary one. */
template <class... P, class... A>
static inline enum sl_status sl_launch_as(const char *name, void (*kernel)(P...), bool early,
	uint32_t blocks, uint32_t threads, size_t shared_bytes, sl_stream stream,
	const A &...arguments)
{
	(void)early;
	return sl_launch(name, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

template <class... A> static inline enum sl_status sl_launch_early(const A &...arguments)
{
	return sl_launch(arguments...);
}

inline void sl_wait_for_previous(void)
{
}

inline void sl_trigger_next(void)
{
}

#endif
