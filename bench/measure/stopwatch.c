/*
 * stopwatch.c - times a call on the device: cold caches, a gate that blocks the stream until the
 * whole call is queued, two events around the call.
 *
 * Each sample queues in the stream: the load of the input; a kernel that reads more memory than the
 * caches hold; a kernel that waits for a word of the host; event, call, event. Then the host sets
 * the word. The events therefore measure the work of the device and not the time that the host
 * needs to queue it, which is reported separately. (After the blocking kernel of NVBench.)
 *
 * The driver queues about a thousand launches and then blocks the host. A call of more launches
 * would block while the gate kernel waits for the host, a deadlock; so the gate kernel times out.
 * Such a call is timed without a gate and its row says so.
 */
#include "bench/measure/measure.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/gate.h"
#include "primitives/base/clock.h"

enum {
	WARM_UPS = 3,
	SAMPLES_MIN = 3,    /* of slow calls, and on the emulated device */
	SAMPLES_USUAL = 15, /* of other calls */
	SAMPLES_MAX = 101   /* of calls whose times vary */
};

/* Sampling ends when the distance of the quartiles is at most this share of the median. */
static const double stable = 0.01;

/* A slower call gets one warm-up instead of WARM_UPS. */
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

enum sl_status sl_stopwatch_open(uint32_t samples, struct sl_stopwatch *w)
{
	memset(w, 0, sizeof(*w));
	w->samples = samples > 0 ? samples : is_cuda() ? SAMPLES_USUAL : SAMPLES_MIN;
	w->samples = w->samples < SAMPLES_MAX ? w->samples : SAMPLES_MAX;
	w->budget_ms = usual_budget_ms;
	w->flush_bytes = flush_bytes();
	SL_TRY(sl_memory_get(SL_DEVICE, w->flush_bytes, &w->flush));
	SL_TRY(sl_fill(w->flush, 0, w->flush_bytes, NULL));
	SL_TRY(sl_memory_get(SL_PINNED, SL_GATE_WORDS * sizeof(*w->gate), (void **)&w->gate));
	SL_TRY(sl_event_make(&w->from));
	return sl_event_make(&w->to);
}

void sl_stopwatch_close(struct sl_stopwatch *w)
{
	sl_event_free(w->from);
	sl_event_free(w->to);
	sl_memory_give(SL_PINNED, w->gate);
	sl_memory_give(SL_DEVICE, w->flush);
	memset(w, 0, sizeof(*w));
}

static enum sl_status queue_flush(const struct sl_stopwatch *w)
{
#ifdef SL_WITH_CUDA
	if (is_cuda())
		return sl_queue_flush(w->flush, w->flush_bytes, NULL);
#endif
	(void)w;
	return SL_OK;
}

enum sl_status sl_stopwatch_flush(const struct sl_stopwatch *w)
{
	SL_TRY(queue_flush(w));
	return sl_stream_wait(NULL);
}

/* Queues the flush and the gate. The emulated device needs neither: it has no caches, and it runs
 * queued work only when the host waits for it. */
static enum sl_status prepare(const struct sl_stopwatch *w, bool gated)
{
#ifdef SL_WITH_CUDA
	SL_TRY(queue_flush(w));
	if (is_cuda() && gated) {
		memset(w->gate, 0, SL_GATE_WORDS * sizeof(*w->gate));
		atomic_thread_fence(memory_order_seq_cst);
		SL_TRY(sl_queue_gate(w->gate, NULL));
	}
#endif
	(void)w;
	(void)gated;
	return SL_OK;
}

static void open_gate(const struct sl_stopwatch *w)
{
	volatile uint32_t *open = &w->gate[SL_GATE_OPEN];

	*open = 1;
	atomic_thread_fence(memory_order_seq_cst);
}

static enum sl_status queue_call(
	const struct sl_stopwatch *w, const struct sl_timed_call *call, double *host_ms)
{
	uint64_t start;
	enum sl_status s = sl_event_record(w->from, NULL);

	start = sl_now_ns();
	if (s == SL_OK)
		s = call->run(call->ctx);
	*host_ms = 1e-6 * (double)(sl_now_ns() - start);
	return s == SL_OK ? sl_event_record(w->to, NULL) : s;
}

/* Clears *gated if the gate timed out. */
static enum sl_status sample(const struct sl_stopwatch *w, const struct sl_timed_call *call,
	bool *gated, double *ms, double *host_ms)
{
	enum sl_status s;
	float took;

	if (call->load)
		SL_TRY(call->load(call->ctx));
	SL_TRY(prepare(w, *gated));
	s = queue_call(w, call, host_ms);
	open_gate(w);
	SL_TRY(s);
	SL_TRY(sl_event_wait(w->to));
	if (*gated && is_cuda() && w->gate[SL_GATE_TIMED_OUT])
		*gated = false;
	SL_TRY(sl_event_ms(w->from, w->to, &took));
	*ms = (double)took;
	return SL_OK;
}

/* At most WARM_UPS calls, and one of a slow call. */
static enum sl_status warm_up(
	const struct sl_stopwatch *w, const struct sl_timed_call *call, struct sl_call_times *times)
{
	double ms = 0, host_ms;

	for (int i = 0; i < WARM_UPS && (i == 0 || (is_cuda() && ms < slow_ms)); i++)
		SL_TRY(sample(w, call, &times->gated, &ms, &host_ms));
	return SL_OK;
}

static bool is_enough(const struct sl_stopwatch *w, const double *ms, uint32_t n, uint64_t start_ns)
{
	double sorted[SAMPLES_MAX], elapsed_ms = 1e-6 * (double)(sl_now_ns() - start_ns);
	struct sl_spread s;

	if (n < SAMPLES_MIN && n < w->samples)
		return false;
	if (n == SAMPLES_MAX || elapsed_ms > w->budget_ms)
		return true;
	if (n < w->samples)
		return false;
	if (!is_cuda())
		return true;
	memcpy(sorted, ms, n * sizeof(*ms));
	s = sl_spread_of(sorted, n);
	return s.upper - s.lower <= stable * s.median;
}

enum sl_status sl_stopwatch_time(
	const struct sl_stopwatch *w, const struct sl_timed_call *call, struct sl_call_times *times)
{
	double ms[SAMPLES_MAX], host_ms[SAMPLES_MAX];
	uint64_t start_ns = sl_now_ns();
	uint32_t n = 0;

	*times = (struct sl_call_times){.gated = true};
	SL_TRY(warm_up(w, call, times));
	do {
		SL_TRY(sample(w, call, &times->gated, &ms[n], &host_ms[n]));
		n++;
	} while (!is_enough(w, ms, n, start_ns));
	times->ms = sl_spread_of(ms, n);
	times->host_ms = sl_spread_of(host_ms, n).median;
	return SL_OK;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which a share of the sorted ones is, between two of them by proportion. */
static double quantile(const double *sorted, uint32_t n, double share)
{
	double at = share * (n - 1);
	uint32_t i = (uint32_t)at;

	return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

struct sl_spread sl_spread_of(double *value, uint32_t n)
{
	struct sl_spread s = {.n = n};

	if (n == 0)
		return s;
	qsort(value, n, sizeof(*value), by_size);
	s.least = value[0];
	s.lower = quantile(value, n, 0.25);
	s.median = quantile(value, n, 0.5);
	s.upper = quantile(value, n, 0.75);
	s.most = value[n - 1];
	return s;
}

void sl_spread_put(struct sl_json *j, const struct sl_spread *ms)
{
	sl_json_add(j,
		"ms_median %g ms_min %g ms_lower_quartile %g ms_upper_quartile %g ms_max %g samples %u",
		ms->median, ms->least, ms->lower, ms->upper, ms->most, ms->n);
}
