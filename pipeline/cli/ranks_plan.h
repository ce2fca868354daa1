/* ranks_plan.h - plans a run that may have several processes, under MPI. */
#ifndef SL_PIPELINE_CLI_RANKS_PLAN_H
#define SL_PIPELINE_CLI_RANKS_PLAN_H

#include "pipeline/cli/read_plan.h"

/*
 * Starts MPI, sets sl_cli_ranks if a launcher has started several processes, and calls sl_read_plan(). The
 * plans of all ranks have the same batch size. SL_USAGE if the ranks have read different configurations. All
 * ranks return the same status; a message that several ranks would have is left to one of them.
 */
enum sl_status sl_read_plan_of_ranks(struct sl_args *a, struct sl_plan **plan);

#endif
