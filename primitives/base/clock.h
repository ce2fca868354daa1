/*
 * clock.h - clocks for durations (of stages, for progress, for timeouts), processor time, and the
 * date.
 */
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

/* Seconds since 1970, as times of files are. It changes with the time of day of the system. */
static inline double sl_seconds_since_1970(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nanoseconds of processor time of the calling thread. */
static inline uint64_t sl_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
