/* case_run.c - a row is planned, run and timed. */
#include "pipeline/compare/case_plan.h"
#include "pipeline/compare/cases.h"
#include "pipeline/compare/case_run.h"

#include <math.h>
#include <string.h>

#include "pipeline/plan/file_names.h"
#include "pipeline/compare/temp_dir.h"
#include "pipeline/plan/memory.h"
#include "pipeline/run/batch_file.h"
#include "stages/host/min_traffic.h"

/*
 * How often something is timed: SAMPLES times, but not for long. A median of three is the least
 * that one disturbed run does not spoil.
 */
enum { SAMPLES = 11, SAMPLES_FEW = 3 };
static const double seconds_enough = 1;

/* The times of a batch: of each stage, of the copies home, of all that. */
enum { HOME = SL_STAGE_COUNT, ALL, TIMES };

/* A row on its way. */
struct attempt {
	const struct sl_comparison *c;
	struct sl_comparison_case *row;
	struct sl_reference *reference;
	struct sl_control *control;
	const struct sl_dir *dir;      /* of what is written now, or NULL */
	const struct sl_plan *plan;    /* of what runs now */
	double batch_ms[TIMES];        /* of the last batch */
	double sample[TIMES][SAMPLES]; /* of batches */
};

/* --- runs ------------------------------------------------------------------------------------- */

static void take_times(struct attempt *a, const struct sl_host_slot *slot)
{
	const struct sl_recipe *r = &a->plan->recipe;
	const struct sl_batch *b = &slot->batch;

	a->batch_ms[ALL] = 0;
	for (int i = 0; i < ALL; i++) {
		uint64_t ns = i < HOME ? slot->ns[i] : slot->transfer_ns;

		a->batch_ms[i] = (double)ns / 1e6;
		a->batch_ms[ALL] += a->batch_ms[i];
	}
	for (int s = 0; s < SL_STAGE_COUNT; s++)
		a->row->bytes[s] =
			sl_stage_min_bytes(r, (enum sl_stage_number)s, b->n, b->n_survivors);
	a->row->home_bytes = 0;
	for (uint32_t k = 0; a->row->on_device && k < b->table.n_columns; k++)
		if (!b->table.column[k].constant)
			a->row->home_bytes += (uint64_t)b->n_survivors *
			                      sl_column_facts[b->table.column[k].column].bytes;
}

static void look_at(void *of, const struct sl_host_slot *slot)
{
	struct attempt *a = (struct attempt *)of;

	sl_reference_check(a->reference, a->row, &slot->batch);
	take_times(a, slot);
	if (a->dir) {
		char name[SL_FILE_NAME_BYTES];

		sl_batch_file_name(a->plan, slot->batch.number, name);
		(void)sl_file_remove(a->dir, name);
		sl_batch_histogram_file_name(a->plan, slot->batch.number, name);
		if (name[0])
			(void)sl_file_remove(a->dir, name);
	}
}

/* Runs the plan once, to a->dir or to nowhere; *ms of it. */
static enum sl_status go(struct attempt *a, struct sl_workspace *w, double *ms)
{
	const struct sl_manifest none = {0};
	struct sl_session session;
	enum sl_status s;

	a->plan = w->plan;
	a->control->batch = look_at;
	a->control->of = a;
	a->control->discard = !a->dir;
	s = sl_run(w, a->dir, &none, a->control, &session);
	if (a->dir && s == SL_OK)
		s = sl_temp_dir_empty(a->dir);
	if (s == SL_OK && atomic_load(&a->control->stop))
		s = SL_STOPPED;
	*ms = round(1e9 * session.seconds) / 1e6;
	return s;
}

/* --- times ------------------------------------------------------------------------------------ */

/* Is it worth no further run? Times of the emulated device mean little. */
static bool is_enough(const struct attempt *a, uint32_t n, double ms)
{
	if (a->row->on_device && sl_device_is_emulated())
		return n > 0;
	return n == SAMPLES || (n >= SAMPLES_FEW && ms >= 1e3 * seconds_enough);
}

/*
 * All batches, as the configuration says: the first time for the answer, then for the time. A run
 * that takes long is its own sample: what the first time costs does not show in it.
 */
static enum sl_status time_whole(
	struct attempt *a, struct sl_workspace *w, struct sl_spread *spread)
{
	double ms[SAMPLES], total = 0;
	uint32_t n = 0;

	SL_TRY(go(a, w, &ms[0]));
	a->reference->knows = true;
	if (ms[0] < 1e3 * seconds_enough && !is_enough(a, 1, 0))
		do {
			SL_TRY(go(a, w, &ms[n]));
			total += ms[n];
		} while (!is_enough(a, ++n, total));
	*spread = sl_spread_of(ms, n > 0 ? n : 1);
	return SL_OK;
}

static enum sl_status run_whole(struct attempt *a, const struct sl_dir *dir)
{
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	enum sl_status s = sl_case_plan(a->c, a->row, false, &plan, &w);

	if (s == SL_OK) {
		a->row->threads = plan->threads;
		a->row->lanes = plan->n_device_slots;
		s = time_whole(a, w, &a->row->whole);
	}
	a->dir = dir;
	if (s == SL_OK)
		s = time_whole(a, w, &a->row->written);
	a->dir = NULL;
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

static enum sl_status sample_batches(struct attempt *a, struct sl_workspace *w, uint32_t *n)
{
	double total = 0, ms;

	*n = 0;
	SL_TRY(go(a, w, &ms));
	while (!is_enough(a, *n, total)) {
		/* the emulated device has been timed by the run that warms up */
		if (!(a->row->on_device && sl_device_is_emulated()))
			SL_TRY(go(a, w, &ms));
		for (int i = 0; i < TIMES; i++)
			a->sample[i][*n] = a->batch_ms[i];
		total += ms;
		++*n;
	}
	return SL_OK;
}

/* The first batch alone, so that none waits for another. */
static enum sl_status time_batch(struct attempt *a)
{
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	enum sl_status s = sl_case_plan(a->c, a->row, true, &plan, &w);
	uint32_t n = 0;

	if (s == SL_OK)
		s = sample_batches(a, w, &n);
	sl_workspace_close(w);
	sl_plan_free(plan);
	if (s != SL_OK)
		return s;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		if (sl_stage_is_run(a->row->mode, i))
			a->row->stage[i] = sl_spread_of(a->sample[i], n);
	a->row->home = sl_spread_of(a->sample[HOME], n);
	a->row->all = sl_spread_of(a->sample[ALL], n);
	return SL_OK;
}

enum sl_status sl_case_run(const struct sl_comparison *c, struct sl_comparison_case *row,
	struct sl_reference *r, const struct sl_dir *dir, struct sl_control *control)
{
	struct attempt a = {.c = c, .row = row, .reference = r, .control = control};

	SL_TRY(run_whole(&a, dir));
	return time_batch(&a);
}
