/* batch_client.c - see run.h. */
#include "pipeline/run/run.h"
#include "pipeline/run/workers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "primitives/base/clock.h"

struct sl_batch_client {
	struct sl_ranks *ranks;
	bool other_lost; /* rank 0 has lost another rank, and ends all of them */
	uint64_t
		*given; /* numbers of batches that are not started, ascending; host slots at most */
	uint32_t n_given, wanted; /* wanted: those that were asked for and have not come */
	uint64_t heard_ns, spoke_ns, watched_ns; /* messages from rank 0, to it, and looks at it */
	int told_stop; /* the value of sl_control.stop that rank 0 knows */
	bool told_failure, no_more, cancelled;
};

enum sl_status sl_batch_client_open(struct sl_run_workers *run, struct sl_ranks *ranks)
{
	struct sl_batch_client *c = (struct sl_batch_client *)calloc(1, sizeof(*c));

	run->client = c;
	if (c) {
		c->ranks = ranks;
		c->given = (uint64_t *)calloc(run->plan->n_host_slots, sizeof(*c->given));
		c->heard_ns = c->spoke_ns = c->watched_ns = sl_now_ns();
	}
	if (!c || !c->given)
		return sl_fail(SL_HOST_MEMORY, "no memory for the batches of this rank");
	return SL_OK;
}

void sl_batch_client_close(struct sl_run_workers *run)
{
	if (run->client)
		free(run->client->given);
	free(run->client);
	run->client = NULL;
}

/* --- batches ---------------------------------------------------------------------------------- */

bool sl_batch_client_has_next(const struct sl_run_workers *run)
{
	return !run->stop && run->client->n_given > 0;
}

bool sl_batch_client_may_get_more(const struct sl_run_workers *run)
{
	return !run->stop && !run->client->no_more;
}

uint64_t sl_batch_client_take(struct sl_run_workers *run)
{
	struct sl_batch_client *c = run->client;
	uint64_t number = c->given[0];

	memmove(c->given, c->given + 1, --c->n_given * sizeof(*c->given));
	return number;
}

/* --- messages --------------------------------------------------------------------------------- */

static void lose(struct sl_run_workers *run)
{
	struct sl_batch_client *c = run->client;

	c->ranks->lost = c->cancelled = true;
	(void)sl_fail(SL_PEER_LOST,
		"rank 0 of %u (process %lu on %s) has ended or does not answer; committed batches are "
		"kept: use --resume, with any number of ranks",
		c->ranks->n, run->w->rank[0].process, run->w->rank[0].host);
	sl_run_workers_fail(run, SL_PEER_LOST);
}

static void send(struct sl_run_workers *run, enum sl_rank_message_kind kind, uint64_t number,
	const void *payload, size_t bytes)
{
	static struct sl_rank_message m; /* large, and only the main thread is here */
	struct sl_batch_client *c = run->client;
	enum sl_status s;

	m.kind = kind;
	m.number = number;
	m.bytes = (uint32_t)bytes;
	if (bytes > 0)
		memcpy(m.payload, payload, bytes);
	c->spoke_ns = sl_now_ns();
	if (c->ranks->lost)
		return;
	s = c->ranks->send(0, &m);
	if (s == SL_OK)
		return;
	c->ranks->lost = c->cancelled = true;
	sl_run_workers_fail(run, s);
}

/* Rank 0 has committed the batch, so its slot is free. */
static void take_commit(struct sl_run_workers *run, uint64_t number)
{
	for (uint32_t i = 0; i < run->plan->n_host_slots; i++) {
		struct sl_slot_work *work = &run->slot_work[i];
		const struct sl_host_slot *slot = &run->w->slot[i];

		if (work->state != SL_SLOT_COMMITTING || slot->batch.number != number)
			continue;
		sl_run_workers_add_to_session(run, slot, work);
		work->state = SL_SLOT_FREE;
	}
}

/*
 * No failure of this rank follows: batches that end early are not wanted any more. If a rank was
 * lost, rank 0 has the message.
 */
static void take_cancel(struct sl_run_workers *run, bool lost)
{
	struct sl_batch_client *c = run->client;

	c->cancelled = c->told_failure = true;
	c->other_lost = lost;
	run->stop = run->abandoned = true;
	atomic_store(&run->w->cancel, 1);
	if (lost) {
		sl_set_last_error("");
		sl_run_workers_fail(run, SL_PEER_LOST);
	}
}

static void take(struct sl_run_workers *run, const struct sl_rank_message *m)
{
	struct sl_batch_client *c = run->client;

	switch ((enum sl_rank_message_kind)m->kind) {
	case SL_RANK_BATCH:
		if (c->wanted > 0 && c->n_given < run->plan->n_host_slots) {
			c->wanted--;
			c->given[c->n_given++] = m->number;
		}
		break;
	case SL_RANK_COMMITTED:
		take_commit(run, m->number);
		break;
	case SL_RANK_NO_MORE:
		c->no_more = true;
		break;
	case SL_RANK_CANCEL:
		take_cancel(run, m->number != 0);
		break;
	default: /* ALIVE; others are for rank 0 */
		return;
	}
	pthread_cond_broadcast(&run->changed);
}

/* Sends the lines of the batches whose files are written. A failure to write is one of the run. */
static void send_written(struct sl_run_workers *run)
{
	for (uint32_t i = 0; i < run->plan->n_host_slots; i++) {
		struct sl_slot_work *work = &run->slot_work[i];

		if (work->state != SL_SLOT_WRITTEN)
			continue;
		if (work->status != SL_OK) {
			sl_set_last_error(work->message);
			sl_run_workers_fail(run, work->status);
			work->state = SL_SLOT_FREE;
			continue;
		}
		work->state = SL_SLOT_COMMITTING;
		send(run, SL_RANK_WRITTEN, run->w->slot[i].batch.number, &work->writing.line,
			sizeof(work->writing.line));
	}
}

/*
 * Asks for a batch for each thread that computes none and has a free slot, and one more, so that no
 * thread waits for the answer. Further ones would wait here while other ranks are idle.
 */
static void ask(struct sl_run_workers *run)
{
	struct sl_batch_client *c = run->client;
	uint32_t idle = run->plan->threads + 1, free_slots = 0, known = c->n_given + c->wanted;

	for (uint32_t i = 0; i < run->plan->n_host_slots; i++) {
		free_slots += run->slot_work[i].state == SL_SLOT_FREE;
		idle -= run->slot_work[i].state == SL_SLOT_COMPUTING;
	}
	idle = idle < free_slots ? idle : free_slots;
	if (c->no_more || idle <= known)
		return;
	c->wanted += idle - known;
	send(run, SL_RANK_WANTS, idle - known, NULL, 0);
}

static void tell_failure(struct sl_run_workers *run)
{
	struct sl_batch_client *c = run->client;

	if (run->status == SL_OK || c->told_failure)
		return;
	c->told_failure = true;
	send(run, SL_RANK_FAILED, run->status, run->message, strlen(run->message) + 1);
}

/* Sends what has changed since the last call. */
static void report(struct sl_run_workers *run, int stop)
{
	struct sl_batch_client *c = run->client;

	send_written(run);
	tell_failure(run);
	if (run->status == SL_OK)
		ask(run);
	if (stop > c->told_stop)
		send(run, SL_RANK_STOPS, (uint64_t)(c->told_stop = stop), NULL, 0);
}

void sl_batch_client_exchange(struct sl_run_workers *run, int stop)
{
	static struct sl_rank_message m;
	struct sl_batch_client *c = run->client;
	uint64_t now = sl_now_ns();
	uint32_t from;

	c->heard_ns += sl_rank_pause_ns(now, &c->watched_ns);
	while (c->ranks->receive(&from, &m)) {
		c->heard_ns = now;
		take(run, &m);
	}
	if (!c->cancelled)
		report(run, stop);
	if (now > c->spoke_ns + SL_RANK_ALIVE_NS)
		send(run, SL_RANK_ALIVE, 0, NULL, 0);
	if (!c->cancelled && now > c->heard_ns + SL_RANK_LOST_NS)
		lose(run);
}

bool sl_batch_client_is_over(const struct sl_run_workers *run)
{
	const struct sl_batch_client *c = run->client;

	return c->cancelled || (c->no_more && run->working == 0 && run->status == SL_OK);
}

/*
 * After the loss of another rank, rank 0 prints the message and ends all ranks by MPI_Abort(). This
 * rank must not do so before: rank 0 waits for two seconds, or until the others have ended.
 */
void sl_batch_client_end(struct sl_run_workers *run)
{
	const struct timespec time_of_rank_0 = {.tv_sec = 3};
	struct sl_batch_client *c = run->client;

	send(run, SL_RANK_ENDED, 0, run->session, sizeof(*run->session));
	if (!c->other_lost)
		return;
	c->ranks->lost = true;
	nanosleep(&time_of_rank_0, NULL);
}
