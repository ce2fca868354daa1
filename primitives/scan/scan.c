/*
 * scan/scan.c - sl_scan(): checks the arguments of a prefix sum, then runs the chosen backend.
 *
 * in and out may be the same array, but may not overlap otherwise. Backends get at least one item.
 */
#include "primitives/check_args.h"
#include "primitives/primitives.h"

enum sl_status sl_scan(const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_scan_job run;
	struct sl_shape shape = {0};
	struct sl_buffer m[3];
	struct sl_exec tuned;
	size_t item;
	int n = 0;

	SL_TRY(sl_check_backend(SL_SCAN, b, x, job));
	SL_TRY(sl_check_type(b, job->type));
	item = sl_type_bytes(job->type);
	m[n++] = (struct sl_buffer){"out", job->out, job->n, item, item, false, 0};
	if (job->in != job->out)
		m[n++] = (struct sl_buffer){"in", job->in, job->n, item, item, true, 0};
	SL_TRY(sl_check_count(b, job->n_on_device, job->n_type, &m[n++]));
	SL_TRY(sl_check_buffers(b, m, n, x));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	if (job->n == 0)
		return SL_OK;
	shape.n = job->n;
	shape.type = job->type;
	shape.tuning = x->tuning;
	SL_TRY(sl_check_scratch(b, x, &shape));
	tuned = sl_tuned_exec(b, x);
	run = *job;
	run.n = sl_host_count(x->space, job->n_on_device, job->n_type, job->n);
	return run.n == 0 ? SL_OK : b->scan(&tuned, &run);
}
