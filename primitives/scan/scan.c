/*
 * scan/scan.c - sl_scan(): checks the arguments of a prefix sum, then runs the chosen backend.
 *
 * in and out may be the same array, but may not overlap otherwise. Backends get at least one item.
 * The sum comes first, because a scan in place overwrites its items.
 */
#include "primitives/scan/scan.h"

#include <string.h>

#include "primitives/check_args.h"

static enum sl_status sum_of_none(const struct sl_exec *x, const struct sl_scan_job *job)
{
	if (!job->sum)
		return SL_OK;
	if (x->space != SL_HOST)
		return sl_fill(job->sum, 0, sl_type_bytes(job->type), x->stream);
	memset(job->sum, 0, sl_type_bytes(job->type));
	return SL_OK;
}

enum sl_status sl_scan(const struct sl_backend *b, struct sl_exec *x, const struct sl_scan_job *job)
{
	struct sl_scan_job run;
	struct sl_shape shape = {0};
	struct sl_buffer m[4];
	struct sl_exec tuned;
	size_t item;
	int n = 0;

	SL_TRY(sl_check_backend(SL_SCAN, b, x, job));
	SL_TRY(sl_check_type(b, job->type));
	if (job->sum && !sl_type_is_float(job->type))
		return sl_fail(SL_USAGE, "scan/%s: sum is of SL_F32 and SL_F64 only; leave it out",
			b->name);
	if (job->n_on_device && sl_type_is_float(job->type))
		return sl_fail(SL_USAGE, "scan/%s: n_on_device is for integers only; leave it out",
			b->name);
	item = sl_type_bytes(job->type);
	m[n++] = (struct sl_buffer){
		"out", job->out, job->out || !job->sum ? job->n : 0, item, item, false, 0};
	m[n++] = (struct sl_buffer){"sum", job->sum, job->sum != NULL, item, item, false, 0};
	if (job->in != job->out)
		m[n++] = (struct sl_buffer){"in", job->in, job->n, item, item, true, 0};
	SL_TRY(sl_check_count(b, job->n_on_device, job->n_type, &m[n++]));
	SL_TRY(sl_check_buffers(b, m, n, x));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	if (job->n == 0)
		return sum_of_none(x, job);
	shape.sum = job->sum != NULL;
	shape.n = job->n;
	shape.type = job->type;
	shape.tuning = x->tuning;
	SL_TRY(sl_check_scratch(b, x, &shape));
	tuned = sl_tuned_exec(b, x);
	run = *job;
	run.n = sl_host_count(x->space, job->n_on_device, job->n_type, job->n);
	if (run.n == 0)
		return sum_of_none(x, job);
	if (job->sum)
		SL_TRY(b->sum(&tuned, &run));
	return job->out ? b->scan(&tuned, &run) : SL_OK;
}

void sl_inner_scan_cut(struct sl_arena *a, const struct sl_choice *chosen,
	const struct sl_backend *usual, uint32_t n)
{
	const struct sl_shape shape = {.n = n, .type = SL_U32, .tuning = chosen->tuning};

	sl_cut(a, sl_scratch(chosen->backend ? chosen->backend : usual, &shape));
}

enum sl_status sl_inner_scan(const struct sl_exec *x, const struct sl_choice *chosen,
	const struct sl_backend *usual, const struct sl_scan_job *job)
{
	const struct sl_backend *b = chosen->backend ? chosen->backend : usual;
	struct sl_exec inner = *x;
	struct sl_scan_job sum = *job;

	inner.tuning = chosen->tuning;
	if (!b->takes_n_on_device)
		sum.n_on_device = NULL;
	return sl_scan(b, &inner, &sum);
}
