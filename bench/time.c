/*
 * time.c - the time of a call on the device: cold caches, events around the call alone.
 *
 * Before each sample a fill of more memory than the cache holds is queued. It leaves nothing of the
 * data in the cache, and the device is busy with it while the host queues the call: so what is
 * timed is the device's work, not the host's queueing of it. (What is left dirty in the cache, the
 * call may have to write back: that is in the time, for all alike.)
 */
#include <string.h>

#include "bench.h"

enum { WARM_UPS = 3, SAMPLES_LEAST = 3 };

/* Calls are repeated for about so long; from SLOW_MS a call, one warm-up will do. */
static const float budget_ms = 1000, slow_ms = 100;

enum sl_status sl_stopwatch_open(size_t flush_bytes, struct sl_stopwatch *w)
{
	enum sl_status s;

	memset(w, 0, sizeof(*w));
	w->flush_bytes = flush_bytes;
	s = sl_memory_get(SL_DEVICE, flush_bytes, &w->flush);
	if (s == SL_OK)
		s = sl_event_make(&w->from);
	if (s == SL_OK)
		s = sl_event_make(&w->to);
	if (s != SL_OK)
		sl_stopwatch_close(w);
	return s;
}

void sl_stopwatch_close(struct sl_stopwatch *w)
{
	sl_event_free(w->from);
	sl_event_free(w->to);
	sl_memory_give(SL_DEVICE, w->flush);
	memset(w, 0, sizeof(*w));
}

static enum sl_status sample(const struct sl_stopwatch *w, const struct sl_timed *timed, float *ms)
{
	SL_TRY(timed->load(timed->of));
	SL_TRY(sl_fill(w->flush, 0, w->flush_bytes, NULL));
	SL_TRY(sl_event_record(w->from, NULL));
	SL_TRY(timed->run(timed->of));
	SL_TRY(sl_event_record(w->to, NULL));
	SL_TRY(sl_event_wait(w->to));
	return sl_event_ms(w->from, w->to, ms);
}

/* Keeps ms[0 .. n-1] in order with one more. */
static void insert(float *ms, uint32_t n, float more)
{
	while (n > 0 && ms[n - 1] > more) {
		ms[n] = ms[n - 1];
		n--;
	}
	ms[n] = more;
}

/* How many samples of calls that take so long. */
static uint32_t samples_of(float ms)
{
	float n = budget_ms / ms;

	return n < SAMPLES_LEAST      ? SAMPLES_LEAST
	       : n < SL_BENCH_SAMPLES ? (uint32_t)n
	                              : SL_BENCH_SAMPLES;
}

enum sl_status sl_time(
	const struct sl_stopwatch *w, const struct sl_timed *timed, struct sl_times *times)
{
	float ms[SL_BENCH_SAMPLES], once = 0;

	for (int i = 0; i < WARM_UPS && (i == 0 || once < slow_ms); i++)
		SL_TRY(sample(w, timed, &once));
	times->samples = samples_of(once);
	for (uint32_t i = 0; i < times->samples; i++) {
		SL_TRY(sample(w, timed, &once));
		insert(ms, i, once);
	}
	times->least = ms[0];
	times->median = ms[times->samples / 2];
	times->most = ms[times->samples - 1];
	return SL_OK;
}
