/*
 * compute.c - each thread takes a free slot and the next batch, computes the batch and packs it.
 *
 * Threads of a run on the host compute the stages themselves. On a device, a thread also takes a
 * device pipeline and waits for it. By default there are more threads than pipelines: while one
 * batch is on the device, other threads read or pack the batches before and after it.
 *
 * Each thread serves one device. A batch whose device fails keeps its slot, with the particles that
 * were read for it, and a thread of another device computes it again: batches are committed in
 * order, so all other slots could be waiting for this batch.
 */
#include <string.h>

#include "pipeline/run/run.h"
#include "pipeline/run/workers.h"
#include "primitives/base/clock.h"
#include "stages/inputs/inputs.h"
#include "stages/particle/digest.h"

/*
 * The first free slot, or n_host_slots. On several devices preferably one with memory near device
 * d. Called with the lock held.
 */
static uint32_t find_free(const struct sl_run_workers *run, uint32_t d)
{
	uint32_t n = run->plan->n_host_slots, found = n;

	for (uint32_t i = 0; i < n; i++) {
		if (run->slot_work[i].state != SL_SLOT_FREE)
			continue;
		if (run->plan->n_devices < 2 || i % run->plan->n_devices == d)
			return i;
		found = found < n ? found : i;
	}
	return found;
}

static bool is_dropped(const struct sl_run_workers *run, uint32_t d)
{
	return run->plan->n_devices > 1 && run->w->device[d].dropped;
}

/* Is the batch in slot i the first in order of those that wait for its device? */
static bool is_first_waiting(const struct sl_run_workers *run, uint32_t i)
{
	const struct sl_slot_work *work = run->slot_work;

	for (uint32_t j = 0; j < run->plan->n_host_slots; j++)
		if (work[j].waits && work[j].device == work[i].device &&
			run->w->slot[j].batch.number < run->w->slot[i].batch.number)
			return false;
	return true;
}

/* A free pipeline of device d, or NULL. Called with the lock held. */
static struct sl_device_pipeline *find_free_pipeline(const struct sl_run_workers *run, uint32_t d)
{
	uint32_t first = d * run->plan->n_device_slots, end = first + run->plan->n_device_slots;

	for (uint32_t i = first; i < end; i++)
		if (!run->device_slot_taken[i])
			return &run->w->device_pipeline[i];
	return NULL;
}

/*
 * Takes a free pipeline of its device for the batch in slot i, after the batches before it, because
 * commits in order wait for those; NULL if the run is cancelled, or the device fails, before.
 */
static struct sl_device_pipeline *take_device_slot(struct sl_run_workers *run, uint32_t i)
{
	struct sl_slot_work *work = &run->slot_work[i];
	struct sl_device_pipeline *pipeline = NULL;

	pthread_mutex_lock(&run->lock);
	work->waits = true;
	while (!atomic_load(&run->w->cancel) && !is_dropped(run, work->device)) {
		pipeline = is_first_waiting(run, i) ? find_free_pipeline(run, work->device) : NULL;
		if (pipeline)
			break;
		pthread_cond_wait(&run->changed, &run->lock);
	}
	work->waits = false;
	if (pipeline)
		run->device_slot_taken[pipeline - run->w->device_pipeline] = true;
	pthread_cond_broadcast(&run->changed); /* the next batch may be the first now */
	pthread_mutex_unlock(&run->lock);
	return pipeline;
}

/*
 * Frees the pipeline for the next batch; busy_ns is the time for which the batch of work had it.
 */
static void release_device_slot(struct sl_run_workers *run, struct sl_slot_work *work,
	const struct sl_device_pipeline *pipeline, uint64_t busy_ns)
{
	pthread_mutex_lock(&run->lock);
	run->session->busy_ns[SL_WORKER_device] += busy_ns;
	run->device_slot_taken[pipeline - run->w->device_pipeline] = false;
	work->queues = false;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
}

/*
 * If the model reads its particles from files: reads those of the batch into pinned memory of the
 * slot. This happens before the batch takes a device pipeline, so no pipeline waits for a disk.
 */
static enum sl_status read_inputs(
	const struct sl_recipe *r, struct sl_host_slot *slot, struct sl_slot_work *work)
{
	uint64_t start = sl_now_ns();

	if (!r->inputs || work->has_inputs)
		return SL_OK;
	SL_TRY(sl_inputs_read(r->inputs, &slot->batch));
	work->has_inputs = true;
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
 * Waits for copies that were queued before a failure: they must not write to the slot while another
 * device computes its batch again. Keeps the message of the failure.
 */
static void wait_for_copies(const struct sl_device_pipeline *pipeline)
{
	const struct sl_failure why = sl_failure_keep(SL_DEVICE_FAILED);

	(void)sl_failure_first(&why, sl_stream_wait(pipeline->exec.stream));
}

/*
 * Computes the survivors of the batch in slot i, and sets the slot's times of the stages and of the
 * transfer. On a device the survivors are in the slot's pinned memory afterwards.
 */
static enum sl_status run_stages(struct sl_run_workers *run, uint32_t i)
{
	const struct sl_recipe *r = &run->w->recipe;
	struct sl_host_slot *slot = &run->w->slot[i];
	struct sl_slot_work *work = &run->slot_work[i];
	const struct sl_placement *place = &run->w->device[work->device].place;
	struct sl_device_pipeline *pipeline;
	cpu_set_t before;
	enum sl_status s;
	uint64_t start;

	if (!run->plan->on_device) {
		start = sl_thread_cpu_ns();
		s = sl_stages_run(r, &slot->exec, &slot->batch, slot->ns);
		slot->cpu_ns = sl_thread_cpu_ns() - start;
		return s;
	}
	SL_TRY(read_inputs(r, slot, work));
	pipeline = take_device_slot(run, i);
	if (!pipeline) {
		SL_TRY(sl_check_cancelled(r));
		return SL_DEVICE_FAILED; /* the thread that met the failure has the message */
	}
	start = sl_now_ns();
	slot->batch.device_packed.wanted = r->pack.form != SL_AS_COLUMNS && !run->discard;
	sl_placement_enter(place, &before); /* pinned memory that the batch needs is taken there */
	s = sl_device_pipeline_run(r, pipeline, &slot->batch, slot->ns);
	sl_placement_leave(place, &before);
	if (s == SL_DEVICE_FAILED && run->plan->n_devices > 1)
		wait_for_copies(pipeline);
	slot->transfer_ns = pipeline->transfer_ns;
	slot->pack_ns = pipeline->pack_ns;
	release_device_slot(run, work, pipeline, sl_now_ns() - start);
	return s;
}

/* Brings the survivors into the form of the file, or takes over what the device has packed. */
static enum sl_status pack(const struct sl_plan *plan, struct sl_host_slot *slot)
{
	const struct sl_format *f = plan->choices.format;
	struct sl_batch *b = &slot->batch;
	struct sl_table t = sl_format_table(f, &b->table);

	return sl_format_pack(f, &slot->exec, &plan->facts, &t,
		b->device_packed.wanted ? &b->device_packed : NULL, &slot->packed);
}

/*
 * Computes and packs the batch in slot i. Sets *busy_ns to the time in which this thread worked: on
 * a device, without reading and the wait for the device, which is the time of the pipeline.
 */
static enum sl_status compute(struct sl_run_workers *run, uint32_t i, uint64_t *busy_ns)
{
	struct sl_host_slot *slot = &run->w->slot[i];
	uint64_t start = sl_now_ns();
	enum sl_status s;

	memset(slot->ns, 0, sizeof(slot->ns));
	slot->pack_ns = slot->cpu_ns = 0;
	s = run_stages(run, i);
	*busy_ns = run->plan->on_device ? 0 : sl_now_ns() - start;
	start = sl_now_ns();
	if (s == SL_OK && run->plan->on_device)
		s = sl_add_context(check_transfer(&slot->batch), "batch %lu", slot->batch.number);
	if (s == SL_OK && !run->discard)
		s = sl_add_context(pack(run->plan, slot), "batch %lu, packing", slot->batch.number);
	start = sl_now_ns() - start;
	slot->pack_ns += start;
	*busy_ns += start;
	return s;
}

/*
 * Sets the state of slot i after its batch was computed: READY, LOST if its device failed and
 * another one is left, else FREE. Called with the lock held.
 */
static void end_batch(struct sl_run_workers *run, uint32_t i, enum sl_status s)
{
	struct sl_slot_work *work = &run->slot_work[i];

	work->state = s == SL_OK ? SL_SLOT_READY : SL_SLOT_FREE;
	/* A batch from end on is not part of the run: the stop rule has cancelled it. */
	if (s != SL_OK && run->w->slot[i].batch.number < run->end &&
		sl_run_workers_drop(run, work->device, s))
		work->state = SL_SLOT_LOST;
	pthread_cond_broadcast(&run->changed);
}

/*
 * Computes batch number in slot i on device d. A batch that was lost has its turn and its particles
 * already. Called with the lock held, which is released while the batch is computed.
 */
static void compute_batch(struct sl_run_workers *run, uint32_t d, uint32_t i, uint64_t number)
{
	struct sl_slot_work *work = &run->slot_work[i];
	struct sl_batch *b = &run->w->slot[i].batch;
	uint64_t start = sl_now_ns(), busy_ns;
	bool lost = work->state == SL_SLOT_LOST;
	double seconds;
	enum sl_status s;

	work->state = SL_SLOT_COMPUTING;
	work->device = d;
	work->queues = true;
	work->has_inputs &= lost;
	sl_batch_begin(&run->w->recipe, b, number);
	if (!lost)
		b->turn = run->started++;
	pthread_mutex_unlock(&run->lock);
	s = compute(run, i, &busy_ns);
	pthread_mutex_lock(&run->lock);
	seconds = 1e-9 * (double)(sl_now_ns() - start);
	run->longest_batch = seconds > run->longest_batch ? seconds : run->longest_batch;
	run->session->busy_ns[SL_WORKER_threads] += busy_ns;
	end_batch(run, i, s);
}

/*
 * Has device d enough batches? One more than its pipelines take lets a pipeline start the next
 * batch without a wait. Further ones would wait for this device, perhaps a slow one, while others
 * are free. Batches of lists are read in the meantime, so they may wait.
 */
static bool is_supplied(const struct sl_run_workers *run, uint32_t d)
{
	uint32_t n = 0;

	if (run->w->recipe.inputs)
		return false;
	for (uint32_t i = 0; i < run->plan->n_host_slots; i++)
		n += run->slot_work[i].state == SL_SLOT_COMPUTING &&
		     run->slot_work[i].device == d && run->slot_work[i].queues;
	return n > run->plan->n_device_slots;
}

/*
 * Can device d start a new batch? A trial uses the first device that works, because each trial must
 * be timed on the same one.
 */
static bool may_start(const struct sl_run_workers *run, uint32_t d)
{
	uint32_t first = 0;

	if (run->plan->n_devices < 2)
		return true;
	while (run->trial && is_dropped(run, first))
		first++;
	return run->trial ? d == first : !is_supplied(run, d);
}

/*
 * Takes a batch for device d: one that was lost, else the next one. A batch is only taken when it
 * has a slot. Otherwise later batches could fill all slots, which commits in order cannot free,
 * while this batch waits for a slot. Called with the lock held.
 */
static bool take_batch(struct sl_run_workers *run, uint32_t d, uint32_t *i, uint64_t *number)
{
	uint32_t n = run->plan->n_host_slots;

	*i = sl_run_workers_find_first(run, SL_SLOT_LOST, SL_SLOT_LOST);
	if (*i < n) {
		*number = run->w->slot[*i].batch.number;
		return true;
	}
	*i = find_free(run, d);
	if (*i == n || !may_start(run, d) || !sl_run_workers_has_next(run))
		return false;
	*number = run->client ? sl_batch_client_take(run) : run->next++;
	return true;
}

/*
 * Will no batch come for this thread? On several devices, one that is being computed can still be
 * lost. Called with the lock held.
 */
static bool is_over(struct sl_run_workers *run)
{
	if (sl_run_workers_has_next(run) || (run->client && sl_batch_client_may_get_more(run)))
		return false;
	for (uint32_t i = 0; run->plan->n_devices > 1 && i < run->plan->n_host_slots; i++)
		if (run->slot_work[i].state == SL_SLOT_COMPUTING)
			return false;
	return true;
}

/*
 * Makes device d current and moves the calling thread near it. These are settings of each thread.
 * Called with the lock held, which is released meanwhile.
 */
static void join_device(struct sl_run_workers *run, uint32_t d)
{
	const struct sl_run_device *device = &run->w->device[d];
	cpu_set_t before;
	enum sl_status s;

	pthread_mutex_unlock(&run->lock);
	s = sl_plan_use_device(run->plan, d);
	if (device->binds)
		sl_placement_enter(&device->place, &before);
	pthread_mutex_lock(&run->lock);
	if (s != SL_OK)
		(void)sl_run_workers_drop(run, d, s);
}

void *sl_compute_thread(void *ctx)
{
	struct sl_run_workers *run = (struct sl_run_workers *)ctx;
	uint64_t number;
	uint32_t d, i;

	pthread_mutex_lock(&run->lock);
	d = run->plan->n_devices > 0 ? run->computers++ % run->plan->n_devices : 0;
	join_device(run, d);
	while (!is_dropped(run, d)) {
		if (take_batch(run, d, &i, &number))
			compute_batch(run, d, i, number);
		else if (is_over(run))
			break;
		else
			pthread_cond_wait(&run->changed, &run->lock);
	}
	run->working--;
	run->computing--;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}
