/* ranks_plan.c - see cli.h. */
#include "pipeline/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	static char set[64];
	uint32_t batch;
	enum sl_status s;

	SL_TRY(find_batch(*plan, &batch));
	if (batch == (*plan)->recipe.batch)
		return sl_ranks_agree(sl_cli_ranks, SL_OK);
	sl_plan_free(*plan);
	*plan = NULL;
	if (a->n_sets == SL_SETS_MAX) {
		s = sl_fail(SL_USAGE,
			"run.batch is not the same on all ranks (the smallest one is %u), and cannot be "
			"set here after %d options --set; write run.batch: %u in the configuration",
			batch, SL_SETS_MAX, batch);
	} else {
		snprintf(set, sizeof(set), "run.batch=%u", batch);
		a->set[a->n_sets++] = set;
		s = sl_read_plan(a, false, plan);
	}
	return sl_ranks_agree(sl_cli_ranks, s);
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
