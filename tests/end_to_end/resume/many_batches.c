/*
 * many_batches.c - the work of every command grows in proportion to the number of batches.
 *
 * Sixteen times as many batches must not take more than FACTOR times the processor time: a part that grows
 * with the square would take 256 times. The commands are called in this process, on a file system in
 * memory where there is one, so other programs change the times little; the least of several is compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pipeline/convert/convert.h"
#include "pipeline/execute/execute.h"
#include "pipeline/info/info.h"
#include "pipeline/status/status.h"
#include "pipeline/verify/verify.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/library_run.h"

enum { FEW = 500, MANY = 16 * FEW, FACTOR = 22, TRIES = 5 };

/* Processor time below this many seconds says little. */
static const double least_seconds = 0.01;

static void ignore_results(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session, bool stopped)
{
	(void)ctx, (void)w, (void)m, (void)session, (void)stopped;
}

/* Runs, or resumes, n batches of one particle each. */
static enum sl_status run(unsigned n, const char *out)
{
	char particles[64], to[512];
	const char *const sets[] = {particles, to, "run.batch=1", "run.threads=1", "run.device=cpu",
		"output.format=csv", "output.columns=[id, x]", "output.durable=never",
		"tallies=[w:10]"};
	struct sl_control control = {.stop = 0};
	const struct sl_execution e = {
		.start = SL_START_RESUME, .control = &control, .results = ignore_results};
	struct sl_workspace *w = NULL;
	struct sl_plan *plan = NULL;
	enum sl_status s;

	snprintf(particles, sizeof(particles), "run.particles=%u", n);
	snprintf(to, sizeof(to), "output.to=%s", out);
	s = library_plan_of(sets, sizeof(sets) / sizeof(sets[0]), &plan);
	if (s == SL_OK)
		s = sl_workspace_open(plan, &w);
	if (s == SL_OK)
		s = sl_workspace_allocate(w);
	if (s == SL_OK)
		s = sl_execute(w, &e);
	sl_workspace_close(w);
	sl_plan_free(plan);
	return s;
}

static enum sl_status verify(unsigned n, const char *out)
{
	(void)n;
	return sl_verify(out, false, true, stdout);
}

static enum sl_status info(unsigned n, const char *out)
{
	FILE *text = tmpfile();
	enum sl_status s = sl_info(out, 0, text);

	(void)n;
	fclose(text);
	return s;
}

static enum sl_status status(unsigned n, const char *out)
{
	struct sl_run_status r;
	struct sl_dir dir;
	enum sl_status s;

	SL_TRY(sl_dir_open(out, false, &dir));
	s = sl_run_status_read(&dir, 2e9, &r);
	sl_dir_close(&dir);
	return s == SL_OK && r.batches != n ? SL_CHECK_FAILED : s;
}

/* Two runs, so that the batch of each input is looked up in the manifest of its run. */
static enum sl_status convert(unsigned n, const char *out)
{
	const char *const in[] = {out, folder_path(&folder, "other")};
	atomic_int stop = 0;
	const struct sl_convert_job job = {.in = in,
		.n = 2,
		.to = folder_path(&folder, "all.csv"),
		.force = true,
		.stop = &stop};

	(void)n;
	return sl_convert(&job, NULL);
}

static double seconds_of(
	enum sl_status (*command)(unsigned n, const char *out), unsigned n, const char *out)
{
	clock_t start = clock();

	assert_ok(command(n, out));
	return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static bool is_proportional(double few, double many)
{
	return many <= FACTOR * fmax(few, least_seconds);
}

TEST(work_is_proportional_to_the_batches)
{
	static const struct {
		const char *name;
		enum sl_status (*call)(unsigned n, const char *out);
	} commands[] = {{"run", run}, {"run --resume", run}, {"verify", verify}, {"info", info},
		{"status", status}, {"convert", convert}};
	char few[512], many[512];

	snprintf(few, sizeof(few), "%s", folder_path(&folder, "few"));
	snprintf(many, sizeof(many), "%s", folder_path(&folder, "many"));
	assert_ok(run(2, folder_path(&folder, "other")));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		double a = HUGE_VAL, b = HUGE_VAL;

		/* other programs on the machine can make one of them twice as slow */
		for (int k = 0; k < TRIES && (k == 0 || !is_proportional(a, b)); k++) {
			if (i == 0) { /* a run, not its resume */
				remove_run(&folder, "few");
				remove_run(&folder, "many");
			}
			a = fmin(a, seconds_of(commands[i].call, FEW, few));
			b = fmin(b, seconds_of(commands[i].call, MANY, many));
		}
		print_message("%s: %.3f s for %d batches, %.3f s for %d\n", commands[i].name, a,
			FEW, b, MANY);
		if (!is_proportional(a, b))
			fail_msg("%s: %.3f s for %d batches, but %.3f s for %d", commands[i].name,
				a, FEW, b, MANY);
	}
}
