/*
 * expand/expand.c - sl_expand(): checks the arguments, adds up lengths, then runs the chosen
 * backend.
 *
 * Backends get at least one run and one slot, and always the ends of the runs: starts are the ends
 * of the runs before, so starts + 1 are ends, of which backends read n - 1.
 */
#include "primitives/check_args.h"
#include "primitives/scan/scan.h"

/* Buffers of a job: runs, out, and both ends of each column. */
enum { BUFFERS_MAX = 2 + 2 * SL_COMPACT_COLUMNS_MAX };

static enum sl_status check_runs(const struct sl_backend *b, const struct sl_expand_job *job)
{
	if (job->form != SL_RUN_ENDS && job->form != SL_RUN_STARTS && job->form != SL_RUN_COUNTS)
		return sl_fail(SL_USAGE,
			"expand/%s: form %d is unknown; use SL_RUN_ENDS, SL_RUN_STARTS or "
			"SL_RUN_COUNTS",
			b->name, (int)job->form);
	if (job->n > 0 || job->n_out == 0)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"expand/%s: there are %u slots, but no run that they can be in; pass at least one",
		b->name, job->n_out);
}

/* Lists every buffer of the job for the check. out may be NULL if there are columns. */
static int list_buffers(const struct sl_expand_job *job, struct sl_buffer m[BUFFERS_MAX])
{
	const size_t word = sizeof(uint32_t), item = sl_type_bytes(job->type);
	uint32_t n_indices = job->out || job->n_columns == 0 ? job->n_out : 0;
	int n = 0;

	m[n++] = (struct sl_buffer){"runs", job->runs, job->n, item, item, true, 0};
	m[n++] = (struct sl_buffer){"out", job->out, n_indices, word, word, false, 0};
	return n + sl_list_columns(job->n_columns, job->column, job->n, job->n_out, m + n);
}

/* Adds up the counts in scratch, which the backend must not use: ends->runs. */
static enum sl_status add_counts(const struct sl_backend *b, struct sl_exec *x,
	const struct sl_expand_job *job, struct sl_expand_job *ends)
{
	void *sums = sl_cut_items(&x->scratch, job->n, sl_type_bytes(job->type));

	ends->runs = sums;
	return sl_inner_scan(x, &job->scan, sl_scan_of_counts(b, &job->scan),
		&(struct sl_scan_job){.in = job->runs,
			.out = sums,
			.n = job->n,
			.type = job->type,
			.inclusive = true});
}

enum sl_status sl_expand(
	const struct sl_backend *b, struct sl_exec *x, const struct sl_expand_job *job)
{
	struct sl_buffer m[BUFFERS_MAX];
	struct sl_expand_job ends;
	struct sl_shape shape = {0};
	struct sl_exec tuned;

	SL_TRY(sl_check_backend(SL_EXPAND, b, x, job));
	SL_TRY(sl_check_type(b, job->type));
	SL_TRY(check_runs(b, job));
	SL_TRY(sl_check_inner_scan(b, &job->scan));
	SL_TRY(sl_tuning_check(b, x->tuning, job->type));
	SL_TRY(sl_check_columns(b, job->n_columns, job->column));
	SL_TRY(sl_check_buffers(b, m, list_buffers(job, m), x));
	if (job->n_out == 0)
		return SL_OK;
	shape.n = job->n;
	shape.n_out = job->n_out;
	shape.counts = job->form == SL_RUN_COUNTS;
	shape.type = job->type;
	shape.tuning = x->tuning;
	shape.scan = job->scan;
	shape.n_columns = job->n_columns;
	SL_TRY(sl_check_scratch(b, x, &shape));
	tuned = sl_tuned_exec(b, x);
	ends = *job;
	if (job->form == SL_RUN_STARTS)
		ends.runs = (const char *)job->runs + sl_type_bytes(job->type);
	if (job->form == SL_RUN_COUNTS)
		SL_TRY(add_counts(b, &tuned, job, &ends));
	return b->expand(&tuned, &ends);
}
