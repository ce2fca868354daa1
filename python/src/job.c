/* job.c - see src.h. */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/config/reader/reader.h"
#include "primitives/base/clock.h"
#include "primitives/device/device.h"
#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"
#include "stages/batch/resident.h"

/* Batches that wait for the caller; the job waits while there are so many. */
enum { QUEUE_MOST = 2 };

/* The interval between looks at the flag that stops the job, in nanoseconds. */
enum { INTERVAL_NS = 50000000 };

/* The stack of the thread: pipelines print and plan with large local arrays. */
enum { STACK_BYTES = 8 << 20 };

/* --- batches, in the thread ------------------------------------------------------------------- */

void sl_py_batch_free(struct sl_py_batch *b)
{
	for (uint32_t k = 0; b && !b->block && k < b->table.n_columns; k++)
		sl_memory_give(SL_HOST, b->table.column[k].data);
	if (b)
		sl_block_give(b->block);
	free(b);
}

/* Copies the columns, or takes over their block: they were written before the commit. */
static enum sl_status copy_batch(struct sl_batch *from, struct sl_py_batch *b)
{
	b->number = from->number;
	b->first_id = from->first_id;
	b->generated = from->n;
	b->table = from->table;
	b->table.n = from->n_survivors;
	b->block = from->resident;
	b->table.n_columns = 0;
	for (uint32_t k = 0; k < from->table.n_columns; k++) {
		struct sl_table_column *to = &b->table.column[k];

		if (b->block)
			to->data = sl_resident_column(from, k);
		else
			SL_TRY(sl_py_copy_items(&from->table.column[k], b->table.n, &to->data));
		b->table.n_columns++;
	}
	from->resident = NULL;
	return SL_OK;
}

/*
 * Appends b to the queue, or frees it if the job is to stop. The end of the interpreter sets stop
 * without a signal to the condition.
 */
static enum sl_status enqueue(struct sl_py_job *job, struct sl_py_batch *b)
{
	enum sl_status s = SL_OK;

	pthread_mutex_lock(&job->lock);
	sl_py_turn_idle(job->queued >= QUEUE_MOST);
	while (job->queued >= QUEUE_MOST && atomic_load(&job->control.stop) == 0)
		sl_change_wait(&job->changed, &job->lock, INTERVAL_NS);
	sl_py_turn_idle(false);
	if (atomic_load(&job->control.stop) != 0) {
		sl_py_batch_free(b);
		s = sl_fail(SL_STOPPED, "the run was interrupted");
	} else {
		*(job->last ? &job->last->next : &job->first) = b;
		job->last = b;
		job->queued++;
		pthread_cond_broadcast(&job->changed);
	}
	pthread_mutex_unlock(&job->lock);
	return s;
}

enum sl_status sl_py_job_deliver(void *job, struct sl_host_slot *slot)
{
	struct sl_py_batch *b = (struct sl_py_batch *)calloc(1, sizeof(*b));
	enum sl_status s;

	if (!b)
		return sl_fail(SL_HOST_MEMORY, "no memory for a batch of survivors");
	s = copy_batch(&slot->batch, b);
	if (s != SL_OK) {
		sl_py_batch_free(b);
		return s;
	}
	return enqueue((struct sl_py_job *)job, b);
}

void sl_py_job_progress(void *ctx, const struct sl_progress *p)
{
	struct sl_py_job *job = (struct sl_py_job *)ctx;

	pthread_mutex_lock(&job->lock);
	job->progress = *p;
	pthread_mutex_unlock(&job->lock);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void *run_thread(void *ctx)
{
	struct sl_py_job *job = (struct sl_py_job *)ctx;

	job->status = sl_py_turn_take(job->opener, job->asked.resident, &job->control.stop);
	if (job->status == SL_OK) {
		bool emulated = sl_device_is_emulated();

		job->status = job->work(job);
		sl_py_turn_end(emulated); /* decides what run.device: auto means for the next job */
	}
	if (job->status != SL_OK)
		memcpy(job->message, sl_last_error(), sizeof(job->message));
	pthread_mutex_lock(&job->lock);
	job->ended = true;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

bool sl_py_job_start(struct sl_py_job *job)
{
	int error;

	if (sl_py_turn_is_mine()) {
		sl_py_raise(SL_USAGE,
			"this thread has a run in progress, such as an open stream; finish it or close() "
			"it first",
			NULL);
		return false;
	}
	job->opener = pthread_self();
	job->process = (int)getpid();
	pthread_mutex_init(&job->lock, NULL);
	sl_change_init(&job->changed);
	error = sl_thread_start(STACK_BYTES, run_thread, job, &job->thread);
	job->started = error == 0;
	if (error != 0)
		sl_py_raise(SL_HOST_MEMORY, strerror(error), NULL);
	return error == 0;
}

/* --- the caller ------------------------------------------------------------------------------- */

bool sl_py_job_next(
	struct sl_py_job *job, long ns, struct sl_py_batch **batch, struct sl_progress *progress)
{
	struct sl_py_batch *b;
	bool ended;

	pthread_mutex_lock(&job->lock);
	if (!job->first && !job->ended)
		sl_change_wait(&job->changed, &job->lock, ns);
	b = *batch = job->first;
	if (b) {
		job->first = b->next;
		job->last = job->first ? job->last : NULL;
		job->queued--;
		b->next = NULL;
		pthread_cond_broadcast(&job->changed);
	}
	ended = job->ended && !b;
	*progress = job->progress;
	pthread_mutex_unlock(&job->lock);
	return ended;
}

/* Lets the thread end at once and waits for it. */
static void stop(struct sl_py_job *job)
{
	if (!job->started || job->process != (int)getpid())
		return;
	pthread_mutex_lock(&job->lock);
	atomic_store(&job->control.stop, SL_STOP_AT_ONCE);
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	pthread_join(job->thread.id, NULL);
	job->started = false;
}

void sl_py_job_free(struct sl_py_job *job)
{
	struct sl_py_batch *next;

	if (!job)
		return;
	stop(job);
	for (struct sl_py_batch *b = job->first; b; b = next) {
		next = b->next;
		sl_py_batch_free(b);
	}
	sl_config_close(job->reader);
	free((void *)job->asked.set);
	free((void *)job->asked.input);
	free(job->text);
	free(job->facts);
	sl_memory_give(SL_HOST, job->header);
	sl_memory_give(SL_HOST, job->image);
	sl_memory_give(SL_HOST, job->count);
	sl_memory_give(SL_HOST, job->value);
	free(job);
}
