/*
 * compute.c - each thread takes a free slot and the next batch, computes the batch and packs it.
 *
 * Threads of a run on the host compute the stages themselves. On a device, a thread also takes a
 * device pipeline and waits for it. By default there are more threads than pipelines: while one
 * batch is on the device, other threads read or pack the batches before and after it.
 */
#include <string.h>

#include "pipeline/run/compute.h"
#include "primitives/base/clock.h"
#include "stages/particle/digest.h"
#include "stages/inputs/input_reader.h"

/*
 * Takes the next batch that no earlier session has committed; false if none is left or the run
 * stops. Both run->next and the lines of done ascend, so one pass over done serves the whole run.
 * Called with the lock held.
 */
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

/* The first free slot, or n_host_slots. Called with the lock held. */
static uint32_t find_free(const struct sl_run_workers *run)
{
	uint32_t i = 0;

	while (i < run->plan->n_host_slots && run->slot_work[i].state != SL_SLOT_FREE)
		i++;
	return i;
}

/* Waits for a free device pipeline and takes it; NULL if the run is cancelled before. */
static struct sl_device_pipeline *take_device_slot(struct sl_run_workers *run)
{
	struct sl_device_pipeline *pipeline = NULL;

	pthread_mutex_lock(&run->lock);
	while (!pipeline && !atomic_load(&run->w->cancel)) {
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

/* Frees the pipeline for the next batch; busy_ns is the time for which it was taken. */
static void release_device_slot(
	struct sl_run_workers *run, const struct sl_device_pipeline *pipeline, uint64_t busy_ns)
{
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_device] += busy_ns;
	run->device_slot_taken[pipeline - run->w->device_pipeline] = false;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
}

/*
 * If the model reads its particles from files: reads those of the batch into pinned memory of the
 * slot. This happens before the batch takes a device pipeline, so no pipeline waits for a disk.
 */
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

/* SL_DEVICE_FAILED if the host copies differ from what the device computed, by their digests. */
static enum sl_status check_transfer(struct sl_batch *b)
{
	SL_TRY(sl_digest_check(&b->table));
	return b->device_packed.wanted ? sl_device_packed_check(&b->device_packed) : SL_OK;
}

/*
 * Computes the survivors of the batch in slot, and sets the slot's times of the stages and of the
 * transfer. On a device the survivors are in the slot's pinned memory afterwards.
 */
static enum sl_status run_stages(struct sl_run_workers *run, struct sl_host_slot *slot)
{
	const struct sl_recipe *r = &run->w->recipe;
	struct sl_device_pipeline *pipeline;
	enum sl_status s;
	uint64_t start;

	if (!run->plan->on_device) {
		start = sl_thread_cpu_ns();
		s = sl_stages_run(r, &slot->exec, &slot->batch, slot->ns);
		slot->cpu_ns = sl_thread_cpu_ns() - start;
		return s;
	}
	SL_TRY(read_inputs(r, slot));
	pipeline = take_device_slot(run);
	if (!pipeline)
		return sl_check_cancelled(r);
	start = sl_now_ns();
	slot->batch.device_packed.wanted = r->pack.form != SL_AS_COLUMNS && !run->discard;
	s = sl_device_pipeline_run(r, pipeline, &slot->batch, slot->ns);
	slot->transfer_ns = pipeline->transfer_ns;
	slot->pack_ns = pipeline->pack_ns;
	release_device_slot(run, pipeline, sl_now_ns() - start);
	return s;
}

/* Brings the survivors into the form of the file, or takes over what the device has packed. */
static enum sl_status pack(const struct sl_plan *plan, struct sl_host_slot *slot)
{
	const struct sl_format *f = plan->choices.format;
	struct sl_batch *b = &slot->batch;
	struct sl_table t = sl_format_table(f, &b->table);

	slot->packed.has_crc = false;
	if (b->device_packed.wanted)
		return f->take(&slot->exec, &plan->facts, &t, &b->device_packed, &slot->packed);
	return f->pack(&slot->exec, &plan->facts, &t, &slot->packed);
}

/*
 * Computes and packs the batch in slot. Sets *busy_ns to the time in which this thread worked: on a
 * device, without reading and the wait for the device, which is the time of the pipeline.
 */
static enum sl_status compute(
	struct sl_run_workers *run, struct sl_host_slot *slot, uint64_t *busy_ns)
{
	uint64_t start = sl_now_ns();
	enum sl_status s;

	memset(slot->ns, 0, sizeof(slot->ns));
	slot->pack_ns = slot->cpu_ns = 0;
	s = run_stages(run, slot);
	*busy_ns = run->plan->on_device ? 0 : sl_now_ns() - start;
	start = sl_now_ns();
	if (s == SL_OK && run->plan->on_device)
		s = sl_add_context(check_transfer(&slot->batch), "batch %llu",
			(unsigned long long)slot->batch.number);
	if (s == SL_OK && !run->discard)
		s = sl_add_context(pack(run->plan, slot), "batch %llu, packing",
			(unsigned long long)slot->batch.number);
	start = sl_now_ns() - start;
	slot->pack_ns += start;
	*busy_ns += start;
	return s;
}

/*
 * Computes batch number in slot i, which becomes READY, or FREE after a failure. Called with the
 * lock held, which is released while the batch is computed.
 */
static void compute_batch(struct sl_run_workers *run, uint32_t i, uint64_t number)
{
	struct sl_host_slot *slot = &run->w->slot[i];
	uint64_t start = sl_now_ns(), busy_ns;
	double seconds;
	enum sl_status s;

	run->slot_work[i].state = SL_SLOT_COMPUTING;
	sl_batch_begin(&run->w->recipe, &slot->batch, number);
	slot->batch.turn = run->started++;
	pthread_mutex_unlock(&run->lock);
	s = compute(run, slot, &busy_ns);
	pthread_mutex_lock(&run->lock);
	seconds = 1e-9 * (double)(sl_now_ns() - start);
	run->longest_batch = seconds > run->longest_batch ? seconds : run->longest_batch;
	run->session->busy_ns[SL_WORKER_threads] += busy_ns;
	/* A batch from end on is not part of the run: the stop rule has cancelled it. */
	if (s != SL_OK && number < run->end)
		sl_run_workers_fail(run, s);
	run->slot_work[i].state = s == SL_OK ? SL_SLOT_READY : SL_SLOT_FREE;
	pthread_cond_broadcast(&run->changed);
}

void *sl_compute_thread(void *ctx)
{
	struct sl_run_workers *run = (struct sl_run_workers *)ctx;
	enum sl_status s = sl_plan_use_device(run->plan); /* a setting of each thread */
	uint64_t number;

	pthread_mutex_lock(&run->lock);
	if (s != SL_OK)
		sl_run_workers_fail(run, s);
	for (;;) {
		uint32_t i;

		/* A batch is only taken when it has a slot. Otherwise later batches could fill all
		 * slots, which commits in order cannot free, while this batch waits for a slot. */
		while ((i = find_free(run)) == run->plan->n_host_slots && !run->stop)
			pthread_cond_wait(&run->changed, &run->lock);
		if (i == run->plan->n_host_slots || !take_batch(run, &number))
			break;
		compute_batch(run, i, number);
	}
	run->working--;
	run->computing--;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}
