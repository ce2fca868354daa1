/*
 * thrust_arena.cuh - calls Thrust under the rules of this library: on a stream, without waiting,
 * with temporary memory from an arena, and with a status instead of exceptions.
 *
 * 	return sl_thrust("scan/thrust", x->stream, &arena, [&](const auto &on) {
 * 		thrust::exclusive_scan(on, in, in + n, out);
 * 	});
 *
 * The algorithm must not return a value from the device: copy_if, reduce and count wait for it,
 * whatever the policy.
 */
#ifndef SL_PRIMITIVES_KERNEL_THRUST_ARENA_CUH
#define SL_PRIMITIVES_KERNEL_THRUST_ARENA_CUH

#include <new>

#include <thrust/execution_policy.h>
#include <thrust/system_error.h>

#include "kernel.cuh"
#include "primitives/base/arena.h"

/* The allocator that Thrust requires. It frees nothing: the arena is free again after the call. */
struct sl_thrust_memory {
	using value_type = char;
	struct sl_arena *arena;

	char *allocate(size_t bytes)
	{
		void *p = sl_cut(arena, bytes);

		if (!p)
			throw std::bad_alloc();
		return (char *)p;
	}

	void deallocate(char *, size_t)
	{
	}
};

/*
 * Calls call(policy) and returns a status; no exception leaves. Too little temporary memory is an
 * internal error, because sl_scratch() returned the size that the caller planned. CUB takes the
 * last error of the CUDA runtime for one of its launches, so the last error is cleared before
 * the call.
 */
template <class C>
static inline enum sl_status sl_thrust(
	const char *name, sl_stream stream, struct sl_arena *arena, const C &call)
{
	struct sl_thrust_memory memory = {arena};

	SL_TRY(sl_launch_begin(name));
	(void)cudaGetLastError();
	try {
		call(thrust::cuda::par_nosync(memory).on(stream));
	} catch (const std::bad_alloc &) {
		return sl_fail(SL_INTERNAL,
			"%s: Thrust needs %zu bytes of temporary memory, %zu were planned; choose "
			"another backend",
			name, arena->used, arena->size);
	} catch (const thrust::system_error &e) {
		return sl_launch_end(e.code().value(), name);
	} catch (...) {
		return sl_fail(SL_INTERNAL, "%s: Thrust failed; choose another backend", name);
	}
	return sl_launch_end((int)cudaGetLastError(), name);
}

#endif
