/*
 * compact/compact.c - sl_compact(): checks the arguments of a stream compaction, then runs the
 * chosen backend, which gets at least one item.
 */
#include "primitives/check_args.h"
#include "primitives/primitives.h"

/* Buffers of a job: n_on_device, keep, out, n_out, and both ends of each column. */
enum { BUFFERS_MAX = 4 + 2 * SL_COMPACT_COLUMNS_MAX };

/* Lists every buffer of the job for the check. out may be NULL if there are columns. */
static int list_buffers(const struct sl_compact_job *job, struct sl_buffer m[BUFFERS_MAX])
{
	const size_t word = sizeof(uint32_t);
	uint32_t n_indices = job->out || job->n_columns == 0 ? job->n : 0;
	int n = 1; /* the first is n_on_device */

	m[n++] = (struct sl_buffer){"keep", job->keep, job->n, 1, 1, true, 0};
	m[n++] = (struct sl_buffer){"out", job->out, n_indices, word, word, false, 0};
	m[n++] = (struct sl_buffer){"n_out", job->n_out, 1, word, word, false, 0};
	return n + sl_list_columns(job->n_columns, job->column, job->n, job->n, m + n);
}

/* The answer for no items. */
static enum sl_status count_none(const struct sl_exec *x, const struct sl_compact_job *job)
{
	if (x->space != SL_HOST)
		return sl_fill(job->n_out, 0, sizeof(*job->n_out), x->stream);
	*job->n_out = 0;
	return SL_OK;
}

enum sl_status sl_compact(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_compact_job *job)
{
	struct sl_compact_job run;
	struct sl_shape shape = {0};
	struct sl_buffer m[BUFFERS_MAX];
	struct sl_exec tuned;

	SL_TRY(sl_check_backend(SL_COMPACT, b, x, job));
	SL_TRY(sl_check_inner_scan(b, &job->scan));
	SL_TRY(sl_tuning_check(b, x->tuning, SL_U32));
	SL_TRY(sl_check_columns(b, job->n_columns, job->column));
	SL_TRY(sl_check_count(b, job->n_on_device, job->n_type, &m[0]));
	SL_TRY(sl_check_buffers(b, m, list_buffers(job, m), x));
	if (job->n == 0)
		return count_none(x, job);
	shape.n = job->n;
	shape.tuning = x->tuning;
	shape.scan = job->scan;
	shape.n_columns = job->n_columns;
	SL_TRY(sl_check_scratch(b, x, &shape));
	tuned = sl_tuned_exec(b, x);
	run = *job;
	run.n = sl_host_count(x->space, job->n_on_device, job->n_type, job->n);
	return run.n == 0 ? count_none(x, job) : b->compact(&tuned, &run);
}
