/*
 * execute.c - see execute.h. The memory of the workspace is allocated before a directory is opened.
 */
#include "pipeline/execute/execute.h"

#include <math.h>
#include <string.h>

#include "pipeline/batch_file/batch_file.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/run/run.h"
#include "primitives/base/clock.h"
#include "primitives/files/files.h"
#include "stages/formats/formats.h"

/* run.stop_before as seconds from now. At least 1 ns: 0 would mean that there is no limit. */
static void set_time_limit(const struct sl_workspace *w, const struct sl_execution *e)
{
	double limit_ns = w->plan->config.run.stop_before;

	if (isfinite(limit_ns))
		e->control->stop_before =
			1e-9 * fmax(limit_ns - (double)(sl_now_ns() - e->started_ns), 1);
}

/* Measures the schedules if the plan leaves a choice; trials report no progress. */
static enum sl_status choose_schedule(
	struct sl_workspace *w, const struct sl_manifest *done, struct sl_control *control)
{
	void (*progress)(void *ctx, const struct sl_progress *p) = control->progress;
	enum sl_status s;

	control->progress = NULL;
	s = sl_autotune_schedule(w, done, control);
	control->progress = progress;
	return s;
}

/*
 * Reports the lines of m. A stopped run ends with SL_STOPPED and the message of its stop, why; a
 * complete one with the status of its checks.
 */
static enum sl_status report(const struct sl_execution *e, const struct sl_workspace *w,
	const struct sl_manifest *m, const struct sl_session *session, const char *why)
{
	struct sl_results results;

	e->results(e->ctx, w, m, session, why != NULL);
	if (why) {
		sl_set_last_error(why);
		return SL_STOPPED;
	}
	if (sl_plan_is_part(w->plan)) /* sluice join checks the whole run */
		return SL_OK;
	sl_results_make(m, w->plan->choices.stop_rule.counts, &results);
	return sl_checks(w->plan, &results);
}

/* --- in a directory --------------------------------------------------------------------------- */

/* The first rank, or the only process, finishes the directory and reports. */
static bool is_first_rank(const struct sl_execution *e)
{
	return !e->control->ranks || e->control->ranks->rank == 0;
}

/*
 * Writes the files of the whole run and run.json, and reports: on the first rank. why: of a stop,
 * or NULL.
 */
static enum sl_status finish(const struct sl_execution *e, struct sl_workspace *w,
	const struct sl_dir *dir, const struct sl_session *session, const struct sl_manifest *all,
	const char *why)
{
	if (!is_first_rank(e))
		return SL_OK;
	SL_TRY(sl_output_finish(w, dir, session, why ? "stopped" : "done", all));
	return report(e, w, all, session, why);
}

/*
 * Finishes the run after a session, after which so many batches are committed. All ranks call it,
 * and return the status on which they have agreed.
 */
static enum sl_status finish_all(const struct sl_execution *e, struct sl_workspace *w,
	const struct sl_dir *dir, const struct sl_session *session, uint64_t committed,
	bool stopped)
{
	struct sl_ranks *ranks = e->control->ranks;
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest all = {.line = NULL};
	char why[SL_MESSAGE_BYTES];
	enum sl_status s = SL_OK;

	memcpy(why, sl_last_error(), sizeof(why));
	sl_workspace_free_devices(w);
	if (is_first_rank(e))
		s = sl_output_settle(w, dir, committed, &all);
	SL_TRY(sl_ranks_agree(ranks, s));
	return sl_ranks_agree(ranks, finish(e, w, dir, session, &all, stopped ? why : NULL));
}

/*
 * With output.durable: end, rank 0 flushes all files before it writes run.json, but on its machine
 * alone. So the other ranks flush theirs before.
 */
static enum sl_status flush(
	const struct sl_execution *e, const struct sl_workspace *w, const struct sl_dir *dir)
{
	if (is_first_rank(e) || w->plan->config.output.durable != SL_DURABLE_END)
		return SL_OK;
	return sl_dir_sync(dir);
}

/*
 * Runs the batches that are not in *done and finishes the directory. A failure on which the ranks
 * have agreed is returned at once: each rank has its message, or none, already.
 */
static enum sl_status run_in(const struct sl_execution *e, struct sl_workspace *w,
	const struct sl_dir *dir, const struct sl_manifest *done)
{
	struct sl_ranks *ranks = e->control->ranks;
	struct sl_session session;
	bool stopped;
	enum sl_status s;

	SL_TRY(sl_ranks_agree(ranks, choose_schedule(w, done, e->control)));
	set_time_limit(w, e);
	s = sl_run(w, dir, done, e->control, &session);
	stopped = s == SL_STOPPED;
	if (s == SL_OK || stopped)
		s = flush(e, w, dir);
	else if (s == SL_DISK && sl_dir_check(dir) != SL_OK) /* the cause, with its message */
		s = SL_OUTPUT_IN_USE;
	SL_TRY(sl_ranks_agree(ranks, s));
	return finish_all(e, w, dir, &session, done->n + session.batches, stopped);
}

static enum sl_status execute_in_directory(struct sl_workspace *w, const struct sl_execution *e)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	SL_CLOSED_BY(sl_manifest_free) struct sl_manifest done = {.line = NULL};

	SL_TRY(sl_output_open(w, e->control->ranks, e->start, &dir, &done));
	return run_in(e, w, &dir, &done);
}

/* --- in memory -------------------------------------------------------------------------------- */

/* The sums of a run without files, and the caller's part of its control. */
struct in_memory {
	struct sl_workspace *w;
	struct sl_manifest lines;
	size_t capacity; /* of lines.line */
	enum sl_status (*batch)(void *ctx, struct sl_host_slot *slot);
	void (*progress)(void *ctx, const struct sl_progress *p);
	void *ctx;
};

/* A stop rule can end a run long before its last batch, so the lines are not allocated at once. */
static enum sl_status add_line(struct in_memory *m, const struct sl_batch *b)
{
	SL_TRY(sl_host_grow(&m->lines.line, m->lines.n, &m->capacity, sizeof(*m->lines.line)));
	sl_batch_file_line(b, &m->lines.line[m->lines.n++]);
	return SL_OK;
}

/* Adds the next batch in order to the sums, as a commit does, and passes it to the caller. */
static enum sl_status add_batch(void *ctx, struct sl_host_slot *slot)
{
	struct in_memory *m = (struct in_memory *)ctx;
	const struct sl_batch *b = &slot->batch;

	SL_TRY(add_line(m, b));
	if (sl_counter_words(&m->w->recipe) > 0)
		sl_tally_sums_add_batch(&m->w->recipe, b->bins, b->n, &m->w->tallies);
	SL_TRY(sl_image_sum_add(&m->w->image_sum, b->number, &b->table));
	return m->batch ? m->batch(m->ctx, slot) : SL_OK;
}

static void pass_progress(void *ctx, const struct sl_progress *p)
{
	const struct in_memory *m = (const struct in_memory *)ctx;

	m->progress(m->ctx, p);
}

/* Runs all batches and reports. */
static enum sl_status run_in_memory(
	struct in_memory *m, const struct sl_execution *e, struct sl_control *control)
{
	const struct sl_manifest none = {0};
	char why[SL_MESSAGE_BYTES];
	struct sl_session session;
	enum sl_status s;

	SL_TRY(choose_schedule(m->w, &none, control));
	set_time_limit(m->w, e);
	s = sl_run(m->w, NULL, &none, control, &session);
	if (s != SL_OK && s != SL_STOPPED)
		return s;
	memcpy(why, sl_last_error(), sizeof(why));
	if (s == SL_OK && m->w->plan->choices.image.width > 0)
		SL_TRY(sl_image_sum_finish(&m->w->image_sum, &m->lines));
	m->w->at.reported = sl_now_ns();
	return report(e, m->w, &m->lines, &session, s == SL_STOPPED ? why : NULL);
}

static enum sl_status execute_in_memory(struct sl_workspace *w, const struct sl_execution *e)
{
	struct sl_control *c = e->control;
	struct in_memory m = {.w = w, .batch = c->batch, .progress = c->progress, .ctx = c->ctx};
	enum sl_status s;

	c->batch = add_batch;
	c->progress = m.progress ? pass_progress : NULL;
	c->ctx = &m;
	c->discard = true;
	s = run_in_memory(&m, e, c);
	c->batch = m.batch;
	c->progress = m.progress;
	c->ctx = m.ctx;
	sl_manifest_free(&m.lines);
	return s;
}

bool sl_execution_delivers(const struct sl_choices *choices)
{
	return choices->format != &sl_format_none;
}

enum sl_status sl_execute_choose_memory(struct sl_choices *choices, bool resident)
{
	if (resident && choices->device == SL_ON_CPU)
		return sl_fail(SL_USAGE,
			"the survivors of a run on the CPU cannot stay on a device; set run.device to "
			"cuda or emulated, or take arrays of the host%s%s",
			choices->device_reason[0] ? ": " : "", choices->device_reason);
	choices->form = SL_AS_COLUMNS;
	choices->pack = NULL;
	choices->resident = resident && sl_execution_delivers(choices);
	choices->reads_columns = sl_execution_delivers(choices);
	return SL_OK;
}

enum sl_status sl_execute(struct sl_workspace *w, const struct sl_execution *e)
{
	w->at.started = e->started_ns;
	return e->in_memory ? execute_in_memory(w, e) : execute_in_directory(w, e);
}
