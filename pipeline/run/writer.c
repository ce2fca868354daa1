/* writer.c - writers write what is ready, and commit it in the order of batches. */
#include <string.h>

#include "pipeline/run/writer.h"

/*
 * The slot whose batch is the lowest of those in flight that are not past that state, if it is in
 * it; else n_slots.
 */
static uint32_t find_in_order(const struct sl_run_workers *c, enum sl_slot_state ready)
{
	uint32_t n = c->plan->n_host_slots, first = n;

	for (uint32_t i = 0; i < n; i++)
		if (c->slot_work[i].state != SL_SLOT_FREE && c->slot_work[i].state <= ready &&
			(first == n || c->w->slot[i].batch.number < c->w->slot[first].batch.number))
			first = i;
	return first < n && c->slot_work[first].state == ready ? first : n;
}

/* One more batch in order; true if it meets the stop rule, so that the run ends after it. */
static bool is_last(struct sl_run_workers *c, const struct sl_tally *t, uint64_t generated)
{
	const struct sl_stop_rule *g = &c->stop_rule;

	sl_precision_add(&c->precision, t, g->fate, generated, g->counts);
	return sl_stop_rule_met(g, &c->precision);
}

void sl_writer_check_stop_rule(struct sl_run_workers *c, bool met)
{
	const struct sl_manifest *done = c->done;

	for (; !met && c->seen_done < done->n; c->seen_done++) {
		const struct sl_manifest_line *l = &done->line[c->seen_done];

		if (l->batch != c->precision.batches)
			break;
		met = is_last(c, &l->tally, l->generated);
	}
	if (!met)
		return;
	c->met = c->stop = true;
	c->end = c->precision.batches;
	atomic_store(&c->w->drop, 1);
}

static uint64_t column_bytes(const struct sl_table *t)
{
	uint64_t row = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		row += t->column[k].constant ? 0 : sl_column_facts[t->column[k].column].bytes;
	return row * t->n;
}

/* What the batch in slot adds to the session. Called with the lock held. */
static void count(
	struct sl_run_workers *c, const struct sl_host_slot *slot, const struct sl_batch_write *w)
{
	c->commits++;
	c->session->batches++;
	c->session->particles += slot->batch.n;
	c->session->column_bytes += column_bytes(&slot->batch.table);
	c->session->file_bytes += w->line.file_bytes;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		c->session->stage_ns[i] += slot->ns[i];
	sl_rounds_add(&c->session->rounds, &slot->batch.rounds);
	c->session->transfer_ns += slot->transfer_ns;
	c->session->pack_ns += slot->pack_ns;
	c->session->assemble_ns += w->assemble_ns;
	c->session->commit_ns += w->commit_ns;
}

/* Writes the batch in slot i, unless nothing is to be written. Called with the lock held. */
static void write_batch(struct sl_run_workers *c, uint32_t i, void *image)
{
	struct sl_slot_work *b = &c->slot_work[i];
	uint64_t start = sl_now_ns();

	b->state = SL_SLOT_WRITING;
	pthread_mutex_unlock(&c->lock);
	memset(&b->writing, 0, sizeof(b->writing));
	b->status = SL_OK;
	if (!c->discard)
		b->status =
			sl_batch_file_write(c->plan, c->dir, &c->w->slot[i], image, &b->writing);
	if (b->status != SL_OK)
		memcpy(b->message, sl_last_error(), sizeof(b->message));
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	b->state = SL_SLOT_WRITTEN;
	pthread_cond_broadcast(&c->changed);
}

/* Gives the written file its name, then calls control->batch. */
static enum sl_status commit_file(
	struct sl_run_workers *c, const struct sl_host_slot *slot, struct sl_slot_work *b)
{
	if (b->status != SL_OK) {
		sl_set_last_error(b->message); /* it may be another writer's */
		return b->status;
	}
	if (!c->discard)
		SL_TRY(sl_batch_file_commit(c->w, c->dir, slot, &b->writing));
	if (c->control->batch && !c->trial)
		c->control->batch(c->control->of, slot);
	return SL_OK;
}

/* Commits the batch in slot i, the next in order. Called with the lock held. */
static void commit_batch(struct sl_run_workers *c, uint32_t i)
{
	const struct sl_host_slot *slot = &c->w->slot[i];
	struct sl_slot_work *b = &c->slot_work[i];
	uint64_t start = sl_now_ns();
	enum sl_status s;

	b->state = SL_SLOT_COMMITTING;
	pthread_mutex_unlock(&c->lock);
	s = commit_file(c, slot, b);
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_writers] += sl_now_ns() - start;
	if (s != SL_OK) {
		sl_run_workers_fail(c, s);
	} else {
		count(c, slot, &b->writing);
		sl_writer_check_stop_rule(c, is_last(c, &slot->batch.tally, slot->batch.n));
	}
	b->state = SL_SLOT_FREE;
	pthread_cond_broadcast(&c->changed);
}

/* Is there nothing in flight that could be written or committed some time? */
static bool is_all_done(const struct sl_run_workers *c)
{
	for (uint32_t i = 0; i < c->plan->n_host_slots; i++)
		if (c->slot_work[i].state != SL_SLOT_FREE)
			return false;
	return c->computing == 0;
}

/* What can be committed goes first: it frees a slot. */
void *sl_writer_thread(void *ctx)
{
	struct sl_run_workers *c = (struct sl_run_workers *)ctx;
	uint32_t n = c->plan->n_host_slots, i;
	char *image;

	pthread_mutex_lock(&c->lock);
	image = (char *)c->w->file_image + c->writers++ * c->plan->memory.image;
	while (c->status == SL_OK && !c->met && !is_all_done(c)) {
		if ((i = find_in_order(c, SL_SLOT_COMMITTING)) == n &&
			(i = find_in_order(c, SL_SLOT_WRITTEN)) < n)
			commit_batch(c, i);
		else if ((i = find_in_order(c, SL_SLOT_READY)) < n)
			write_batch(c, i, image);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	c->working--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void sl_writer_remove_uncommitted(const struct sl_run_workers *c)
{
	for (uint32_t i = 0; i < c->plan->n_host_slots; i++)
		if (c->slot_work[i].state == SL_SLOT_WRITTEN && c->slot_work[i].writing.file.dir)
			sl_file_remove_part(&c->slot_work[i].writing.file);
}
