/* read_plan.c - reads, resolves and plans what the command line names. */
#include "pipeline/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/compare/compare.h"
#include "pipeline/output/output.h"
#include "pipeline/replay/replay.h"
#include "primitives/files/files.h"

/* Is the configuration read from standard input? A file of that name is ./-. */
static bool is_stdin(const struct sl_args *a)
{
	return strcmp(a->operands[0], "-") == 0;
}

struct sl_ranks *sl_cli_ranks;

/* What all ranks of a run would print is printed by the first one. */
static bool prints(void)
{
	return !sl_cli_ranks || sl_cli_ranks->rank == 0;
}

const char *sl_config_name(const struct sl_args *a)
{
	return is_stdin(a) ? "<stdin>" : a->operands[0];
}

/*
 * Opens the configuration. The text of standard input is kept until the program ends, because it
 * cannot be read again.
 */
static enum sl_status open_config(
	const struct sl_args *a, struct sl_config *config, struct sl_reader **reader)
{
	static char *text;
	static size_t bytes;
	enum sl_status s = SL_OK;

	if (!is_stdin(a))
		return sl_config_open(a->operands[0], a->set, a->n_sets, config, reader);
	if (!text)
		s = sl_stream_read(STDIN_FILENO, sl_config_name(a), SL_YAML_BYTES, &text, &bytes);
	if (s != SL_OK)
		return s == SL_BAD_INPUT ? SL_USAGE : s;
	return sl_config_open_text(
		sl_config_name(a), text, bytes, a->set, a->n_sets, config, reader);
}

struct sl_config sl_cli_config;
struct sl_choices sl_cli_choices;

/* Reads and resolves, and prints the problems. */
static enum sl_status read_once(const struct sl_args *a)
{
	SL_CLOSED_BY(sl_config_give) struct sl_reader *reader = NULL;
	struct sl_config *config = &sl_cli_config;
	char no_gpu[SL_MESSAGE_BYTES] = "";
	enum sl_status s = open_config(a, config, &reader);

	if (s == SL_OK && a->part)
		s = sl_part_read(a->part, &config->part);
	if (s == SL_OK && sl_cli_ranks)
		config->share = sl_cli_ranks->share;
	if (s == SL_OK && a->command == SL_COMMAND_compare)
		sl_compare_choose_device(config, no_gpu);
	if (s == SL_OK && a->command == SL_COMMAND_replay)
		sl_replay_use_cpu(config);
	if (s == SL_OK)
		s = sl_resolve(config, reader, &sl_cli_choices);
	if (no_gpu[0])
		memcpy(sl_cli_choices.device_reason, no_gpu, sizeof(no_gpu));
	if (s == SL_USAGE && reader && sl_config_problems(reader) > 0) {
		if (prints())
			fputs(sl_config_report(reader), stderr);
		sl_set_last_error(""); /* the report has it all */
	}
	return s;
}

enum sl_status sl_read_config(struct sl_args *a, bool existing)
{
	static char set[64];
	uint64_t batch = 0;

	SL_TRY(read_once(a));
	if (existing && sl_cli_config.run.batch == 0)
		SL_TRY(sl_output_batch(&sl_cli_config, &batch));
	if (batch == 0 || a->n_sets == SL_SETS_MAX)
		return SL_OK;
	snprintf(set, sizeof(set), "run.batch=%lu", batch);
	a->set[a->n_sets++] = set;
	return read_once(a);
}

enum sl_status sl_read_plan(struct sl_args *a, bool predict, struct sl_plan **plan)
{
	uint64_t done = 0;

	*plan = NULL;
	SL_TRY(sl_read_config(a, a->resume));
	if (a->print_config) {
		static char text[SL_CONFIG_TEXT_BYTES];

		sl_config_print(&sl_cli_config, true, text, sizeof(text));
		if (prints())
			fputs(text, stdout);
		return SL_OK;
	}
	SL_TRY(sl_plan_make(&sl_cli_config, &sl_cli_choices, plan));
	if (a->resume)
		SL_TRY(sl_output_done(*plan, &done));
	return sl_plan_check_resources(*plan, done, predict);
}
