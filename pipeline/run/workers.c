/* workers.c - passes a failure of one thread to all threads of a run. */
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
