/*
 * commands.c - the commands other than run and plan.
 *
 * Each passes the fields of the command line that it needs to the function that does the work, and
 * stdout as the place of its output. list, help and version read no configuration and need no
 * device.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/cli/cli.h"
#include "pipeline/compare/compare.h"
#include "pipeline/convert/convert.h"
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

/* Prints the results of a joined run as sluice run does. */
static void print_joined(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session)
{
	sl_print_results((const struct sl_args *)ctx, w, m, session);
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
		.results = print_joined,
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
