/* workers.c - passes a failure of one thread, or of one device, to all threads of a run. */
#include "pipeline/run/workers.h"

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
	}
	pthread_cond_broadcast(&run->changed);
	return true;
}
