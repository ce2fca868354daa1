/*
 * command_run.c - sluice run and sluice plan.
 *
 * sluice run: plan, allocate, open the output directory, run, finish the output, print the results
 * and compare them with the expected values of check:. The memory is allocated before the directory is
 * opened, so a run that does not fit leaves no files.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/read_plan.h"
#include "pipeline/cli/signals.h"
#include "pipeline/output/run_directory.h"
#include "pipeline/report/plan_print.h"
#include "pipeline/report/report_print.h"
#include "pipeline/run/autotune.h"
#include "primitives/base/clock.h"

/* Rewrites one line of the terminal. The rate is that of this session, without earlier ones. */
static void show_progress(void *ctx, const struct sl_progress *p)
{
	(void)ctx;
	fprintf(stderr, "\r%5.1f %%  %llu of %s%llu batches  %.2f M particles/s",
		100.0 * (double)p->particles_done / (double)p->particles,
		(unsigned long long)p->batches_done, p->at_most ? "at most " : "",
		(unsigned long long)p->n_batches, p->rate * 1e-6);
	if (p->seconds_left >= 0)
		fprintf(stderr, "  %.0f s left  ", p->seconds_left);
	fflush(stderr);
}

/* With --json, prints the text of run.json, also with --quiet: it was asked for. */
static void print_results(const struct sl_args *a, const struct sl_workspace *w,
	const struct sl_manifest *m, const struct sl_session *session)
{
	if (a->json)
		sl_report_write(w, m, session, "done", stdout);
	else if (!a->quiet)
		sl_report_print(w, m, session, stdout);
}

/*
 * Writes the files of the whole run and run.json. A stopped run ends here with SL_STOPPED and the
 * message of its stop; a complete one prints its results and returns the status of its checks.
 */
static enum sl_status finish(const struct sl_args *a, struct sl_workspace *w,
	const struct sl_dir *dir, const struct sl_session *session, bool stopped)
{
	char why[SL_MESSAGE_BYTES];
	struct sl_manifest all = {0};
	struct sl_results results;
	enum sl_status s;

	memcpy(why, sl_last_error(), sizeof(why));
	s = sl_output_finish(w, dir, session, stopped ? "stopped" : "done", &all);
	if (s == SL_OK && stopped) {
		sl_set_last_error(why);
		s = SL_STOPPED;
	}
	if (s == SL_OK) {
		print_results(a, w, &all, session);
		sl_results_make(&all, sl_fractions_count_particles(w->plan), &results);
	}
	sl_manifest_free(&all);
	return s == SL_OK ? sl_checks(w->plan, &results) : s;
}

/*
 * Runs the batches that are not in *done and finishes the output. run.stop_before counts from the
 * start of the program, because a batch queue does so too.
 */
static enum sl_status run_in(const struct sl_args *a, struct sl_workspace *w,
	const struct sl_dir *dir, struct sl_manifest *done)
{
	double limit_ns = w->plan->config.run.stop_before;
	struct sl_session session;
	enum sl_status s;

	SL_TRY(sl_autotune_schedule(w, done, &sl_cli_control));
	if (!a->quiet && !a->json && isatty(STDERR_FILENO))
		sl_cli_control.progress = show_progress;
	/* At least 1 ns: 0 would mean that there is no limit. */
	if (isfinite(limit_ns))
		sl_cli_control.stop_before =
			1e-9 * fmax(limit_ns - (double)(sl_now_ns() - sl_program_start_ns), 1);
	s = sl_run(w, dir, done, &sl_cli_control, &session);
	if (sl_cli_control.progress)
		fputs("\n", stderr);
	return s == SL_OK || s == SL_STOPPED ? finish(a, w, dir, &session, s == SL_STOPPED) : s;
}

/*
 * Allocates the memory of the plan, opens the output directory and runs. From then on a signal stops
 * the run in order, because batches can be in flight.
 */
static enum sl_status run_plan(const struct sl_args *a, struct sl_plan *plan)
{
	enum sl_start start = a->resume  ? SL_START_RESUME
	                      : a->force ? SL_START_FORCE
	                                 : SL_START_NEW;
	struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_manifest done = {0};
	struct sl_workspace *w = NULL;
	enum sl_status s = sl_workspace_open(plan, &w);

	if (s == SL_OK)
		s = sl_workspace_allocate(w);
	sl_signals_begin_work();
	if (s == SL_OK)
		s = sl_output_open(w, start, &dir, &done);
	if (s == SL_OK)
		s = run_in(a, w, &dir, &done);
	sl_manifest_free(&done);
	if (dir.fd >= 0)
		sl_dir_close(&dir);
	sl_workspace_close(w);
	return s;
}

/* --print-config makes no plan and is complete without one. */
enum sl_status sl_command_run(struct sl_args *a)
{
	struct sl_plan *plan;
	enum sl_status s = sl_read_plan(a, &plan);

	if (s == SL_OK && plan)
		s = run_plan(a, plan);
	sl_plan_free(plan);
	return s;
}

enum sl_status sl_command_plan(struct sl_args *a)
{
	struct sl_plan *plan;
	enum sl_status s = sl_read_plan(a, &plan);

	if (s == SL_OK && plan && !a->quiet)
		sl_plan_print(plan, stdout);
	sl_plan_free(plan);
	return s;
}
