/*
 * command_run.c - sluice run and sluice plan.
 *
 * sluice run: plan, allocate, execute (open the output directory, run, finish the output, check)
 * and print the results. The memory is allocated before the directory is opened, so a run that does
 * not fit leaves no files.
 */
#include <stdio.h>
#include <unistd.h>

#include "pipeline/cli/cli.h"
#include "pipeline/execute/execute.h"
#include "pipeline/report/report.h"

/* What the callbacks of a run need. */
struct run_output {
	const struct sl_args *args;
	struct sl_progress_output progress;
};

static void show_progress(void *ctx, const struct sl_progress *p)
{
	sl_progress_show(&((struct run_output *)ctx)->progress, p);
}

void sl_print_results(const struct sl_args *a, const struct sl_workspace *w,
	const struct sl_manifest *m, const struct sl_session *session)
{
	if (a->json)
		sl_report_write(w, m, session, "done", stdout);
	else if (!a->quiet && sl_report_print(w, m, session, stdout) != SL_OK)
		fprintf(stderr, "sluice: %s\n", sl_last_error());
}

static void print_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	struct run_output *o = (struct run_output *)ctx;

	sl_progress_end(&o->progress);
	if (!stopped)
		sl_print_results(o->args, w, m, session);
}

/*
 * Allocates the memory of the plan, opens the output directory and runs. From then on a signal
 * stops the run in order, because batches can be in flight. run.stop_before counts from the start
 * of the program, because a batch queue does so too.
 */
static enum sl_status run_plan(const struct sl_args *a, struct sl_plan *plan)
{
	struct run_output o = {
		.args = a, .progress = {.out = stderr, .terminal = isatty(STDERR_FILENO) == 1}};
	const struct sl_execution e = {.start = a->resume  ? SL_START_RESUME
	                                        : a->force ? SL_START_FORCE
	                                                   : SL_START_NEW,
		.started_ns = sl_program_start_ns,
		.control = &sl_cli_control,
		.results = print_results,
		.ctx = &o};
	struct sl_workspace *w = NULL;
	enum sl_status s = sl_workspace_open(plan, &w);

	if (s == SL_OK)
		s = sl_workspace_allocate(w);
	s = sl_ranks_agree(sl_cli_ranks, s);
	sl_signals_begin_work();
	sl_cli_control.ranks = sl_cli_ranks;
	if (!a->quiet && !a->json && (!sl_cli_ranks || sl_cli_ranks->rank == 0))
		sl_cli_control.progress = show_progress;
	sl_cli_control.ctx = &o;
	if (s == SL_OK)
		s = sl_execute(w, &e);
	sl_progress_end(&o.progress);
	sl_workspace_close(w);
	return s;
}

/* --print-config makes no plan and is complete without one. */
enum sl_status sl_command_run(struct sl_args *a)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;

	SL_TRY(sl_read_plan_of_ranks(a, &plan));
	for (uint32_t i = 0; plan && i < plan->n_warnings && !a->quiet &&
			     (!sl_cli_ranks || sl_cli_ranks->rank == 0);
		i++)
		fprintf(stderr, "sluice: warning: %s\n", plan->warning[i]);
	return plan ? run_plan(a, plan) : SL_OK;
}

/* A plan that only the disk is too small for is printed too: it says how much it needs. */
enum sl_status sl_command_plan(struct sl_args *a)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	enum sl_status s = sl_read_plan(a, true, &plan), printed = SL_OK;

	if ((s == SL_OK || (s == SL_DISK && plan && plan->disk_expected > plan->disk_free)) &&
		plan && (a->json || !a->quiet))
		printed = sl_plan_print(plan, a->json, stdout);
	return s == SL_OK ? printed : s;
}
