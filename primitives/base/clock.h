/* clock.h - clocks for durations: of stages, for progress and for timeouts; and processor time. */
#ifndef SL_PRIMITIVES_BASE_CLOCK_H
#define SL_PRIMITIVES_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since an arbitrary moment. Monotonic: changes of the time of day do not affect it. */
static inline uint64_t sl_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds of processor time of the calling thread. */
static inline uint64_t sl_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
