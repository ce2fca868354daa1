/*
 * bulk.cuh - what only devices from Hopper on have (compute capability 9.0): bulk loads into shared
 * memory, which one thread asks for and the device makes by itself, and the gates that they open.
 *
 *	struct sl_gate          in shared memory: where threads of a block wait for others, and for
 *	                        bytes, round after round
 *	sl_gate_make(g, n)      one thread, before a __syncthreads(): a round of g is over when n
 *	                        have arrived and all bytes that they announced have come
 *	sl_gate_arrive(g)       who arrives goes on at once; what it has done until now is seen by
 *	                        those that wait
 *	sl_gate_announce(g, bytes)      the same, and bytes are to come
 *	sl_gate_wait(g, round)  until that round is over, 0 being the first. It must be the present
 *	                        one or the one before: a device keeps no more than its parity
 *	sl_bulk_load(to, from, bytes, g)        from global to shared memory, all three multiples of
 *	                        16; the bytes come to g
 *	sl_bulk_order()         what this thread has written to shared memory comes before the bulk
 *	                        loads that follow it to the same place
 *
 * These are PTX's mbarriers and cp.async.bulk (PTX ISA, 9.7.13.15 and 9.7.9.25). Code for older
 * devices traps: the host asks sl_compiled_for() before it launches what uses them.
 */
#ifndef SL_PRIMITIVES_KERNEL_BULK_CUH
#define SL_PRIMITIVES_KERNEL_BULK_CUH

#include "kernel.cuh"

/* The first compute capability that has them. */
static constexpr uint32_t SL_BULK_CAPABILITY = 90;

#ifdef SL_EMULATED

inline void sl_gate_make(struct sl_gate *g, uint32_t arrivals)
{
	sl_emulated_gate_make(g, arrivals);
}

inline void sl_gate_arrive(struct sl_gate *g, SL_AT)
{
	sl_emulated_gate_arrive(g, 0, at);
}

inline void sl_gate_announce(struct sl_gate *g, uint32_t bytes, SL_AT)
{
	sl_emulated_gate_arrive(g, bytes, at);
}

inline void sl_gate_wait(struct sl_gate *g, uint32_t round, SL_AT)
{
	sl_emulated_gate_wait(g, round, at);
}

inline void sl_bulk_load(void *to, const void *from, uint32_t bytes, struct sl_gate *g, SL_AT)
{
	sl_emulated_bulk_load(to, from, bytes, g, at);
}

/* Its loads are made in the order of the program. */
inline void sl_bulk_order(void)
{
}

#else

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SL_BULK_ASM(...) __trap()
#else
#define SL_BULK_ASM(...) asm volatile(__VA_ARGS__ : "memory")
#endif

struct sl_gate {
	uint64_t state;
};

static __device__ __forceinline__ uint32_t sl_shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* With the fence, bulk loads find it made too. */
static __device__ __forceinline__ void sl_gate_make(struct sl_gate *g, uint32_t arrivals)
{
	SL_BULK_ASM("mbarrier.init.shared::cta.b64 [%0], %1;\n"
		    "fence.mbarrier_init.release.cluster;"
		    :
		    : "r"(sl_shared_address(g)), "r"(arrivals));
}

static __device__ __forceinline__ void sl_gate_arrive(struct sl_gate *g)
{
	SL_BULK_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(sl_shared_address(g)));
}

static __device__ __forceinline__ void sl_gate_announce(struct sl_gate *g, uint32_t bytes)
{
	SL_BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		    :
		    : "r"(sl_shared_address(g)), "r"(bytes));
}

static __device__ __forceinline__ void sl_gate_wait(struct sl_gate *g, uint32_t round)
{
	SL_BULK_ASM("{\n"
		    ".reg .pred over;\n"
		    "again:\n"
		    "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
		    "@!over bra again;\n"
		    "}"
		    :
		    : "r"(sl_shared_address(g)), "r"(round % 2));
}

static __device__ __forceinline__ void sl_bulk_load(
	void *to, const void *from, uint32_t bytes, struct sl_gate *g)
{
	SL_BULK_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		    "[%0], [%1], %2, [%3];"
		    :
		    : "r"(sl_shared_address(to)), "l"(from), "r"(bytes), "r"(sl_shared_address(g)));
}

static __device__ __forceinline__ void sl_bulk_order(void)
{
	SL_BULK_ASM("fence.proxy.async.shared::cta;" : :);
}

#endif
#endif
