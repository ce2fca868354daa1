/*
 * time.c - the time of a call on the device: cold caches, a stream that is held until all of the
 * call is queued, events round the call alone.
 *
 * Before each sample, in the stream: what the call needs is loaded; more memory than the caches
 * hold is read, so that nothing of the data is in them and nothing is left to be written back; a
 * kernel waits for a word of the host. Then the call is queued between two events, and the word is
 * set. So what is timed is the device's work, not the host's queueing of it, which is timed beside.
 * (After NVBench, whose blocking kernel this is.)
 *
 * A call of more launches than the driver lets wait (about a thousand) would wait for the kernel as
 * the kernel does for it. So the kernel gives up in the end; such a call is timed without, and the
 * table says so.
 */
#include <stdatomic.h>
#include <string.h>

#include "bench/bench.h"
#include "pipeline/compare/case_run.h"
#include "primitives/base/clock.h"

enum {
	WARM_UPS = 3,
	LEAST = 3,  /* samples of slow calls */
	USUAL = 15, /* of others */
	MOST = 101  /* of those that are not stable before */
};

/* The quartiles of a stable set are no further apart, in parts of the median. */
static const double stable = 0.01;

/* What a call may take that is timed with all warm-ups. */
static const double slow_ms = 100;

static const double usual_budget_ms = 1000;

static bool is_cuda(void)
{
	return !sl_device_is_emulated();
}

static size_t flush_bytes(void)
{
#ifdef SL_WITH_CUDA
	if (is_cuda())
		return 4 * sl_cache_bytes();
#endif
	return 1;
}

enum sl_status sl_stopwatch_open(const struct sl_asked *asked, struct sl_stopwatch *w)
{
	memset(w, 0, sizeof(*w));
	w->samples = asked->samples.n > 0 ? asked->samples.at[0] : is_cuda() ? USUAL : LEAST;
	w->samples = w->samples < 1 ? 1 : w->samples < MOST ? w->samples : MOST;
	w->budget_ms = usual_budget_ms;
	w->flush_bytes = flush_bytes();
	SL_TRY(sl_memory_get(SL_DEVICE, w->flush_bytes, &w->flush));
	SL_TRY(sl_fill(w->flush, 0, w->flush_bytes, NULL));
	SL_TRY(sl_memory_get(SL_PINNED, SL_HOLD_WORDS * sizeof(*w->hold), (void **)&w->hold));
	SL_TRY(sl_event_make(&w->from));
	return sl_event_make(&w->to);
}

void sl_stopwatch_close(struct sl_stopwatch *w)
{
	sl_event_free(w->from);
	sl_event_free(w->to);
	sl_memory_give(SL_PINNED, w->hold);
	sl_memory_give(SL_DEVICE, w->flush);
	memset(w, 0, sizeof(*w));
}

/* Cold caches, and a stream that goes on only when it is released. The emulated device has neither
 * caches nor a life of its own: it works when somebody waits. */
static enum sl_status prepare(const struct sl_stopwatch *w, bool held)
{
#ifdef SL_WITH_CUDA
	if (is_cuda())
		SL_TRY(sl_queue_flush(w->flush, w->flush_bytes, NULL));
	if (is_cuda() && held) {
		memset(w->hold, 0, SL_HOLD_WORDS * sizeof(*w->hold));
		atomic_thread_fence(memory_order_seq_cst);
		SL_TRY(sl_queue_hold(w->hold, NULL));
	}
#endif
	(void)w;
	(void)held;
	return SL_OK;
}

static void release(const struct sl_stopwatch *w)
{
	volatile uint32_t *released = &w->hold[SL_HOLD_RELEASED];

	*released = 1;
	atomic_thread_fence(memory_order_seq_cst);
}

static enum sl_status queue_call(
	const struct sl_stopwatch *w, const struct sl_timed *timed, double *host_ms)
{
	uint64_t start;
	enum sl_status s = sl_event_record(w->from, NULL);

	start = sl_now_ns();
	if (s == SL_OK)
		s = timed->run(timed->of);
	*host_ms = 1e-6 * (double)(sl_now_ns() - start);
	return s == SL_OK ? sl_event_record(w->to, NULL) : s;
}

/* Clears *held when the call could not be held. */
static enum sl_status sample(const struct sl_stopwatch *w, const struct sl_timed *timed, bool *held,
	double *ms, double *host_ms)
{
	enum sl_status s;
	float took;

	if (timed->load)
		SL_TRY(timed->load(timed->of));
	SL_TRY(prepare(w, *held));
	s = queue_call(w, timed, host_ms);
	release(w);
	SL_TRY(s);
	SL_TRY(sl_event_wait(w->to));
	if (*held && is_cuda() && w->hold[SL_HOLD_GAVE_UP])
		*held = false;
	SL_TRY(sl_event_ms(w->from, w->to, &took));
	*ms = (double)took;
	return SL_OK;
}

/* Up to WARM_UPS times, but once will do for slow calls; and once more when it cannot be held. */
static enum sl_status warm_up(
	const struct sl_stopwatch *w, const struct sl_timed *timed, struct sl_times *times)
{
	double ms = 0, host_ms;

	for (int i = 0; i < WARM_UPS && (i == 0 || (is_cuda() && ms < slow_ms)); i++)
		SL_TRY(sample(w, timed, &times->held, &ms, &host_ms));
	return SL_OK;
}

static bool is_enough(const struct sl_stopwatch *w, const double *ms, uint32_t n, uint64_t begun_ns)
{
	double sorted[MOST], passed = 1e-6 * (double)(sl_now_ns() - begun_ns);
	struct sl_spread s;

	if (n < LEAST && n < w->samples)
		return false;
	if (n == MOST || passed > w->budget_ms)
		return true;
	if (n < w->samples)
		return false;
	if (!is_cuda())
		return true;
	memcpy(sorted, ms, n * sizeof(*ms));
	s = sl_spread_of(sorted, n);
	return s.upper - s.lower <= stable * s.median;
}

enum sl_status sl_time(
	const struct sl_stopwatch *w, const struct sl_timed *timed, struct sl_times *times)
{
	double ms[MOST], host_ms[MOST];
	uint64_t begun_ns = sl_now_ns();
	uint32_t n = 0;

	*times = (struct sl_times){.held = true};
	SL_TRY(warm_up(w, timed, times));
	do {
		SL_TRY(sample(w, timed, &times->held, &ms[n], &host_ms[n]));
		n++;
	} while (!is_enough(w, ms, n, begun_ns));
	times->ms = sl_spread_of(ms, n);
	times->host_ms = sl_spread_of(host_ms, n).median;
	return SL_OK;
}
