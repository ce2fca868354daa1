/* workers.c - the end of a run whose threads share a failure. */
#include "pipeline/run/workers.h"

#include <string.h>

void sl_run_workers_fail(struct sl_run_workers *c, enum sl_status s)
{
	if (c->status == SL_OK) {
		c->status = s;
		memcpy(c->message, sl_last_error(), sizeof(c->message));
	}
	c->stop = true;
	atomic_store(&c->w->drop, 1);
	pthread_cond_broadcast(&c->changed);
}
