/* ranks_watch.c - see ranks_watch.h. */
#include "pipeline/ranks/ranks_watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "primitives/base/clock.h"
#include "primitives/base/jobs.h"

enum { INTERVAL_NS = 1000000 };

uint64_t sl_rank_pause_ns(uint64_t now_ns, uint64_t *last_ns)
{
	uint64_t since = now_ns - *last_ns;

	*last_ns = now_ns;
	return since > 2 * SL_RANK_ALIVE_NS ? since : 0;
}

/* --- signs of life ---------------------------------------------------------------------------- */

enum sl_status sl_ranks_watch_begin(struct sl_ranks *ranks, struct sl_rank_watch *w)
{
	*w = (struct sl_rank_watch){.watched_ns = sl_now_ns()};
	w->heard_ns = (uint64_t *)calloc(ranks->n, sizeof(*w->heard_ns));
	if (!w->heard_ns) {
		ranks->lost = true; /* the others wait for signs of life of this rank */
		return sl_fail(SL_HOST_MEMORY, "no memory for the states of %u ranks", ranks->n);
	}
	for (uint32_t i = 0; i < ranks->n; i++)
		w->heard_ns[i] = w->watched_ns;
	ranks->watch = w;
	return SL_OK;
}

void sl_ranks_watch_end(struct sl_ranks *ranks, struct sl_rank_watch *w)
{
	ranks->watch = NULL;
	free(w->heard_ns);
	w->heard_ns = NULL;
}

static enum sl_status lose(struct sl_ranks *ranks, uint32_t i)
{
	ranks->lost = true;
	return sl_fail(SL_PEER_LOST,
		"rank %u of %u has ended or does not answer; committed batches are kept: use "
		"--resume, with any number of ranks",
		i, ranks->n);
}

/* The ranks that this one exchanges signs of life with: from this number on, so many. */
static uint32_t first_watched(const struct sl_ranks *ranks)
{
	return ranks->rank == 0 ? 1 : 0;
}

static uint32_t end_watched(const struct sl_ranks *ranks)
{
	return ranks->rank == 0 ? ranks->n : 1;
}

static enum sl_status speak(struct sl_ranks *ranks, uint64_t now)
{
	static const struct sl_rank_message m = {.kind = SL_RANK_SIGN_OF_LIFE};

	if (now < ranks->watch->spoke_ns + SL_RANK_ALIVE_NS)
		return SL_OK;
	ranks->watch->spoke_ns = now;
	for (uint32_t i = first_watched(ranks); i < end_watched(ranks); i++) {
		enum sl_status s = sl_ranks_send(ranks, i, &m);

		ranks->lost |= s != SL_OK;
		SL_TRY(s);
	}
	return SL_OK;
}

enum sl_status sl_ranks_watch(struct sl_ranks *ranks)
{
	static struct sl_rank_message m; /* large, and only the main thread is here */
	struct sl_rank_watch *w = ranks->watch;
	uint64_t now = sl_now_ns(), paused;
	uint32_t from;

	if (!w)
		return SL_OK;
	paused = sl_rank_pause_ns(now, &w->watched_ns);
	while (sl_ranks_receive(ranks, &from, &m))
		w->heard_ns[from] = now;
	for (uint32_t i = first_watched(ranks); i < end_watched(ranks); i++) {
		if (w->heard_ns[i] < now)
			w->heard_ns[i] += paused;
		if (now > w->heard_ns[i] + SL_RANK_LOST_NS)
			return lose(ranks, i);
	}
	return speak(ranks, now);
}

/* --- work ------------------------------------------------------------------------------------- */

struct watched_work {
	enum sl_status (*run)(void *);
	void *context;
	atomic_bool done;
};

static enum sl_status run(void *context)
{
	struct watched_work *w = (struct watched_work *)context;
	enum sl_status s = w->run(w->context);

	atomic_store(&w->done, true);
	return s;
}

enum sl_status sl_ranks_work(
	struct sl_ranks *ranks, enum sl_status (*work)(void *), void *context, atomic_bool *cancel)
{
	const struct timespec interval = {.tv_nsec = INTERVAL_NS};
	struct watched_work w = {.run = work, .context = context};
	struct sl_job job = {.run = run, .context = &w};
	enum sl_status s, lost = SL_OK;
	char why[SL_MESSAGE_BYTES];
	struct sl_job_pool pool;

	sl_job_pool_open(&pool, 1);
	sl_job_submit(&pool, &job, true);
	while (!atomic_load(&w.done)) {
		if (lost == SL_OK) {
			lost = sl_ranks_watch(ranks);
			memcpy(why, sl_last_error(), sizeof(why));
			atomic_store(cancel, lost != SL_OK);
		} else {
			/* the work can take some time to end, and the others must not lose this rank */
			(void)speak(ranks, sl_now_ns());
		}
		nanosleep(&interval, NULL);
	}
	s = sl_job_wait(&pool, &job);
	sl_job_pool_close(&pool);
	if (lost == SL_OK)
		return s;
	sl_set_last_error(why);
	return lost;
}
