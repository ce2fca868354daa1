/*
 * workers.c - what all threads of a run share: the next batch, the session, failures of threads and
 * devices.
 */
#include "pipeline/run/workers.h"
#include "pipeline/run/run.h"

#include <string.h>

void sl_run_workers_fail(struct sl_run_workers *run, enum sl_status s)
{
	/* Later failures mostly follow from the first, for example as cancelled batches. */
	if (run->status == SL_OK) {
		run->status = s;
		memcpy(run->message, sl_last_error(), sizeof(run->message));
	}
	run->stop = true;
	atomic_store(&run->w->cancel, 1);
	pthread_cond_broadcast(&run->changed);
}

/*
 * Both run->next and the lines of done ascend, so one pass over done serves the whole run. Batches
 * of a client come from rank 0, which has skipped those that are done.
 */
bool sl_run_workers_has_next(struct sl_run_workers *run)
{
	if (run->client)
		return sl_batch_client_has_next(run);
	while (run->next_done < run->done->n &&
		run->done->line[run->next_done].batch == run->next) {
		run->next++;
		run->next_done++;
	}
	return !run->stop && run->next < run->end;
}

/* Bytes of the survivors' columns before packing, without columns of one value. */
static uint64_t column_bytes(const struct sl_table *t)
{
	uint64_t row = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		row += t->column[k].constant || t->column[k].internal
		               ? 0
		               : sl_column_facts[t->column[k].column].bytes;
	return row * t->n;
}

uint32_t sl_run_workers_find_first(
	const struct sl_run_workers *run, enum sl_slot_state least, enum sl_slot_state most)
{
	const struct sl_slot_work *work = run->slot_work;
	uint32_t n = run->plan->n_host_slots, first = n;

	for (uint32_t i = 0; i < n; i++)
		if (work[i].state >= least && work[i].state <= most &&
			(first == n ||
				run->w->slot[i].batch.number < run->w->slot[first].batch.number))
			first = i;
	return first;
}

void sl_run_workers_add_to_session(struct sl_run_workers *run, const struct sl_host_slot *slot,
	const struct sl_slot_work *work)
{
	const struct sl_batch_write *w = &work->writing;

	run->session->device_batches[work->device]++;
	run->commits++;
	run->session->batches++;
	run->session->particles += slot->batch.n;
	run->session->column_bytes += column_bytes(&slot->batch.table);
	run->session->file_bytes += w->line.file.bytes;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		run->session->stage_ns[i] += slot->ns[i];
	sl_rounds_add(&run->session->rounds, &slot->batch.rounds);
	run->session->cpu_ns += slot->cpu_ns;
	run->session->transfer_ns += slot->transfer_ns;
	run->session->pack_ns += slot->pack_ns;
	run->session->assemble_ns += w->assemble_ns;
	run->session->commit_ns += w->commit_ns;
}

/* The devices that have not been dropped. */
static uint32_t count_devices(const struct sl_run_workers *run)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < run->plan->n_devices; d++)
		n += !run->w->device[d].dropped;
	return n;
}

/* The first failure of a device is stored; those of its other threads follow from it. */
bool sl_run_workers_drop(struct sl_run_workers *run, uint32_t d, enum sl_status s)
{
	struct sl_run_device *device = &run->w->device[d];

	if (s != SL_DEVICE_FAILED || (!device->dropped && count_devices(run) < 2)) {
		if (s == SL_DEVICE_FAILED && run->plan->n_devices > 1)
			s = sl_add_context(s, "no device is left");
		sl_run_workers_fail(run, s);
		return false;
	}
	if (!device->dropped) {
		memcpy(device->why, sl_last_error(), sizeof(device->why));
		device->dropped = true;
		run->session->dropped_devices++;
	}
	pthread_cond_broadcast(&run->changed);
	return true;
}
