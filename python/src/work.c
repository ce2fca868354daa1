/*
 * work.c - see src.h. The steps are those of the program (pipeline/cli), without its terminal.
 */
#include "python/src/src.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/compare/compare.h"
#include "pipeline/config/reader/reader.h"
#include "pipeline/convert/convert.h"
#include "pipeline/execute/execute.h"
#include "pipeline/info/info.h"
#include "pipeline/plan/plan.h"
#include "pipeline/replay/replay.h"
#include "pipeline/report/report.h"
#include "pipeline/report/tallies/tallies.h"
#include "pipeline/text/text.h"
#include "pipeline/verify/verify.h"
#include "primitives/base/clock.h"
#include "python/src/base/base.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/inputs/inputs.h"

/* --- text ------------------------------------------------------------------------------------- */

/*
 * Ends a stream and gives its text to the job, also if the work, which s says, has failed. An empty
 * text is NULL.
 */
static enum sl_status close_text(struct sl_text_memory *t, char **text, enum sl_status s)
{
	const struct sl_failure before = sl_failure_keep(s);
	size_t bytes;

	s = sl_text_memory_end(t, "the results", text, &bytes);
	if (bytes == 0) {
		free(*text);
		*text = NULL;
	}
	return sl_failure_first(&before, s);
}

enum sl_status sl_py_work(struct sl_py_job *job)
{
	SL_TRY(sl_text_memory_begin(&job->printed));
	return close_text(&job->printed, &job->text, job->work(job));
}

/* --- configuration and plan ------------------------------------------------------------------- */

/* Reads the configuration with the first n settings of the request, and resolves it. */
static enum sl_status read_config(struct sl_py_job *job, size_t n)
{
	const struct sl_py_request *a = &job->asked;
	char no_gpu[SL_MESSAGE_BYTES] = "";

	sl_config_close(job->reader);
	job->reader = NULL;
	if (a->text)
		SL_TRY(sl_config_open_text(
			a->path, a->text, strlen(a->text), a->set, n, &job->config, &job->reader));
	else
		SL_TRY(sl_config_open(a->path, a->set, n, &job->config, &job->reader));
	if (job->work == sl_py_work_replay)
		sl_replay_use_cpu(&job->config);
	if (job->work != sl_py_work_compare)
		return sl_resolve(&job->config, job->reader, &job->choices);
	sl_compare_choose_device(&job->config, no_gpu);
	SL_TRY(sl_resolve(&job->config, job->reader, &job->choices));
	if (no_gpu[0])
		memcpy(job->choices.device_reason, no_gpu, sizeof(no_gpu));
	return SL_OK;
}

/*
 * The batch size of auto can differ between machines: a resumed run takes that of the existing run.
 * The request has space for one setting more.
 */
static enum sl_status use_existing_batch_size(struct sl_py_job *job)
{
	struct sl_py_request *a = &job->asked;
	uint64_t batch = 0;

	if (job->config.run.batch == 0)
		SL_TRY(sl_output_batch(&job->config, &batch));
	if (batch == 0)
		return SL_OK;
	snprintf(a->batch_set, sizeof(a->batch_set), "run.batch=%lu", batch);
	a->set[a->n_sets++] = a->batch_set;
	return read_config(job, a->n_sets);
}

static enum sl_status make_plan(struct sl_py_job *job, struct sl_plan **plan)
{
	*plan = NULL;
	SL_TRY(read_config(job, job->asked.n_sets));
	if (job->asked.start == SL_START_RESUME || job->work == sl_py_work_replay)
		SL_TRY(use_existing_batch_size(job));
	if (job->asked.in_memory)
		SL_TRY(sl_execute_choose_memory(&job->choices, job->asked.resident));
	SL_TRY(sl_plan_make(&job->config, &job->choices, plan));
	(*plan)->recipe.cancel = &job->control.stop; /* for the pilot; the workspace has its own */
	return SL_OK;
}

static enum sl_status check_plan(const struct sl_py_job *job, struct sl_plan *plan)
{
	uint64_t done = 0;

	if (job->asked.in_memory)
		return sl_plan_check_in_memory(
			plan, job->asked.keep_all && sl_execution_delivers(&job->choices));
	if (job->asked.start == SL_START_RESUME)
		SL_TRY(sl_output_done(plan, &done));
	return sl_plan_check_resources(plan, done, job->work == sl_py_work_plan);
}

/* --- run -------------------------------------------------------------------------------------- */

/* A copy of the values of the image, if the run has finished one. */
static enum sl_status copy_image(struct sl_py_job *job, const struct sl_image_sum *sum)
{
	job->pixels = (size_t)sum->image.width * sum->image.height;
	SL_TRY(sl_host_get(job->pixels, sizeof(double), &job->image));
	memcpy(job->image, sum->value, job->pixels * sizeof(double));
	return SL_OK;
}

/*
 * Copies the rows of tallies that run.json does not list: to job->count the counts of all rows, to
 * job->value four quantities of each row (enum sl_tally_quantity) and the volumes of its cells.
 * The plan has more memory for each cell, so the sizes do not overflow.
 */
static enum sl_status copy_rows(struct sl_py_job *job, const struct sl_workspace *w)
{
	const struct sl_choices *choices = &w->plan->choices;
	const struct sl_grid_set *grids = &w->plan->recipe.grids;
	const struct sl_recipe *r = &w->plan->recipe;
	size_t cells = 0, at = 0;

	for (uint32_t g = 0; g < choices->n_grids; g++) {
		const size_t n = grids->grid[g].cells;

		if (n > SL_GRID_LISTED_MAX)
			cells += (size_t)sl_grid_counters(&choices->grid[g]) /
			         (n + SL_GRID_OUTSIDE) * n;
	}
	if (cells == 0)
		return SL_OK;
	SL_TRY(sl_host_get(cells, sizeof(*job->count), &job->count));
	SL_TRY(sl_host_get(5 * cells, sizeof(*job->value), &job->value));
	job->cells = cells;
	for (uint32_t g = 0; g < choices->n_grids; g++) {
		for (int fate = 0; fate < SL_FATE_COUNT; fate++) {
			const uint32_t n = grids->grid[g].cells;

			if (n <= SL_GRID_LISTED_MAX || !SL_HAS(choices->grid[g].fates, fate))
				continue;
			memcpy(job->count + at, sl_tally_counts(r, &w->tallies, g, fate) + 1,
				n * sizeof(uint64_t));
			for (int q = SL_TALLY_WEIGHT; q <= SL_TALLY_ERROR; q++)
				memcpy(job->value + 5 * at + (size_t)q * n,
					sl_tally_cells(
						r, &w->tallies, g, fate, (enum sl_tally_quantity)q),
					n * sizeof(double));
			sl_cell_volumes(
				choices, &choices->grid[g], job->value + 5 * at + (size_t)4 * n);
			at += n;
		}
	}
	return SL_OK;
}

/* Keeps the header that a list of all survivors has; without the columns, which only a file has. */
static enum sl_status keep_header(
	struct sl_py_job *job, const struct sl_plan *plan, const struct sl_manifest *m)
{
	struct sl_inputs *inputs = plan->recipe.inputs;
	struct sl_file_facts run = plan->facts;
	struct sl_batch_facts all = {.number = SL_WHOLE_RUN};
	const struct sl_table none = {.n = 0};

	if (inputs && !inputs->metadata)
		SL_TRY(sl_inputs_read_metadata(inputs));
	run.mcpl = (struct sl_mcpl_facts){
		.flags = SL_COLUMN_COUNT, .metadata = inputs ? inputs->metadata : NULL};
	for (uint64_t i = 0; i < m->n; i++)
		all.generated += m->line[i].generated;
	SL_TRY(sl_host_get(
		1, sl_mcpl_put_header(NULL, &run, &none, 0, none.n, &all), &job->header));
	job->header_bytes = sl_mcpl_put_header(job->header, &run, &none, 0, none.n, &all);
	return SL_OK;
}

/* Keeps the text of run.json, the image and large tallies. A failure shows as a missing text. */
static void keep_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	struct sl_py_job *job = (struct sl_py_job *)ctx;

	job->stopped = stopped;
	if (!stopped && w->image_sum.image.width > 0 && copy_image(job, &w->image_sum) != SL_OK)
		return;
	(void)keep_header(job, w->plan, m); /* headers of inputs can be more than one can have */
	if (copy_rows(job, w) == SL_OK)
		sl_report_write(w, m, session, stopped ? "stopped" : "done", job->printed.out);
}

static enum sl_status execute(struct sl_py_job *job, struct sl_workspace *w, uint64_t started_ns)
{
	const struct sl_execution e = {.in_memory = job->asked.in_memory,
		.start = (enum sl_start)job->asked.start,
		.started_ns = started_ns,
		.control = &job->control,
		.results = keep_results,
		.ctx = job};

	if (job->asked.resident)
		sl_py_turn_settle(sl_device_is_emulated());
	SL_TRY(sl_workspace_allocate(w));
	job->control.progress = sl_py_job_progress;
	if (job->asked.in_memory && sl_execution_delivers(&job->choices))
		job->control.batch = sl_py_job_deliver;
	job->control.ctx = job;
	return sl_execute(w, &e);
}

enum sl_status sl_py_work_run(struct sl_py_job *job)
{
	uint64_t started_ns = sl_now_ns();
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	SL_CLOSED_BY(sl_workspace_give) struct sl_workspace *w = NULL;

	SL_TRY(make_plan(job, &plan));
	SL_TRY(check_plan(job, plan));
	if (!job->asked.in_memory)
		job->facts = strdup(plan->to);
	SL_TRY(sl_workspace_open(plan, &w));
	SL_TRY(execute(job, w, started_ns));
	(void)fflush(job->printed.out);
	return job->printed.bytes > 0
	               ? SL_OK
	               : sl_fail(SL_HOST_MEMORY, "no memory for the results of the run");
}

/* --- the other commands ----------------------------------------------------------------------- */

enum sl_status sl_py_work_check(struct sl_py_job *job)
{
	SL_TRY(read_config(job, job->asked.n_sets));
	return sl_execute_choose_memory(&job->choices, job->asked.resident);
}

enum sl_status sl_py_work_plan(struct sl_py_job *job)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	struct sl_text_memory t;

	SL_TRY(make_plan(job, &plan));
	SL_TRY(check_plan(job, plan));
	SL_TRY(sl_text_memory_begin(&t));
	SL_TRY(close_text(&t, &job->facts, sl_plan_print(plan, true, t.out)));
	return sl_plan_print(plan, false, job->printed.out);
}

/* The comparison as JSON and as tables. */
static enum sl_status print_comparison(struct sl_py_job *job, const struct sl_comparison *c)
{
	struct sl_text_memory t;

	SL_TRY(sl_text_memory_begin(&t));
	SL_TRY(close_text(&t, &job->facts, sl_compare_print(c, sl_compare_text, t.out)));
	return sl_compare_print(c, NULL, job->printed.out);
}

/* Results are printed if every case was tried, also if some of them differ. */
enum sl_status sl_py_work_compare(struct sl_py_job *job)
{
	struct sl_comparison *c = (struct sl_comparison *)calloc(1, sizeof(*c));
	enum sl_status s, printed = SL_OK;

	if (!c)
		return sl_fail(SL_HOST_MEMORY, "no memory for a comparison");
	s = read_config(job, job->asked.n_sets);
	if (s == SL_OK)
		s = sl_compare_plan(&job->config, &job->choices, job->asked.full, c);
	if (s == SL_OK)
		s = sl_compare(c, &job->control, NULL);
	if (c->ended)
		printed = print_comparison(job, c);
	sl_plan_free(c->plan);
	free(c);
	return s == SL_OK ? printed : s;
}

enum sl_status sl_py_work_replay(struct sl_py_job *job)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;

	SL_TRY(make_plan(job, &plan));
	return sl_replay(plan, job->asked.path, job->asked.id, true, job->printed.out);
}

enum sl_status sl_py_work_verify(struct sl_py_job *job)
{
	return sl_verify(job->asked.path, true, false, job->printed.out);
}

enum sl_status sl_py_work_convert(struct sl_py_job *job)
{
	const struct sl_convert_job c = {.in = job->asked.input,
		.n = job->asked.n_inputs,
		.to = job->asked.path,
		.set = job->asked.set,
		.n_sets = job->asked.n_sets,
		.force = job->asked.start == SL_START_FORCE,
		.stop = &job->control.stop};

	return sl_convert(&c, job->printed.out);
}

enum sl_status sl_py_work_info(struct sl_py_job *job)
{
	return sl_info(job->asked.path, job->asked.id, false, job->printed.out);
}
