/*
 * bulk.cuh - bulk loads into shared memory and mbarriers, which exist from Hopper on (compute
 * capability 9.0). One thread starts a bulk load and the device carries it out asynchronously;
 * threads wait for its bytes at an mbarrier.
 *
 *	struct sl_mbarrier      in shared memory: threads of a block wait at it for arrivals of other
 *	                        threads and for bytes; it completes one phase after another
 *	sl_mbarrier_init(m, n)  one thread, before a __syncthreads(): a phase of m completes when n
 *	                        arrivals were counted and all announced bytes have been loaded
 *	sl_mbarrier_arrive(m)   counts an arrival and continues; what the thread wrote before is
 *	                        visible to the threads that wait
 *	sl_mbarrier_arrive_expect(m, bytes)     an arrival that also announces bytes to be loaded
 *	sl_mbarrier_wait(m, phase)      waits until that phase is complete; the first is 0. It must be
 *	                        the current or the previous one: the device stores only its parity
 *	sl_bulk_load(to, from, bytes, m)        loads from global to shared memory and counts the
 *	                        bytes in m; all three are multiples of 16
 *	sl_bulk_fence()         orders this thread's writes to shared memory before its later bulk
 *	                        loads to the same addresses
 *
 * They are the mbarrier and cp.async.bulk of PTX (PTX ISA, 9.7.13.15 and 9.7.9.25). Code for older
 * devices traps: the host calls sl_compiled_for() before it launches a kernel that uses them.
 */
#ifndef SL_PRIMITIVES_KERNEL_BULK_CUH
#define SL_PRIMITIVES_KERNEL_BULK_CUH

#include "kernel.cuh"

/* The first compute capability with bulk loads and mbarriers. */
static constexpr uint32_t SL_BULK_CAPABILITY = 90;

#ifdef SL_EMULATED

inline void sl_mbarrier_init(struct sl_mbarrier *m, uint32_t arrivals)
{
	sl_emulated_mbarrier_init(m, arrivals);
}

inline void sl_mbarrier_arrive(struct sl_mbarrier *m, SL_AT)
{
	sl_emulated_mbarrier_arrive(m, 0, at);
}

inline void sl_mbarrier_arrive_expect(struct sl_mbarrier *m, uint32_t bytes, SL_AT)
{
	sl_emulated_mbarrier_arrive(m, bytes, at);
}

inline void sl_mbarrier_wait(struct sl_mbarrier *m, uint32_t phase, SL_AT)
{
	sl_emulated_mbarrier_wait(m, phase, at);
}

inline void sl_bulk_load(void *to, const void *from, uint32_t bytes, struct sl_mbarrier *m, SL_AT)
{
	sl_emulated_bulk_load(to, from, bytes, m, at);
}

/* The emulated device loads in program order. */
inline void sl_bulk_fence(void)
{
}

#else

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SL_BULK_ASM(...) __trap()
#else
#define SL_BULK_ASM(...) asm volatile(__VA_ARGS__ : "memory")
#endif

struct sl_mbarrier {
	uint64_t state;
};

static __device__ __forceinline__ uint32_t sl_shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* The fence makes the initialisation visible to bulk loads. */
static __device__ __forceinline__ void sl_mbarrier_init(struct sl_mbarrier *m, uint32_t arrivals)
{
	SL_BULK_ASM("mbarrier.init.shared::cta.b64 [%0], %1;\n"
		    "fence.mbarrier_init.release.cluster;"
		    :
		    : "r"(sl_shared_address(m)), "r"(arrivals));
}

static __device__ __forceinline__ void sl_mbarrier_arrive(struct sl_mbarrier *m)
{
	SL_BULK_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(sl_shared_address(m)));
}

static __device__ __forceinline__ void sl_mbarrier_arrive_expect(
	struct sl_mbarrier *m, uint32_t bytes)
{
	SL_BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
		    :
		    : "r"(sl_shared_address(m)), "r"(bytes));
}

static __device__ __forceinline__ void sl_mbarrier_wait(struct sl_mbarrier *m, uint32_t phase)
{
	SL_BULK_ASM("{\n"
		    ".reg .pred over;\n"
		    "again:\n"
		    "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
		    "@!over bra again;\n"
		    "}"
		    :
		    : "r"(sl_shared_address(m)), "r"(phase % 2));
}

static __device__ __forceinline__ void sl_bulk_load(
	void *to, const void *from, uint32_t bytes, struct sl_mbarrier *m)
{
	SL_BULK_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		    "[%0], [%1], %2, [%3];"
		    :
		    : "r"(sl_shared_address(to)), "l"(from), "r"(bytes), "r"(sl_shared_address(m)));
}

static __device__ __forceinline__ void sl_bulk_fence(void)
{
	SL_BULK_ASM("fence.proxy.async.shared::cta;" : :);
}

#endif
#endif
