/*
 * writer.c - writers write ready batches in parallel, and one at a time commits them in batch
 * order.
 *
 * The order of commits makes the manifest, the sums over batches and the stop rule independent of
 * the number of threads. Only the commit is serial, and it is short: the bytes were made durable by
 * the write, so that several writers use the disk at once.
 */
#include <string.h>

#include "pipeline/run/run.h"
#include "pipeline/run/workers.h"
#include "primitives/base/clock.h"

void sl_writer_check_stop_rule(struct sl_run_workers *run, bool met)
{
	const struct sl_manifest *done = run->done;

	for (; !met && run->next_counted < done->n; run->next_counted++) {
		const struct sl_manifest_line *l = &done->line[run->next_counted];

		if (l->batch != run->stop_sums.batches.n)
			break;
		met = sl_stop_rule_add(&run->stop_rule, &run->stop_sums, &l->tally, l->generated);
	}
	if (!met)
		return;
	run->stop_rule_met = run->stop = true;
	run->end = run->stop_sums.batches.n;
	atomic_store(&run->w->cancel, 1);
}

/*
 * Writes the batch in slot i to its .part file, or nothing with discard. image is the memory of
 * this writer for the parts of a file that are not packed columns. Called with the lock held, which
 * is released while the file is written.
 */
static void write_batch(struct sl_run_workers *run, uint32_t i, void *image)
{
	struct sl_slot_work *b = &run->slot_work[i];
	uint64_t start = sl_now_ns();

	b->state = SL_SLOT_WRITING;
	pthread_mutex_unlock(&run->lock);
	memset(&b->writing, 0, sizeof(b->writing));
	b->status = SL_OK;
	if (!run->discard)
		b->status = sl_batch_file_write(
			run->plan, run->dir, &run->w->slot[i], image, &b->writing);
	if (b->status != SL_OK)
		memcpy(b->message, sl_last_error(), sizeof(b->message));
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	b->state = SL_SLOT_WRITTEN;
	pthread_cond_broadcast(&run->changed);
}

/* Commits the written file, then calls control->batch; or returns the failure of writing. */
static enum sl_status commit_file(
	struct sl_run_workers *run, struct sl_host_slot *slot, struct sl_slot_work *b)
{
	if (b->status != SL_OK) {
		sl_set_last_error(b->message); /* another writer may have failed */
		return b->status;
	}
	if (!run->discard) {
		SL_TRY(sl_batch_file_commit(run->dir, &b->writing));
		SL_TRY(sl_image_sum_add(
			&run->w->image_sum, slot->batch.number, &slot->batch.table));
	}
	if (run->control->batch && !run->trial)
		return run->control->batch(run->control->ctx, slot);
	return SL_OK;
}

/*
 * Commits the batch in slot i, the next in order, and evaluates the stop rule. The state COMMITTING
 * keeps other writers from committing while the lock is released.
 */
static void commit_batch(struct sl_run_workers *run, uint32_t i)
{
	struct sl_host_slot *slot = &run->w->slot[i];
	struct sl_slot_work *b = &run->slot_work[i];
	uint64_t start = sl_now_ns();
	enum sl_status s;

	b->state = SL_SLOT_COMMITTING;
	pthread_mutex_unlock(&run->lock);
	s = commit_file(run, slot, b);
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	if (s != SL_OK) {
		sl_run_workers_fail(run, s);
	} else {
		sl_run_workers_add_to_session(run, slot, b);
		sl_writer_check_stop_rule(run, sl_stop_rule_add(&run->stop_rule, &run->stop_sums,
						       &slot->batch.tally, slot->batch.n));
	}
	b->state = SL_SLOT_FREE;
	pthread_cond_broadcast(&run->changed);
}

/*
 * Commits the batch of another rank, the next in order: names the files that the rank has written,
 * and evaluates the stop rule. The image gets the batch from its file at the end of the run.
 */
static void commit_remote(struct sl_run_workers *run, struct sl_remote_batch *b)
{
	struct sl_batch_write w;
	uint64_t start = sl_now_ns();
	enum sl_status s;

	b->state = SL_SLOT_COMMITTING;
	pthread_mutex_unlock(&run->lock);
	sl_batch_file_adopt(run->dir, &b->line, &w);
	s = sl_batch_file_commit(run->dir, &w);
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	b->state = s == SL_OK ? SL_SLOT_COMMITTED : SL_SLOT_FREE;
	if (s != SL_OK) {
		sl_run_workers_fail(run, s);
	} else {
		run->commits++;
		run->session->batches++;
		run->session->particles += b->line.generated;
		sl_writer_check_stop_rule(run, sl_stop_rule_add(&run->stop_rule, &run->stop_sums,
						       &b->line.tally, b->line.generated));
	}
	pthread_cond_broadcast(&run->changed);
}

/*
 * Commits the next batch in order, of a slot or of another rank, if its files are written; false if
 * not. Rank 0 commits those of all ranks. Called with the lock held.
 */
static bool commit_next(struct sl_run_workers *run)
{
	struct sl_remote_batch *remote = run->server ? sl_batch_server_first(run) : NULL;
	uint32_t n = run->plan->n_host_slots, i;
	bool written;

	if (run->client)
		return false;
	i = sl_run_workers_find_first(run, SL_SLOT_LOST, SL_SLOT_COMMITTING);
	written = i < n && run->slot_work[i].state == SL_SLOT_WRITTEN;
	if (remote && (i == n || remote->number < run->w->slot[i].batch.number)) {
		if (remote->state != SL_SLOT_WRITTEN || !sl_batch_server_may_commit(run))
			return false;
		commit_remote(run, remote);
		return true;
	}
	if (written)
		commit_batch(run, i);
	return written;
}

/* Is nothing left to write or commit, now or later? Called with the lock held. */
static bool is_all_done(const struct sl_run_workers *run)
{
	for (uint32_t i = 0; i < run->plan->n_host_slots; i++)
		if (run->slot_work[i].state != SL_SLOT_FREE)
			return false;
	return run->computing == 0 && !(run->server && sl_batch_server_first(run));
}

/* Commits come before writes: a commit frees a slot, for which a compute thread may wait. */
void *sl_writer_thread(void *ctx)
{
	struct sl_run_workers *run = (struct sl_run_workers *)ctx;
	char *image;
	uint32_t i;

	pthread_mutex_lock(&run->lock);
	image = (char *)run->w->file_image + run->writers++ * run->plan->memory.image;
	/* no further batch is committed of a run that has ended early */
	while (run->status == SL_OK && !run->stop_rule_met && !run->abandoned &&
		!is_all_done(run)) {
		/* Batches start in order, so the first in flight is the next to commit. If it is
		 * COMMITTING, another writer commits it. */
		if (commit_next(run))
			continue;
		i = sl_run_workers_find_first(run, SL_SLOT_READY, SL_SLOT_READY);
		if (i < run->plan->n_host_slots)
			write_batch(run, i, image);
		else
			pthread_cond_wait(&run->changed, &run->lock);
	}
	run->working--;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

/*
 * A slot is WRITTEN here after a failure, or if its batch comes after the stop rule was met;
 * COMMITTING if rank 0 has cancelled it.
 */
void sl_writer_remove_uncommitted(const struct sl_run_workers *run)
{
	for (uint32_t i = 0; i < run->plan->n_host_slots; i++)
		if (run->slot_work[i].state == SL_SLOT_WRITTEN ||
			run->slot_work[i].state == SL_SLOT_COMMITTING)
			sl_batch_file_remove_parts(&run->slot_work[i].writing);
}
