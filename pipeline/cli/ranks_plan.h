/* ranks_plan.h - plans a run that may have several processes, under MPI. */
#ifndef SL_PIPELINE_CLI_RANKS_PLAN_H
#define SL_PIPELINE_CLI_RANKS_PLAN_H

#include "pipeline/cli/read_plan.h"

/*
 * Starts MPI and sets sl_cli_ranks if a launcher has started several processes. sl_read_plan(), with the same batch size on all ranks. SL_USAGE if the ranks have read
 * different configurations. All ranks return the same status; only one of them has the message.
 */
enum sl_status sl_read_plan_of_ranks(struct sl_args *a, struct sl_plan **plan);

#endif
