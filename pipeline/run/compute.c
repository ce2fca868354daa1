/* compute.c - threads take batches and slots, compute and compress. */
#include <string.h>

#include "pipeline/run/compute.h"
#include "stages/particle/digest.h"
#include "stages/inputs/input_reader.h"

/* Takes the next batch that is not done yet; false when there is none. */
static bool take_batch(struct sl_run_workers *run, uint64_t *number)
{
	while (run->next_done < run->done->n &&
		run->done->line[run->next_done].batch == run->next) {
		run->next++;
		run->next_done++;
	}
	if (run->stop || run->next >= run->end)
		return false;
	*number = run->next++;
	return true;
}

/* A slot in no use, or n_slots. */
static uint32_t find_free(const struct sl_run_workers *run)
{
	uint32_t i = 0;

	while (i < run->plan->n_host_slots && run->slot_work[i].state != SL_SLOT_FREE)
		i++;
	return i;
}

/* Takes a pipeline, waiting for one; NULL when the run ends before there is one. */
static struct sl_device_pipeline *take_device_slot(struct sl_run_workers *run)
{
	struct sl_device_pipeline *pipeline = NULL;

	pthread_mutex_lock(&run->lock);
	while (!pipeline && run->status == SL_OK && !atomic_load(&run->w->cancel)) {
		for (uint32_t i = 0; i < run->plan->n_device_slots && !pipeline; i++)
			if (!run->device_slot_taken[i])
				pipeline = &run->w->device_pipeline[i];
		if (!pipeline)
			pthread_cond_wait(&run->changed, &run->lock);
	}
	if (pipeline)
		run->device_slot_taken[pipeline - run->w->device_pipeline] = true;
	pthread_mutex_unlock(&run->lock);
	return pipeline;
}

static void release_device_slot(
	struct sl_run_workers *run, const struct sl_device_pipeline *pipeline, uint64_t busy_ns)
{
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_device] += busy_ns;
	run->device_slot_taken[pipeline - run->w->device_pipeline] = false;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
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
static enum sl_status run_stages(struct sl_run_workers *run, struct sl_host_slot *slot)
{
	const struct sl_recipe *r = &run->w->recipe;
	struct sl_device_pipeline *pipeline;
	enum sl_status s;
	uint64_t start;

	if (!run->plan->on_device)
		return sl_stages_run(r, &slot->exec, &slot->batch, slot->ns);
	SL_TRY(read_inputs(r, slot));
	pipeline = take_device_slot(run);
	if (!pipeline)
		return sl_fail(SL_STOPPED, "cancelled: the run was asked to stop");
	start = sl_now_ns();
	slot->batch.device_packed.wanted = r->pack.form != SL_AS_COLUMNS && !run->discard;
	s = sl_device_pipeline_run(r, pipeline, &slot->batch, slot->ns);
	slot->transfer_ns = pipeline->transfer_ns;
	slot->pack_ns = pipeline->pack_ns;
	release_device_slot(run, pipeline, sl_now_ns() - start);
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
	struct sl_run_workers *run, struct sl_host_slot *slot, uint64_t *busy_ns)
{
	uint64_t begun = sl_now_ns(), start;
	enum sl_status s;

	memset(slot->ns, 0, sizeof(slot->ns));
	slot->pack_ns = 0;
	s = run_stages(run, slot);
	start = sl_now_ns();
	if (s == SL_OK && run->plan->on_device)
		s = sl_add_context(check_transfer(&slot->batch), "batch %llu",
			(unsigned long long)slot->batch.number);
	if (s == SL_OK && !run->discard)
		s = sl_add_context(pack(run->plan, slot), "batch %llu, compressing",
			(unsigned long long)slot->batch.number);
	slot->pack_ns += sl_now_ns() - start;
	*busy_ns += sl_now_ns() - (run->plan->on_device ? start : begun);
	return s;
}

/* Computes the batch of that number in slot i. Called with the lock held. */
static void work_on(struct sl_run_workers *run, uint32_t i, uint64_t number)
{
	struct sl_host_slot *slot = &run->w->slot[i];
	double begun = sl_run_workers_seconds();
	uint64_t busy_ns = 0;
	enum sl_status s;

	run->slot_work[i].state = SL_SLOT_BUSY;
	sl_batch_begin(&run->w->recipe, &slot->batch, number);
	slot->batch.turn = run->started++;
	pthread_mutex_unlock(&run->lock);
	s = compute(run, slot, &busy_ns);
	pthread_mutex_lock(&run->lock);
	begun = sl_run_workers_seconds() - begun;
	run->longest_batch = begun > run->longest_batch ? begun : run->longest_batch;
	run->session->busy_ns[SL_WORKER_threads] += busy_ns;
	/* a failure after the last needed batch does not matter: that batch is discarded */
	if (s != SL_OK && number < run->end)
		sl_run_workers_fail(run, s);
	run->slot_work[i].state = s == SL_OK ? SL_SLOT_READY : SL_SLOT_FREE;
	pthread_cond_broadcast(&run->changed);
}

void *sl_compute_thread(void *ctx)
{
	struct sl_run_workers *run = (struct sl_run_workers *)ctx;
	enum sl_status entered = sl_plan_use_device(run->plan);
	uint64_t number;

	pthread_mutex_lock(&run->lock);
	if (entered != SL_OK)
		sl_run_workers_fail(run, entered);
	for (;;) {
		uint32_t i;

		/* A slot first, a batch then: batches begin in order, so that writers never wait
		 * for one that nobody has begun while all slots are full. */
		while ((i = find_free(run)) == run->plan->n_host_slots && !run->stop)
			pthread_cond_wait(&run->changed, &run->lock);
		if (i == run->plan->n_host_slots || !take_batch(run, &number))
			break;
		work_on(run, i, number);
	}
	run->working--;
	run->computing--;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}
