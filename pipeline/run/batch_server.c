/* batch_server.c - see run.h. */
#include "pipeline/run/run.h"
#include "pipeline/run/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/base/clock.h"

_Static_assert(sizeof(struct sl_manifest_line) <= SL_RANK_PAYLOAD_BYTES &&
		       sizeof(struct sl_session) <= SL_RANK_PAYLOAD_BYTES &&
		       (int)SL_MESSAGE_BYTES <= (int)SL_RANK_PAYLOAD_BYTES,
	"a message has space for each payload");

/* Another rank, as rank 0 sees it. */
struct remote_rank {
	uint64_t wants;              /* batches that it can start */
	uint64_t heard_ns, spoke_ns; /* times of the last message from it, and to it */
	bool ended;
};

struct sl_batch_server {
	struct sl_ranks *ranks;
	struct remote_rank *rank; /* ranks->n; that of rank 0 is not used */
	struct sl_remote_batch *batch;
	uint32_t n_batches; /* the host slots of all other ranks */
	uint32_t next_rank; /* that gets the next batch, if it wants one */
	bool said_no_more, cancelled;
	uint64_t watched_ns; /* time of the last look at the ranks */
	uint64_t lost_ns;    /* when a rank was found to be lost; 0: none was */
};

/* --- start and end ---------------------------------------------------------------------------- */

enum sl_status sl_rank_facts_gather(struct sl_workspace *w, struct sl_ranks *ranks)
{
	struct sl_rank_facts mine = {.process = (uint64_t)getpid(),
		.threads = w->plan->threads,
		.slots = w->plan->n_host_slots,
		.devices = w->plan->n_devices};

	memcpy(mine.host, w->plan->machine.host, sizeof(mine.host) - 1);
	if (w->plan->n_devices > 0)
		snprintf(mine.device, sizeof(mine.device), "%s", w->plan->device[0].name);
	sl_memory_give(SL_HOST, w->rank);
	w->rank = NULL;
	SL_TRY(sl_host_get(ranks->n, sizeof(*w->rank), &w->rank));
	w->n_ranks = ranks->n;
	return ranks->gather(&mine, sizeof(mine), w->rank);
}

enum sl_status sl_batch_server_open(struct sl_run_workers *run, struct sl_ranks *ranks)
{
	struct sl_batch_server *s = (struct sl_batch_server *)calloc(1, sizeof(*s));
	uint64_t now = sl_now_ns();

	run->server = s;
	for (uint32_t i = 1; s && i < ranks->n; i++)
		s->n_batches += run->w->rank[i].slots;
	if (s) {
		s->ranks = ranks;
		s->watched_ns = now;
		s->next_rank = 1;
		s->rank = (struct remote_rank *)calloc(ranks->n, sizeof(*s->rank));
		s->batch = (struct sl_remote_batch *)calloc(s->n_batches, sizeof(*s->batch));
	}
	if (!s || !s->rank || !s->batch)
		return sl_fail(SL_HOST_MEMORY, "no memory for the states of %u ranks", ranks->n);
	for (uint32_t i = 0; i < ranks->n; i++)
		s->rank[i].heard_ns = s->rank[i].spoke_ns = now;
	return SL_OK;
}

void sl_batch_server_close(struct sl_run_workers *run)
{
	if (run->server) {
		free(run->server->rank);
		free(run->server->batch);
	}
	free(run->server);
	run->server = NULL;
}

/* --- batches ---------------------------------------------------------------------------------- */

static bool is_open(const struct sl_remote_batch *b)
{
	return b->state != SL_SLOT_FREE && b->state != SL_SLOT_COMMITTED;
}

struct sl_remote_batch *sl_batch_server_first(const struct sl_run_workers *run)
{
	struct sl_batch_server *s = run->server;
	struct sl_remote_batch *first = NULL;

	for (uint32_t i = 0; s && i < s->n_batches; i++)
		if (is_open(&s->batch[i]) && (!first || s->batch[i].number < first->number))
			first = &s->batch[i];
	return first;
}

/* The place of a batch, or with state FREE any free place; NULL if there is none. */
static struct sl_remote_batch *find(
	struct sl_batch_server *s, enum sl_slot_state state, uint32_t rank, uint64_t number)
{
	for (uint32_t i = 0; i < s->n_batches; i++) {
		struct sl_remote_batch *b = &s->batch[i];

		if (b->state == state &&
			(state == SL_SLOT_FREE || (b->rank == rank && b->number == number)))
			return b;
	}
	return NULL;
}

/* --- failures --------------------------------------------------------------------------------- */

/* Ends the run because rank i does not answer. */
static void lose(struct sl_run_workers *run, uint32_t i)
{
	struct sl_batch_server *s = run->server;
	const struct sl_rank_facts *f = &run->w->rank[i];

	s->rank[i].ended = true;
	s->ranks->lost = true;
	s->lost_ns = s->lost_ns ? s->lost_ns : sl_now_ns();
	(void)sl_fail(SL_PEER_LOST,
		"rank %u of %u (process %lu on %s) has ended or does not answer; committed batches "
		"are kept: use --resume, with any number of ranks",
		i, s->ranks->n, f->process, f->host);
	sl_run_workers_fail(run, SL_PEER_LOST);
}

static void send(
	struct sl_run_workers *run, uint32_t to, enum sl_rank_message_kind kind, uint64_t number)
{
	struct sl_batch_server *s = run->server;
	struct sl_rank_message m = {.kind = kind, .number = number};

	if (s->rank[to].ended)
		return;
	s->rank[to].spoke_ns = sl_now_ns();
	if (s->ranks->send(to, &m) != SL_OK)
		lose(run, to);
}

/* --- messages from other ranks ---------------------------------------------------------------- */

static void take_written(struct sl_run_workers *run, uint32_t from, const struct sl_rank_message *m)
{
	struct sl_remote_batch *b = find(run->server, SL_SLOT_COMPUTING, from, m->number);
	double seconds;

	if (!b)
		return; /* of a batch that the stop rule has cancelled */
	memcpy(&b->line, m->payload, sizeof(b->line));
	b->state = SL_SLOT_WRITTEN;
	seconds = 1e-9 * (double)(sl_now_ns() - b->start_ns);
	run->longest_batch = seconds > run->longest_batch ? seconds : run->longest_batch;
	pthread_cond_broadcast(&run->changed);
}

/* A failure of a batch that the stop rule has cancelled is none; run->stop_rule_met says so. */
static void take_failure(struct sl_run_workers *run, uint32_t from, const struct sl_rank_message *m)
{
	const struct sl_rank_facts *f = &run->w->rank[from];

	if (run->stop_rule_met)
		return;
	sl_set_last_error((const char *)m->payload);
	sl_run_workers_fail(
		run, sl_add_context((enum sl_status)m->number, "rank %u on %s", from, f->host));
}

/* A rank that ends while it has a batch was cancelled, or has failed and said so before. */
static void take_end(struct sl_run_workers *run, uint32_t from, const struct sl_rank_message *m)
{
	struct sl_batch_server *s = run->server;
	struct sl_session session;

	memcpy(&session, m->payload, sizeof(session));
	sl_session_add_times(run->session, &session);
	run->w->rank[from].batches = session.batches;
	run->w->rank[from].dropped_devices = session.dropped_devices;
	s->rank[from].ended = true;
	for (uint32_t i = 0; i < s->n_batches; i++) {
		if (s->batch[i].rank != from || !is_open(&s->batch[i]))
			continue;
		s->batch[i].state = SL_SLOT_FREE;
		if (!run->stop_rule_met && run->status == SL_OK) {
			(void)sl_fail(SL_STOPPED, "rank %u was stopped", from);
			sl_run_workers_fail(run, SL_STOPPED);
		}
	}
	pthread_cond_broadcast(&run->changed);
}

static void take(struct sl_run_workers *run, uint32_t from, const struct sl_rank_message *m)
{
	switch ((enum sl_rank_message_kind)m->kind) {
	case SL_RANK_WANTS:
		run->server->rank[from].wants += m->number;
		break;
	case SL_RANK_WRITTEN:
		take_written(run, from, m);
		break;
	case SL_RANK_STOPS:
		run->stop_asked =
			(int)m->number > run->stop_asked ? (int)m->number : run->stop_asked;
		break;
	case SL_RANK_FAILED:
		take_failure(run, from, m);
		break;
	case SL_RANK_ENDED:
		take_end(run, from, m);
		break;
	default: /* ALIVE; others are for other ranks */
		break;
	}
}

/* --- what is due ------------------------------------------------------------------------------ */

/* Gives the next batches to the ranks that want some, in turn. */
static void give_batches(struct sl_run_workers *run)
{
	struct sl_batch_server *s = run->server;
	uint32_t idle = 0; /* ranks in a row that want none */

	while (idle < s->ranks->n && sl_run_workers_has_next(run)) {
		uint32_t to = s->next_rank;
		struct sl_remote_batch *b;

		s->next_rank = to + 1 < s->ranks->n ? to + 1 : 1;
		idle++;
		if (s->rank[to].wants == 0 || s->rank[to].ended)
			continue;
		b = find(s, SL_SLOT_FREE, 0, 0);
		if (!b)
			return;
		idle = 0;
		s->rank[to].wants--;
		b->state = SL_SLOT_COMPUTING;
		b->rank = to;
		b->number = run->next++;
		b->start_ns = sl_now_ns();
		send(run, to, SL_RANK_BATCH, b->number);
	}
}

/* Tells the ranks which of their batches a writer has committed. */
static void report_commits(struct sl_run_workers *run)
{
	struct sl_batch_server *s = run->server;

	for (uint32_t i = 0; i < s->n_batches; i++) {
		if (s->batch[i].state != SL_SLOT_COMMITTED)
			continue;
		s->batch[i].state = SL_SLOT_FREE;
		send(run, s->batch[i].rank, SL_RANK_COMMITTED, s->batch[i].number);
	}
}

static void send_to_all(struct sl_run_workers *run, enum sl_rank_message_kind kind, uint64_t number)
{
	for (uint32_t i = 1; i < run->server->ranks->n; i++)
		send(run, i, kind, number);
}

/* After CANCEL, other ranks remove their files, so no batch of theirs is committed any more. */
static void end_ranks(struct sl_run_workers *run)
{
	struct sl_batch_server *s = run->server;
	const struct sl_remote_batch *first = sl_batch_server_first(run);

	/* while a writer commits a batch, its rank must not remove the files */
	if (!s->cancelled && atomic_load(&run->w->cancel) &&
		!(first && first->state == SL_SLOT_COMMITTING)) {
		s->cancelled = true;
		report_commits(run);
		send_to_all(run, SL_RANK_CANCEL, s->ranks->lost);
	}
	if (!s->said_no_more && !s->cancelled && !sl_run_workers_has_next(run)) {
		s->said_no_more = true;
		send_to_all(run, SL_RANK_NO_MORE, 0);
	}
}

/*
 * Sends signs of life, and looks for ranks that give none. After a loss, the others have two
 * seconds to cancel their batches.
 */
static void watch_ranks(struct sl_run_workers *run, uint64_t now)
{
	const uint64_t grace_ns = 2000000000;
	struct sl_batch_server *s = run->server;

	for (uint32_t i = 1; i < s->ranks->n; i++) {
		struct remote_rank *r = &s->rank[i];

		if (!r->ended && now > r->spoke_ns + SL_RANK_ALIVE_NS)
			send(run, i, SL_RANK_ALIVE, 0);
		if (!r->ended && (now > r->heard_ns + SL_RANK_LOST_NS ||
					 (s->lost_ns && now > s->lost_ns + grace_ns)))
			lose(run, i);
	}
}

void sl_batch_server_exchange(struct sl_run_workers *run)
{
	struct sl_batch_server *s = run->server;
	static struct sl_rank_message m; /* large, and only the main thread is here */
	/* One time for both looks at it: this process can be suspended between them. */
	uint64_t now = sl_now_ns(), paused = sl_rank_pause_ns(now, &s->watched_ns);
	uint32_t from;

	for (uint32_t i = 1; i < s->ranks->n; i++)
		s->rank[i].heard_ns += paused;
	while (s->ranks->receive(&from, &m)) {
		s->rank[from].heard_ns = sl_now_ns();
		if (!s->rank[from].ended)
			take(run, from, &m);
	}
	report_commits(run);
	if (!s->cancelled)
		give_batches(run);
	end_ranks(run);
	watch_ranks(run, now);
}

bool sl_batch_server_is_over(const struct sl_run_workers *run)
{
	const struct sl_batch_server *s = run->server;

	for (uint32_t i = 1; i < s->ranks->n; i++)
		if (!s->rank[i].ended)
			return false;
	return true;
}

bool sl_batch_server_may_commit(const struct sl_run_workers *run)
{
	return !run->server->cancelled;
}
