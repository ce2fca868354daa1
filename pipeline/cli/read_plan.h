/* read_plan.h - from the command line to a resolved configuration and a plan. */
#ifndef SL_PIPELINE_CLI_READ_PLAN_H
#define SL_PIPELINE_CLI_READ_PLAN_H

#include "pipeline/args/args.h"
#include "pipeline/plan/plan.h"
#include "pipeline/ranks/ranks.h"

/* The ranks of the run, if MPI has started this process as one of several; else NULL. */
extern struct sl_ranks *sl_cli_ranks;

/* The name of the configuration of the command line in messages: "<stdin>" for the operand -. */
const char *sl_config_name(const struct sl_args *a);

/*
 * Reads and resolves the configuration of the command line. Standard input is read once; a later call
 * uses the same text. Prints all problems of a configuration to stderr, of several ranks on the first one;
 * sl_last_error() is then "". c and choices are static storage of the caller.
 */
enum sl_status sl_read_config(
	const struct sl_args *a, struct sl_config *config, struct sl_choices *choices);

/* If run.batch is auto and the output directory has a run, takes that run's batch size. */
enum sl_status sl_use_existing_batch_size(
	struct sl_args *a, struct sl_config *config, struct sl_choices *choices);

/*
 * Reads, resolves, plans and refuses what cannot run; predict: also predicts the time and the bytes of the run.
 * *plan stays NULL after --print-config. The caller frees it in any case.
 */
enum sl_status sl_read_plan(struct sl_args *a, bool predict, struct sl_plan **plan);

#endif
