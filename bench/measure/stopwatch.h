/*
 * stopwatch.h - times a call on the device, with cold caches and without the host's share.
 *
 * Callers first check the answer of the call: no wrong answer is timed.
 */
#ifndef SL_BENCH_MEASURE_STOPWATCH_H
#define SL_BENCH_MEASURE_STOPWATCH_H

#include "primitives/device/device.h"

/* All values have the unit of the samples. */
struct sl_spread {
	uint32_t n;                               /* samples; 0: none was taken */
	double median, least, most, lower, upper; /* lower, upper: quartiles */
};

/* The spread of n samples; sorts them. */
struct sl_spread sl_spread_of(double *value, uint32_t n);

/* A call to time, and the call that restores its input before each sample. Both only queue work. */
struct sl_timed_call {
	void *ctx;                         /* argument of both */
	enum sl_status (*load)(void *ctx); /* NULL: nothing to restore */
	enum sl_status (*run)(void *ctx);
};

struct sl_call_times {
	struct sl_spread ms; /* on the device */
	double host_ms;      /* median time that the host needs to queue the call */
	bool gated;          /* the device started after the whole call was queued */
};

struct sl_stopwatch {
	void *flush; /* device memory, larger than any cache */
	size_t flush_bytes;
	uint32_t *gate; /* pinned words, see sl_queue_gate() */
	sl_event from, to;
	uint32_t samples; /* lower limit, unless the budget ends first */
	double budget_ms; /* for all samples and warm-ups of a call */
};

/* For the device in use; samples 0: the default. To be closed even after a failure. */
enum sl_status sl_stopwatch_open(uint32_t samples, struct sl_stopwatch *w);
void sl_stopwatch_close(struct sl_stopwatch *w);

/* Times a call that has run at least once, so that its kernels are loaded. */
enum sl_status sl_stopwatch_time(const struct sl_stopwatch *w, const struct sl_timed_call *call,
	struct sl_call_times *times);

/* Empties the caches of a CUDA device and waits for it. */
enum sl_status sl_stopwatch_flush(const struct sl_stopwatch *w);

#endif
