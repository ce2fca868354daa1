/*
 * case_run.c - runs and times one case.
 *
 * All batches run without output, then with output, then the first batch alone. Each part repeats
 * until has_enough_samples(). on_batch() sees every finished batch: it compares the batch with the
 * reference and keeps its stage times.
 */
#include "pipeline/compare/cases/case_plan.h"
#include "pipeline/compare/cases/cases.h"
#include "pipeline/compare/cases/case_run.h"

#include <math.h>
#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/compare/cases/temp_dir.h"
#include "pipeline/plan/memory.h"
#include "pipeline/batch_file/batch_file.h"
#include "stages/host/min_traffic.h"

/*
 * Limits of repeated timing: at most SAMPLES, fewer (at least SAMPLES_FEW) after seconds_enough. A
 * median of three is the smallest that tolerates one disturbed run.
 */
enum { SAMPLES = 11, SAMPLES_FEW = 3 };
static const double seconds_enough = 1;

/* State of a case that runs. */
struct attempt {
	const struct sl_comparison *c;
	struct sl_comparison_case *entry;
	struct sl_reference *reference;
	struct sl_control *control;
	struct sl_dir *dir;           /* where output goes; NULL: no output */
	const struct sl_plan *plan;   /* the plan that runs now */
	double ms[SL_TIMES][SAMPLES]; /* samples of the times of a batch */
	uint32_t n_samples;           /* on_batch() writes the times of a batch to this index */
};

/* --- runs ------------------------------------------------------------------------------------- */

static void take_times(struct attempt *a, const struct sl_host_slot *slot)
{
	const struct sl_recipe *r = &a->plan->recipe;
	const struct sl_batch *b = &slot->batch;

	double sum = 0;

	for (int i = 0; i < SL_TIME_SUM; i++) {
		uint64_t ns = i < SL_TIME_TRANSFER ? slot->ns[i] : slot->transfer_ns;

		a->ms[i][a->n_samples] = (double)ns / 1e6;
		sum += (double)ns / 1e6;
	}
	a->ms[SL_TIME_SUM][a->n_samples] = sum;
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		a->entry->bytes[s] =
			sl_stage_min_bytes(r, (enum sl_stage_number)s, b->n, b->n_survivors);
	a->entry->bytes[SL_TIME_TRANSFER] = 0;
	for (uint32_t k = 0; a->entry->on_device && k < b->table.n_columns; k++)
		if (!b->table.column[k].constant)
			a->entry->bytes[SL_TIME_TRANSFER] +=
				(uint64_t)b->n_survivors *
				sl_column_facts[b->table.column[k].column].bytes;
}

static enum sl_status on_batch(void *ctx, struct sl_host_slot *slot)
{
	struct attempt *a = (struct attempt *)ctx;

	sl_reference_check(a->reference, a->entry, &slot->batch);
	take_times(a, slot);
	if (a->dir) {
		char name[SL_FILE_NAME_BYTES];

		sl_batch_file_name(a->plan, slot->batch.number, name);
		(void)sl_file_remove(a->dir, name);
		sl_batch_histogram_file_name(a->plan, slot->batch.number, name);
		if (name[0])
			(void)sl_file_remove(a->dir, name);
	}
	return SL_OK;
}

/*
 * Runs the plan of w once and sets *ms to its duration. Output goes to a->dir, which is empty again
 * afterwards, or is discarded if a->dir is NULL.
 */
static enum sl_status run_once(struct attempt *a, struct sl_workspace *w, double *ms)
{
	const struct sl_manifest none = {0};
	struct sl_session session;
	enum sl_status s;

	a->plan = w->plan;
	a->control->batch = on_batch;
	a->control->ctx = a;
	a->control->discard = !a->dir;
	s = sl_run(w, a->dir, &none, a->control, &session);
	if (a->dir && s == SL_OK)
		s = sl_dir_empty(a->dir);
	if (s == SL_OK && atomic_load(&a->control->stop))
		s = SL_STOPPED;
	*ms = round(1e9 * session.seconds) / 1e6;
	return s;
}

/* --- times ------------------------------------------------------------------------------------ */

/* Are n samples of ms in total enough? One is, on the emulated device, which is not timed. */
static bool has_enough_samples(const struct attempt *a, uint32_t n, double ms)
{
	if (sl_case_is_emulated(a->entry))
		return n > 0;
	return n == SAMPLES || (n >= SAMPLES_FEW && ms >= 1e3 * seconds_enough);
}

/*
 * Runs the plan of w until there are enough samples, and sets ms to the durations. The first run
 * checks the results and warms up. It is the only sample if it takes at least long_ms, because the
 * cost of warming up is then small in comparison, and on the emulated device.
 */
static enum sl_status take_samples(
	struct attempt *a, struct sl_workspace *w, double long_ms, double ms[SAMPLES])
{
	double total = 0;

	a->n_samples = 0;
	SL_TRY(run_once(a, w, &ms[0]));
	a->reference->recorded = true;
	if (ms[0] >= long_ms || has_enough_samples(a, 1, 0)) {
		a->n_samples = 1;
		return SL_OK;
	}
	while (!has_enough_samples(a, a->n_samples, total)) {
		SL_TRY(run_once(a, w, &ms[a->n_samples]));
		total += ms[a->n_samples++];
	}
	return SL_OK;
}

/*
 * Times all batches with the threads and slots of a run. On the emulated device, counts the accesses
 * of the run without output; that with output has the same kernels.
 */
static enum sl_status time_whole(
	struct attempt *a, struct sl_workspace *w, struct sl_spread *spread)
{
	double ms[SAMPLES];

	if (sl_case_is_emulated(a->entry)) {
		enum sl_status s;

		if (a->dir)
			return take_samples(a, w, 0, ms);
		sl_access_start();
		s = take_samples(a, w, 0, ms);
		a->entry->accesses = sl_access_stop();
		return s;
	}
	SL_TRY(take_samples(a, w, 1e3 * seconds_enough, ms));
	*spread = sl_spread_of(ms, a->n_samples);
	return SL_OK;
}

static enum sl_status run_whole(struct attempt *a, struct sl_dir *dir)
{
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	enum sl_status s = sl_case_plan(a->c, a->entry, false, &plan, &w);

	if (s == SL_OK) {
		a->entry->threads = plan->threads;
		a->entry->device_slots = plan->n_device_slots;
		s = time_whole(a, w, &a->entry->without_output);
	}
	a->dir = dir;
	if (s == SL_OK)
		s = time_whole(a, w, &a->entry->with_output);
	a->dir = NULL;
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

/* Times the stages on the first batch alone, with one thread, so that no batch waits for another. */
static enum sl_status time_batch(struct attempt *a)
{
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	double whole_ms[SAMPLES]; /* of the runs; on_batch() has the times of the stages */
	enum sl_status s = sl_case_plan(a->c, a->entry, true, &plan, &w);

	if (s == SL_OK)
		s = take_samples(a, w, INFINITY, whole_ms);
	sl_workspace_close(w);
	sl_plan_free(plan);
	if (s != SL_OK)
		return s;
	for (int i = 0; i < SL_TIMES; i++)
		if (sl_case_has_time(a->entry, i))
			a->entry->time[i] = sl_spread_of(a->ms[i], a->n_samples);
	return SL_OK;
}

enum sl_status sl_case_run(const struct sl_comparison *c, struct sl_comparison_case *entry,
	struct sl_reference *r, struct sl_dir *dir, struct sl_control *control)
{
	struct attempt a = {.c = c, .entry = entry, .reference = r, .control = control};

	SL_TRY(run_whole(&a, dir));
	return sl_case_is_emulated(entry) ? SL_OK : time_batch(&a);
}
