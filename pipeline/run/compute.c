/* compute.c - threads take batches and slots, compute and compress. */
#include <string.h>

#include "pipeline/run/compute.h"
#include "stages/particle/digest.h"
#include "stages/inputs/input_reader.h"

/* Takes the next batch that is not done yet; false when there is none. */
static bool take_batch(struct sl_run_workers *c, uint64_t *number)
{
	while (c->next_done < c->done->n && c->done->line[c->next_done].batch == c->next) {
		c->next++;
		c->next_done++;
	}
	if (c->stop || c->next >= c->end)
		return false;
	*number = c->next++;
	return true;
}

/* A slot in no use, or n_slots. */
static uint32_t find_free(const struct sl_run_workers *c)
{
	uint32_t i = 0;

	while (i < c->plan->n_host_slots && c->slot_work[i].state != SL_SLOT_FREE)
		i++;
	return i;
}

/* Takes a pipeline, waiting for one; NULL when the run ends before there is one. */
static struct sl_device_pipeline *take_device_slot(struct sl_run_workers *c)
{
	struct sl_device_pipeline *pipeline = NULL;

	pthread_mutex_lock(&c->lock);
	while (!pipeline && c->status == SL_OK && !atomic_load(&c->w->drop)) {
		for (uint32_t i = 0; i < c->plan->n_device_slots && !pipeline; i++)
			if (!c->device_slot_taken[i])
				pipeline = &c->w->device_pipeline[i];
		if (!pipeline)
			pthread_cond_wait(&c->changed, &c->lock);
	}
	if (pipeline)
		c->device_slot_taken[pipeline - c->w->device_pipeline] = true;
	pthread_mutex_unlock(&c->lock);
	return pipeline;
}

static void release_device_slot(
	struct sl_run_workers *c, const struct sl_device_pipeline *pipeline, uint64_t busy_ns)
{
	pthread_mutex_lock(&c->lock);
	c->session->busy_ns[SL_WORKER_device] += busy_ns;
	c->device_slot_taken[pipeline - c->w->device_pipeline] = false;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* Of a model that is read: the batch's particles, before it takes a device pipeline. */
static enum sl_status read_inputs(const struct sl_recipe *r, struct sl_host_slot *slot)
{
	uint64_t start = sl_now_ns();

	if (!r->inputs)
		return SL_OK;
	SL_TRY(sl_inputs_read(r->inputs, &slot->batch));
	slot->ns[r->mode == SL_MODE_fused ? SL_STAGE_select : SL_STAGE_generate] +=
		sl_now_ns() - start;
	return SL_OK;
}

/* Compares the digests of host copies with those computed on the device. */
static enum sl_status check_transfer(const struct sl_batch *b)
{
	SL_TRY(sl_digest_check(&b->table));
	return b->device_packed.wanted ? sl_device_packed_check(&b->device_packed) : SL_OK;
}

/* On the host in the slot; on the device in a pipeline, which is free again for the next batch. */
static enum sl_status run_stages(struct sl_run_workers *c, struct sl_host_slot *slot)
{
	const struct sl_recipe *r = &c->w->recipe;
	struct sl_device_pipeline *pipeline;
	enum sl_status s;
	uint64_t start;

	if (!c->plan->on_device)
		return sl_stages_run(r, &slot->exec, &slot->batch, slot->ns);
	SL_TRY(read_inputs(r, slot));
	pipeline = take_device_slot(c);
	if (!pipeline)
		return sl_fail(SL_STOPPED, "cancelled: the run was asked to stop");
	start = sl_now_ns();
	slot->batch.device_packed.wanted = r->pack.form != SL_AS_COLUMNS && !c->discard;
	s = sl_device_pipeline_run(r, pipeline, &slot->batch, slot->ns);
	slot->transfer_ns = pipeline->transfer_ns;
	slot->pack_ns = pipeline->pack_ns;
	release_device_slot(c, pipeline, sl_now_ns() - start);
	return s;
}

static enum sl_status pack(const struct sl_plan *plan, struct sl_host_slot *slot)
{
	const struct sl_format *f = plan->format;
	struct sl_batch *b = &slot->batch;

	if (b->device_packed.wanted)
		return f->take(
			&slot->exec, &plan->facts, &b->table, &b->device_packed, &slot->packed);
	return f->pack(&slot->exec, &plan->facts, &b->table, &slot->packed);
}

/* Computes and packs the batch in slot; adds to *busy_ns what this thread did itself. */
static enum sl_status compute(
	struct sl_run_workers *c, struct sl_host_slot *slot, uint64_t *busy_ns)
{
	uint64_t begun = sl_now_ns(), start;
	enum sl_status s;

	memset(slot->ns, 0, sizeof(slot->ns));
	slot->pack_ns = 0;
	s = run_stages(c, slot);
	start = sl_now_ns();
	if (s == SL_OK && c->plan->on_device)
		s = sl_add_context(check_transfer(&slot->batch), "batch %llu",
			(unsigned long long)slot->batch.number);
	if (s == SL_OK && !c->discard)
		s = sl_add_context(pack(c->plan, slot), "batch %llu, compressing",
			(unsigned long long)slot->batch.number);
	slot->pack_ns += sl_now_ns() - start;
	*busy_ns += sl_now_ns() - (c->plan->on_device ? start : begun);
	return s;
}

/* Computes the batch of that number in slot i. Called with the lock held. */
static void work_on(struct sl_run_workers *c, uint32_t i, uint64_t number)
{
	struct sl_host_slot *slot = &c->w->slot[i];
	double begun = sl_run_workers_seconds();
	uint64_t busy_ns = 0;
	enum sl_status s;

	c->slot_work[i].state = SL_SLOT_BUSY;
	sl_batch_begin(&c->w->recipe, &slot->batch, number);
	slot->batch.turn = c->begun++;
	pthread_mutex_unlock(&c->lock);
	s = compute(c, slot, &busy_ns);
	pthread_mutex_lock(&c->lock);
	begun = sl_run_workers_seconds() - begun;
	c->longest = begun > c->longest ? begun : c->longest;
	c->session->busy_ns[SL_WORKER_threads] += busy_ns;
	/* a failure after the last needed batch does not matter: that batch is discarded */
	if (s != SL_OK && number < c->end)
		sl_run_workers_fail(c, s);
	c->slot_work[i].state = s == SL_OK ? SL_SLOT_READY : SL_SLOT_FREE;
	pthread_cond_broadcast(&c->changed);
}

void *sl_compute_thread(void *ctx)
{
	struct sl_run_workers *c = (struct sl_run_workers *)ctx;
	enum sl_status entered = sl_plan_enter(c->plan);
	uint64_t number;

	pthread_mutex_lock(&c->lock);
	if (entered != SL_OK)
		sl_run_workers_fail(c, entered);
	for (;;) {
		uint32_t i;

		/* A slot first, a batch then: batches begin in order, so that writers never wait
		 * for one that nobody has begun while all slots are full. */
		while ((i = find_free(c)) == c->plan->n_host_slots && !c->stop)
			pthread_cond_wait(&c->changed, &c->lock);
		if (i == c->plan->n_host_slots || !take_batch(c, &number))
			break;
		work_on(c, i, number);
	}
	c->working--;
	c->computing--;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}
