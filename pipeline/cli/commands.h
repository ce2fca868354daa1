/*
 * commands.h - the functions of commands.def, one per command.
 *
 * Each takes the parsed command line, prints results to stdout and progress to stderr, and returns
 * the status that becomes the exit code. After a failure main() prints sl_last_error().
 */
#ifndef SL_PIPELINE_CLI_COMMANDS_H
#define SL_PIPELINE_CLI_COMMANDS_H

#include "pipeline/args/args.h"

/* When the program started, by sl_now_ns(); set by main(). run.stop_before counts from it. */
extern uint64_t sl_program_start_ns;

#define COMMAND(name, function, operands, least, most, sets, help, details) \
	enum sl_status function(struct sl_args *a);
#include "pipeline/args/commands.def"
#undef COMMAND

#endif
