/* read_plan.c - reads, resolves and plans what the command line names. */
#include "pipeline/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
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
	if (s == SL_OK && config->run.batch == 0)
		config->run.batch = a->batch;
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
	SL_TRY(read_once(a));
	if (existing && sl_cli_config.run.batch == 0)
		SL_TRY(sl_output_batch(&sl_cli_config, &a->batch));
	return sl_cli_config.run.batch == 0 && a->batch > 0 ? read_once(a) : SL_OK;
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

/* --- ranks ------------------------------------------------------------------------------------ */

/*
 * Sets *batch to the smallest batch of all ranks: one with less memory, or without a GPU, may have
 * planned smaller ones than the others, but the files depend on their size.
 */
static enum sl_status find_batch(const struct sl_plan *plan, uint32_t *batch)
{
	struct sl_ranks *r = sl_cli_ranks;
	uint32_t *all = (uint32_t *)calloc(r->n, sizeof(*all));
	enum sl_status s;

	*batch = plan->recipe.batch;
	if (!all) {
		r->lost = true; /* the others wait for the batch size of this rank */
		return sl_fail(SL_HOST_MEMORY, "no memory for the batch sizes of %u ranks", r->n);
	}
	s = r->gather(&plan->recipe.batch, sizeof(*all), all);
	for (uint32_t i = 0; s == SL_OK && i < r->n; i++)
		*batch = all[i] < *batch ? all[i] : *batch;
	free(all);
	return s;
}

/* Plans again if other ranks need smaller batches. Only called if all ranks have a plan. */
static enum sl_status use_common_batch(struct sl_args *a, struct sl_plan **plan)
{
	uint32_t batch;

	SL_TRY(find_batch(*plan, &batch));
	if (batch == (*plan)->recipe.batch)
		return sl_ranks_agree(sl_cli_ranks, SL_OK);
	sl_plan_free(*plan);
	*plan = NULL;
	a->batch = batch;
	return sl_ranks_agree(sl_cli_ranks, sl_read_plan(a, false, plan));
}

/* Names the first line in which two configurations differ. */
static enum sl_status refuse_text(const char *here, const char *there)
{
	while (*here != '\0' && strcspn(here, "\n") == strcspn(there, "\n") &&
		strncmp(here, there, strcspn(here, "\n")) == 0) {
		here += strcspn(here, "\n");
		there += strcspn(there, "\n");
		here += *here == '\n';
		there += *there == '\n';
	}
	return sl_fail(SL_USAGE,
		"the run is not that of rank 0: '%.*s' here, '%.*s' there (all ranks compute one run); "
		"start all with the same program, file and options",
		(int)strcspn(here, "\n"), here, (int)strcspn(there, "\n"), there);
}

/*
 * Compares with rank 0 all that must be the same: the program, the part, the configuration as far
 * as it determines results, and what determines other files.
 */
static enum sl_status compare_plans(const struct sl_plan *plan)
{
	enum { MORE_BYTES = 256 };
	static char here[SL_CONFIG_TEXT_BYTES + MORE_BYTES], there[sizeof(here)];
	enum sl_status s = SL_OK;

	snprintf(here, sizeof(here),
		"sluice: %s %s\npart: %lu/%lu\noutput.durable: %d\noutput.joined: %d\n%s",
		sl_version(), sl_commit(), plan->config.part.number, plan->config.part.of,
		plan->config.output.durable, sl_plan_is_joined(plan), plan->config_text);
	memcpy(there, here, sizeof(there));
	SL_TRY(sl_cli_ranks->broadcast(there, sizeof(there)));
	if (strcmp(here, there) != 0)
		s = refuse_text(here, there);
	return sl_ranks_agree(sl_cli_ranks, s);
}

enum sl_status sl_read_plan_of_ranks(struct sl_args *a, struct sl_plan **plan)
{
	enum sl_status s;

	*plan = NULL;
	SL_TRY(sl_ranks_open(a->part != NULL, &sl_cli_ranks));
	if (sl_cli_ranks && strcmp(a->operands[0], "-") == 0)
		s = sl_fail(SL_USAGE,
			"the configuration cannot be read from standard input under MPI (only rank 0 "
			"has it); name a file");
	else
		s = sl_read_plan(a, false, plan);
	if (!sl_cli_ranks)
		return s;
	SL_TRY(sl_ranks_agree(sl_cli_ranks, s));
	if (!*plan) /* --print-config */
		return SL_OK;
	SL_TRY(use_common_batch(a, plan));
	return compare_plans(*plan);
}
