/*
 * bulk.cuh - bulk loads into shared memory and gates, which exist from Hopper on (compute capability
 * 9.0). One thread starts a bulk load and the device carries it out asynchronously; threads wait for
 * its bytes at a gate.
 *
 *	struct sl_gate          in shared memory: threads of a block wait at it for arrivals of other
 *	                        threads and for bytes; it completes one round after another
 *	sl_gate_make(g, n)      one thread, before a __syncthreads(): a round of g completes when n
 *	                        arrivals were counted and all announced bytes have been loaded
 *	sl_gate_arrive(g)       counts an arrival and continues; what the thread wrote before is
 *	                        visible to the threads that wait
 *	sl_gate_announce(g, bytes)      an arrival that also announces bytes to be loaded
 *	sl_gate_wait(g, round)  waits until that round is complete; the first is 0. It must be the
 *	                        current or the previous one: the device stores only its parity
 *	sl_bulk_load(to, from, bytes, g)        loads from global to shared memory and counts the
 *	                        bytes in g; all three are multiples of 16
 *	sl_bulk_order()         orders this thread's writes to shared memory before its later bulk
 *	                        loads to the same place
 *
 * They are the mbarrier and cp.async.bulk of PTX (PTX ISA, 9.7.13.15 and 9.7.9.25). Code for older
 * devices traps: the host calls sl_compiled_for() before it launches a kernel that uses them.
 */
#ifndef SL_PRIMITIVES_KERNEL_BULK_CUH
#define SL_PRIMITIVES_KERNEL_BULK_CUH

#include "kernel.cuh"

/* The first compute capability with bulk loads and gates. */
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

/* The emulated device loads in program order. */
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

/* The fence makes the initialisation visible to bulk loads. */
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
