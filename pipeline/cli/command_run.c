/* command_run.c - sluice run and sluice plan. */
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

static enum sl_status print_results(const struct sl_args *a, const struct sl_workspace *w,
	const struct sl_manifest *m, const struct sl_session *session, const char *state)
{
	char *text;
	size_t bytes;

	if (a->json) {
		SL_TRY(sl_report_text(w, m, session, state, &text, &bytes));
		fwrite(text, 1, bytes, stdout);
		sl_memory_give(SL_HOST, text);
	} else if (!a->quiet) {
		sl_report_print(w, m, session, stdout);
	}
	return SL_OK;
}

static enum sl_status run_in(const struct sl_args *a, struct sl_workspace *w,
	const struct sl_dir *dir, struct sl_manifest *done)
{
	const struct sl_plan *plan = w->plan;
	struct sl_session session;
	struct sl_manifest all = {0};
	struct sl_results results;
	enum sl_status s, finished;

	SL_TRY(sl_autotune_schedule(w, done, &sl_cli_control));
	if (!a->quiet && !a->json && isatty(STDERR_FILENO))
		sl_cli_control.progress = show_progress;
	if (isfinite(plan->config.run.stop_before))
		sl_cli_control.stop_before =
			1e-9 * fmax(plan->config.run.stop_before -
					       (double)(sl_now_ns() - sl_program_start_ns),
				       1);
	s = sl_run(w, dir, done, &sl_cli_control, &session);
	if (sl_cli_control.progress)
		fputs("\n", stderr);
	if (s != SL_OK && s != SL_STOPPED)
		return s;
	if (s == SL_STOPPED) {
		char why[SL_MESSAGE_BYTES];

		memcpy(why, sl_last_error(), sizeof(why));
		finished = sl_output_finish(w, dir, &session, "stopped", &all);
		sl_manifest_free(&all);
		if (finished == SL_OK)
			sl_set_last_error(why);
		return finished == SL_OK ? s : finished;
	}
	s = sl_output_finish(w, dir, &session, "done", &all);
	if (s == SL_OK)
		s = print_results(a, w, &all, &session, "done");
	sl_results_make(&all, sl_fractions_count_particles(plan), &results);
	sl_manifest_free(&all);
	return s == SL_OK ? sl_checks(plan, &results) : s;
}

enum sl_status sl_command_run(struct sl_args *a)
{
	enum sl_start start = a->resume  ? SL_START_RESUME
	                      : a->force ? SL_START_FORCE
	                                 : SL_START_NEW;
	struct sl_dir dir = {.fd = -1, .lock = -1};
	struct sl_manifest done = {0};
	struct sl_workspace *w = NULL;
	struct sl_plan *plan;
	enum sl_status s = sl_read_plan(a, &plan);

	if (s == SL_OK && plan)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK && plan)
		s = sl_workspace_allocate(w);
	sl_signals_begin_work();
	if (s == SL_OK && plan)
		s = sl_output_open(w, start, &dir, &done);
	if (s == SL_OK && plan)
		s = run_in(a, w, &dir, &done);
	sl_manifest_free(&done);
	if (dir.fd >= 0)
		sl_dir_close(&dir);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

enum sl_status sl_command_plan(struct sl_args *a)
{
	struct sl_plan *made;
	enum sl_status s = sl_read_plan(a, &made);

	if (s == SL_OK && made && !a->quiet)
		sl_plan_print(made, stdout);
	sl_plan_free(made);
	return s;
}
