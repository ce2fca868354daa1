/*
 * commands.c - the commands: each passes the fields of the command line that it needs to the
 * function that does the work, and stdout as the place of its output.
 *
 * sluice run: plan, allocate, execute (open the output directory, run, finish the output, check)
 * and print the results. The memory is allocated before the directory is opened, so a run that does
 * not fit leaves no files. list, help and version read no configuration and need no device.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/cli/cli.h"
#include "pipeline/compare/compare.h"
#include "pipeline/convert/convert.h"
#include "pipeline/execute/execute.h"
#include "pipeline/external/external.h"
#include "pipeline/help/help.h"
#include "pipeline/info/info.h"
#include "pipeline/join/join.h"
#include "pipeline/model_check/model_check.h"
#include "pipeline/replay/replay.h"
#include "pipeline/report/report.h"
#include "pipeline/status/status.h"
#include "pipeline/verify/verify.h"
#include "primitives/device/device.h"

/* --- run, plan -------------------------------------------------------------------------------- */

/* What the callbacks of a run need. */
struct run_output {
	struct sl_args *args;
	struct sl_progress_output progress;
};

static void show_progress(void *ctx, const struct sl_progress *p)
{
	sl_progress_show(&((struct run_output *)ctx)->progress, p);
}

/*
 * Prints the results of a complete run. With --json, prints the text of run.json, also with
 * --quiet: it was asked for.
 */
static void print_complete(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session)
{
	const struct sl_args *a = (const struct sl_args *)ctx;

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
		print_complete(o->args, w, m, session);
}

/*
 * Allocates the memory of the plan, opens the output directory and runs. From then on a signal
 * stops the run in order, because batches can be in flight. run.stop_before counts from the start
 * of the program, because a batch queue does so too.
 */
static enum sl_status run_plan(struct sl_args *a, struct sl_plan *plan)
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

/* --- list, help, version ---------------------------------------------------------------------- */

enum sl_status sl_command_list(struct sl_args *a)
{
	return a->devices ? sl_help_devices(a->json, stdout) : sl_help_list(a->json, stdout);
}

enum sl_status sl_command_help(struct sl_args *a)
{
	return a->markdown ? sl_help_markdown(stdout) : sl_help(a->operands[0], stdout);
}

enum sl_status sl_command_version(struct sl_args *a)
{
	(void)a;
	sl_version_print(stdout);
	return SL_OK;
}

/* --- compare ---------------------------------------------------------------------------------- */

/* --json and --csv print also with --quiet, because they were asked for. */
static enum sl_status print_comparison(const struct sl_args *a, const struct sl_comparison *c)
{
	if (a->quiet && !a->json && !a->csv)
		return SL_OK;
	return sl_compare_print(c,
		a->json  ? NULL
		: a->csv ? sl_compare_csv
			 : sl_compare_text,
		stdout);
}

enum { NAME_COLUMNS = 160 }; /* more than the text of a case has */

/* Progress: rewrites one line of the terminal, padded with spaces to erase a longer name. */
static void show_case(const struct sl_comparison *c, size_t number)
{
	fprintf(stderr, "\r%-*s\r%zu of %zu: %s", NAME_COLUMNS, "", number + 1, c->n,
		sl_case_text(&c->cases[number]));
	fflush(stderr);
}

/*
 * Runs the comparison and prints it as text, JSON or CSV. Results are printed only if every case
 * was tried, also if some of them differ or failed.
 */
enum sl_status sl_command_compare(struct sl_args *a)
{
	static struct sl_comparison c;
	bool shown = !a->quiet && isatty(STDERR_FILENO);
	enum sl_status s, printed = SL_OK;

	SL_TRY(sl_read_config(a, false));
	s = sl_compare_plan(&sl_cli_config, &sl_cli_choices, a->full, &c);
	c.argv = a->argv;
	/* A stopped comparison keeps no results, so its batches are cancelled after one second. */
	sl_cli_control.cancel_after = 1;
	sl_signals_begin_work();
	if (s == SL_OK)
		s = sl_compare(&c, &sl_cli_control, shown ? show_case : NULL);
	if (shown)
		fprintf(stderr, "\r%-*s\r", NAME_COLUMNS, "");
	if (c.ended)
		printed = print_comparison(a, &c);
	sl_plan_free(c.plan);
	return s == SL_OK ? printed : s;
}

/* --- model ------------------------------------------------------------------------------------ */

enum { CHECKED = 4096 }; /* particles that are computed step by step */

static enum sl_status build(const struct sl_args *a)
{
	char path[SL_PATH_BYTES];
	const struct sl_model *model;

	SL_TRY(sl_external_build(a->operands[1], a->n_operands > 2 ? a->operands[2] : "", path));
	SL_TRY(sl_external_load(path, &model));
	printf("%s: model %s, digest %s, for the CPU%s\n", path, model->name, model->digest,
		model->cuda.select ? " and CUDA" : "; no nvcc was found, so not for CUDA");
	return SL_OK;
}

/* Compares all backends and modes on a device, as sluice compare does. */
static enum sl_status compare_on(struct sl_args *a, const char *device)
{
	struct sl_args compare = *a;
	char set[64];

	printf("\n%s:\n", device);
	snprintf(set, sizeof(set), "run.device=%s", device);
	compare.command = SL_COMMAND_compare;
	compare.set[compare.n_sets++] = set;
	return sl_command_compare(&compare);
}

/* Checks the rules of the model by some particles of the configuration. */
static enum sl_status check_rules(int *levels)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;

	SL_TRY(sl_plan_make(&sl_cli_config, &sl_cli_choices, &plan));
	return sl_model_check_rules(&plan->recipe,
		plan->recipe.particles < CHECKED ? (uint32_t)plan->recipe.particles : CHECKED,
		levels);
}

static enum sl_status check(struct sl_args *a)
{
	const struct sl_model *model;
	struct sl_device device;
	int levels = 0;

	if (a->n_operands < 3)
		return sl_fail(
			SL_USAGE, "model check needs a configuration that uses the model; name it");
	SL_TRY(sl_external_load(a->operands[1], &model));
	a->operands += 2;
	if (a->n_sets == SL_SETS_MAX)
		return sl_fail(SL_USAGE, "too many settings; remove one");
	SL_TRY(sl_read_config(a, false));
	/* it can have loaded the same model again, from its header */
	if (!sl_cli_config.model->digest || strcmp(sl_cli_config.model->digest, model->digest) != 0)
		return sl_fail(SL_USAGE,
			"%s: uses model %s, not %s of %s; name a configuration of it",
			a->operands[0], sl_cli_config.model->name, model->name, a->operands[-1]);
	SL_TRY(check_rules(&levels));
	printf("model %s, digest %s: one, few and all steps per call give the same bits on %d CPU level%s\n",
		model->name, model->digest, levels, levels == 1 ? "" : "s");
	SL_TRY(compare_on(a, "emulated"));
	sl_device_emulate(false);
	return model->cuda.select && sl_device_use(0, &device) == SL_OK ? compare_on(a, "cuda")
	                                                                : SL_OK;
}

enum sl_status sl_command_model(struct sl_args *a)
{
	if (strcmp(a->operands[0], "build") == 0)
		return build(a);
	if (strcmp(a->operands[0], "check") == 0)
		return check(a);
	return sl_fail(SL_USAGE, "model has no command '%s'; use build or check", a->operands[0]);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The number after --id or --head; "3_002" is accepted as in a configuration. */
static enum sl_status read_count(const char *option, const char *text, uint64_t *count)
{
	struct sl_decimal number;

	if (sl_decimal_scan(text, &number) && *number.end == '\0' &&
		sl_decimal_to_integer(&number, count) == SL_INTEGER_OK)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--%s %s: the value must be a whole number from 0 to 2^64 - 1; for example --%s 17",
		option, text, option);
}

/*
 * The number of a particle's batch depends on the batch size. If the configuration leaves it to
 * auto, the size is that of the run in the output directory, if there is one.
 */
enum sl_status sl_command_replay(struct sl_args *a)
{
	SL_CLOSED_BY(sl_plan_give) struct sl_plan *plan = NULL;
	uint64_t id;

	SL_TRY(read_count("id", a->id, &id));
	SL_TRY(sl_read_config(a, true));
	SL_TRY(sl_plan_make(&sl_cli_config, &sl_cli_choices, &plan));
	return sl_replay(plan, sl_config_name(a), id, a->json, stdout);
}

/*
 * A signal stops the join in order: it removes what it has written. It writes only where the
 * command line says, never where a part does, which others may have made.
 */
enum sl_status sl_command_join(struct sl_args *a)
{
	bool has_out = a->out && a->out[0];
	const struct sl_join_job job = {.in = a->operands,
		.n = a->n_operands,
		.to = has_out ? a->out : a->operands[0],
		.force = a->force,
		.stop = &sl_cli_control.stop,
		.results = print_complete,
		.ctx = a};

	if (!has_out && a->n_operands > 1)
		return sl_fail(SL_USAGE,
			"join needs --out DIR for the parts of several directories; add the option");
	sl_signals_begin_work();
	return sl_join(&job);
}

enum sl_status sl_command_verify(struct sl_args *a)
{
	return sl_verify(a->operands[0], a->json, a->quiet, stdout);
}

/* A signal stops the conversion in order: the output file appears only when it is complete. */
enum sl_status sl_command_convert(struct sl_args *a)
{
	const struct sl_convert_job job = {.in = a->operands,
		.n = a->n_operands,
		.to = a->to,
		.set = a->set,
		.n_sets = a->n_sets,
		.force = a->force,
		.stop = &sl_cli_control.stop};

	sl_signals_begin_work();
	return sl_convert(&job, a->quiet ? NULL : stdout);
}

enum sl_status sl_command_info(struct sl_args *a)
{
	uint64_t head = 0;

	if (a->head)
		SL_TRY(read_count("head", a->head, &head));
	return sl_info(a->operands[0], head, a->json, stdout);
}

enum sl_status sl_command_status(struct sl_args *a)
{
	return sl_status_print(a->operands[0], a->json, stdout);
}
