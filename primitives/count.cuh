/*
 * count.cuh - the number of items of a job as its kernels see it: known to the host, or in device
 * memory (n_on_device of the job), where it may change until the kernel runs.
 *
 *	sl_launch(..., sl_count_of(job), ...)       on the host; most also sizes grid and scratch
 *	uint32_t n = sl_count_read(count);          in the kernel, after sl_wait_for_previous()
 */
#ifndef SL_PRIMITIVES_COUNT_CUH
#define SL_PRIMITIVES_COUNT_CUH

#include "primitives/kernel/kernel.cuh"
#include "primitives/primitives.h"

struct sl_count {
	uint32_t most;
	bool wide;      /* *at is u64, else u32 */
	const void *at; /* NULL: most is the number */
};

template <class Job> static inline struct sl_count sl_count_of(const Job *job)
{
	return {job->n, job->n_type == SL_U64, job->n_on_device};
}

static __device__ __forceinline__ uint32_t sl_count_read(const struct sl_count &count)
{
	uint64_t n;

	if (!count.at)
		return count.most;
	n = count.wide ? *(const uint64_t *)count.at : *(const uint32_t *)count.at;
	return n < count.most ? (uint32_t)n : count.most;
}

#endif
