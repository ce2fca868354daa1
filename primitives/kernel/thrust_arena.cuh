/*
 * thrust_arena.cuh - Thrust on our terms: on a stream, without waiting, with temporary memory from
 * an arena and statuses instead of exceptions.
 *
 *	return sl_thrust("scan/thrust", x->stream, &arena, [&](const auto &on) {
 *		thrust::exclusive_scan(on, in, in + n, out);
 *	});
 *
 * What is called in there must not need an answer from the device: copy_if, reduce and count wait
 * for one whatever the policy, as they return it.
 */
#ifndef SL_PRIMITIVES_KERNEL_THRUST_ARENA_CUH
#define SL_PRIMITIVES_KERNEL_THRUST_ARENA_CUH

#include <new>

#include <thrust/execution_policy.h>
#include <thrust/system_error.h>

#include "primitives/base/arena.h"
#include "kernel.cuh"

/* What Thrust calls an allocator. Nothing is given back: the arena ends with the call. */
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
 * Calls call(policy) and gives a status; no exception leaves. Memory that runs out is our fault,
 * for sl_scratch() told the caller how much there must be.
 */
template <class C>
static inline enum sl_status sl_thrust(
	const char *name, sl_stream stream, struct sl_arena *arena, const C &call)
{
	struct sl_thrust_memory memory = {arena};

	SL_TRY(sl_launch_begin(name));
	try {
		call(thrust::cuda::par_nosync(memory).on(stream));
	} catch (const std::bad_alloc &) {
		return sl_fail(SL_INTERNAL,
			"%s: Thrust wants more temporary memory than it was planned to, %zu bytes "
			"in %zu; choose another backend",
			name, arena->used, arena->size);
	} catch (const thrust::system_error &e) {
		return sl_launch_end(e.code().value(), name);
	} catch (...) {
		return sl_fail(SL_INTERNAL, "%s: Thrust failed; choose another backend", name);
	}
	return sl_launch_end((int)cudaGetLastError(), name);
}

#endif
