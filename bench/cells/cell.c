/*
 * cell.c - runs a job by one backend after another: checks the answer, times the call, prints the
 * row.
 *
 * The cross check (tests/cases/cross_check.h) compares all answers of a job with the first one,
 * which the host has checked. Sorts write to separate output arrays, because CUB's do. The copy
 * moves n words within device memory, 8 bytes per item, the highest speed that a primitive can
 * reach. The bytes of a row are the least that any algorithm must move: input read once, output
 * written once.
 */
#include "bench/cells/cells.h"

#include <string.h>

#include "bench/cub/cub.h"

/* Once for each table and size. */
static enum sl_status measure_copy(struct sl_bench *b, uint32_t n)
{
	const struct sl_job words = {SL_SCAN, {.n = n, .type = SL_U32}};
	struct sl_cell_row row = {.primitive = "copy", .backend = "device", .job = &words};

	b->cub_ms = 0;
	SL_TRY(sl_copy_time(b, n, &row.times));
	row.bytes = 2 * sizeof(uint32_t) * n;
	b->copy_n = n;
	b->copy_gb_s = sl_cell_row_gb_s(&row);
	sl_cell_row_show(b, &row, NULL);
	return SL_OK;
}

/* --- a backend -------------------------------------------------------------------------------- */

static enum sl_status load_inputs(void *ctx)
{
	return sl_cross_check_load((struct sl_cross_check *)ctx);
}

static enum sl_status run_backend(void *ctx)
{
	struct sl_cross_check *c = (struct sl_cross_check *)ctx;

	return c->of->run(&c->trial);
}

/* CUB adds floating-point items in another order, so that its answer has other bits: not compared. */
static enum sl_status run_unchecked(struct sl_cross_check *c)
{
	SL_TRY(load_inputs(c));
	SL_TRY(run_backend(c));
	return sl_stream_wait(NULL);
}

static enum sl_status check(
	struct sl_cross_check *c, const struct sl_backend *backend, struct sl_tuning tuning)
{
	SL_TRY(sl_cross_check_select(c, backend, tuning));
	return sl_type_is_float(c->trial.set.type) && strcmp(backend->name, "CUB") == 0
	               ? run_unchecked(c)
	               : sl_cross_check_run(c);
}

enum sl_status sl_cell_time(const struct sl_bench *b, struct sl_cross_check *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_call_times *times)
{
	const struct sl_timed_call timed = {c, load_inputs, run_backend};

	SL_TRY(check(c, backend, tuning));
	return sl_stopwatch_time(&b->watch, &timed, times);
}

/*
 * Checks the answer, times the call and, on the emulated device, counts its accesses. Times of that
 * device are taken only if the caller wants them, because they are not shown.
 */
static enum sl_status measure_row(const struct sl_bench *b, struct sl_cross_check *c,
	const struct sl_backend *backend, struct sl_tuning tuning, bool times_wanted,
	struct sl_cell_row *row)
{
	const struct sl_timed_call call = {c, load_inputs, run_backend};

	SL_TRY(check(c, backend, tuning));
	if (times_wanted || !sl_device_is_emulated())
		SL_TRY(sl_stopwatch_time(&b->watch, &call, &row->times));
	return sl_device_is_emulated() ? sl_accesses_count(&call, &row->accesses) : SL_OK;
}

enum sl_status sl_cell_measure(struct sl_bench *b, struct sl_cross_check *c,
	const struct sl_backend *backend, struct sl_tuning tuning, struct sl_call_times *times)
{
	const struct sl_setting *set = &c->trial.set;
	const struct sl_job job = {c->of->primitive, *set};
	struct sl_cell_row row = {.primitive = sl_job_name(&job),
		.backend = backend->name,
		.job = &job,
		.tuning = sl_tuning_of(backend, tuning)};
	enum sl_status s = measure_row(b, c, backend, tuning, times != NULL, &row);

	if (times)
		*times = row.times;
	row.bytes = c->of->bytes_moved(&c->trial);
	sl_cell_row_show(b, &row, s == SL_OK ? NULL : sl_last_error());
	b->wrong = b->wrong || s == SL_CHECK_FAILED;
	return s == SL_DEVICE_FAILED ? s : SL_OK;
}

/* CUB is measured first, because the rows of the backends contain the ratio to it. */
static enum sl_status measure_cub(struct sl_bench *b, struct sl_cross_check *c)
{
	struct sl_call_times times = {.gated = false};

	b->cub_ms = 0;
	if (sl_cub_version > 0 && !sl_device_is_emulated())
		SL_TRY(sl_cell_measure(
			b, c, &sl_cub_backends[c->of->primitive], (struct sl_tuning){0}, &times));
	b->cub_ms = times.ms.median;
	return SL_OK;
}

enum sl_status sl_job_open(struct sl_bench *b, const struct sl_job *job, struct sl_cross_check *c)
{
	if (b->copy_n != job->set.n && !sl_device_is_emulated())
		SL_TRY(measure_copy(b, job->set.n));
	SL_TRY(sl_cross_check_open(job->primitive, &job->set, c));
	return measure_cub(b, c);
}

/* The backend that runs the job now. */
struct turn {
	struct sl_bench *b;
	struct sl_cross_check *c;
	const struct sl_backend *backend;
};

static enum sl_status measure_tuning(void *ctx, struct sl_tuning tuning)
{
	struct turn *t = (struct turn *)ctx;
	const struct sl_job job = {t->c->of->primitive, t->c->trial.set};
	char text[SL_JOB_BYTES];

	if (sl_bench_has_time(t->b, 0))
		return sl_cell_measure(t->b, t->c, t->backend, tuning, NULL);
	sl_bench_table_leave_out(t->b->table, "%s, %s, block=%u, items=%u, padding=%s",
		sl_job_text(&job, text), t->backend->name, tuning.block, tuning.items,
		sl_padding_name(tuning.padding));
	return SL_OK;
}

static enum sl_status measure_job(struct sl_bench *b, const struct sl_job *job)
{
	SL_CLOSED_BY(sl_cross_check_close) struct sl_cross_check c = {.of = NULL};
	struct turn turn = {b, &c, NULL};

	SL_TRY(sl_job_open(b, job, &c));
	for (size_t i = 0; (turn.backend = sl_job_backend(b->options, job->primitive, i)) != NULL;
		i++)
		SL_TRY(sl_tunings_each(
			turn.backend, job->set.type, b->options, measure_tuning, &turn));
	return SL_OK;
}

/* Upper bound of the time that the host needs to make and check a job. */
static double host_seconds(const struct sl_job *job)
{
	static const double ns_per_item[] = {
		[SL_SCAN] = 15, [SL_COMPACT] = 15, [SL_SORT] = 60, [SL_EXPAND] = 30};
	const struct sl_moved_columns *columns = &job->set.columns;

	return 1e-9 * (ns_per_item[job->primitive] + columns->n * columns->bytes) *
	       (double)job->set.n;
}

enum sl_status sl_job_measure(struct sl_bench *b, const struct sl_job *job)
{
	char text[SL_JOB_BYTES];
	enum sl_status s;

	if (!sl_job_backend(b->options, job->primitive, 0))
		return SL_OK;
	if (!sl_bench_has_time(b, host_seconds(job))) {
		sl_bench_table_leave_out(b->table, "%s", sl_job_text(job, text));
		return SL_OK;
	}
	s = sl_add_context(measure_job(b, job), "%s", sl_job_text(job, text));
	if (s != SL_DEVICE_MEMORY && s != SL_HOST_MEMORY)
		return s;
	printf("not measured: %s\n", sl_last_error());
	sl_bench_table_leave_out(b->table, "%s", sl_last_error());
	return SL_OK;
}

struct copy_call {
	void *from, *to;
	size_t bytes;
};

static enum sl_status run_copy(void *ctx)
{
	const struct copy_call *c = (const struct copy_call *)ctx;

	return sl_copy(c->to, c->from, c->bytes, NULL);
}

static enum sl_status time_copy(
	const struct sl_bench *b, struct copy_call *c, struct sl_call_times *times)
{
	const struct sl_timed_call timed = {c, NULL, run_copy};

	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->from));
	SL_TRY(sl_memory_get(SL_DEVICE, c->bytes, &c->to));
	SL_TRY(sl_fill(c->from, 1, c->bytes, NULL));
	SL_TRY(run_copy(c));
	return sl_stopwatch_time(&b->watch, &timed, times);
}

enum sl_status sl_copy_time(const struct sl_bench *b, uint32_t n, struct sl_call_times *times)
{
	struct copy_call c = {.bytes = n * sizeof(uint32_t)};
	enum sl_status s = time_copy(b, &c, times);

	sl_memory_give(SL_DEVICE, c.from);
	sl_memory_give(SL_DEVICE, c.to);
	return sl_add_context(s, "copy of %u words", n);
}
