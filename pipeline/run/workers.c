/* workers.c - the end of a run whose threads share a failure. */
#include "pipeline/run/workers.h"

#include <string.h>

void sl_run_workers_fail(struct sl_run_workers *run, enum sl_status s)
{
	if (run->status == SL_OK) {
		run->status = s;
		memcpy(run->message, sl_last_error(), sizeof(run->message));
	}
	run->stop = true;
	atomic_store(&run->w->cancel, 1);
	pthread_cond_broadcast(&run->changed);
}
