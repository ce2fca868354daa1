/*
 * command_files.c - the commands that read files: join, replay, verify, convert, info and status.
 *
 * Each passes the fields of the command line that it needs to the function that does the work, and
 * stdout as the place of its output.
 */
#include <stdio.h>

#include "pipeline/cli/cli.h"
#include "pipeline/convert/convert.h"
#include "pipeline/info/info.h"
#include "pipeline/join/join.h"
#include "pipeline/replay/replay.h"
#include "pipeline/report/report.h"
#include "pipeline/status/status.h"
#include "pipeline/text/text.h"
#include "pipeline/verify/verify.h"

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
	static struct sl_config config;
	static struct sl_choices choices;
	struct sl_plan *plan = NULL;
	enum sl_status s;
	uint64_t id;

	SL_TRY(read_count("id", a->id, &id));
	s = sl_read_config(a, &config, &choices);
	if (s == SL_OK)
		s = sl_use_existing_batch_size(a, &config, &choices);
	if (s == SL_OK)
		s = sl_plan_make(&config, &choices, &plan);
	if (s == SL_OK)
		s = sl_replay(plan, sl_config_name(a), id, a->json, stdout);
	sl_plan_free(plan);
	return s;
}

/* Prints the results of a joined run as sluice run does. */
static void print_joined(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
	const struct sl_session *session)
{
	const struct sl_args *a = (const struct sl_args *)ctx;

	if (a->json)
		sl_report_write(w, m, session, "done", stdout);
	else if (!a->quiet && sl_report_print(w, m, session, stdout) != SL_OK)
		fprintf(stderr, "sluice: %s\n", sl_last_error());
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
