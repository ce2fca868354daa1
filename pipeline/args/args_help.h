/* args_help.h - the help of the command line. */
#ifndef SL_PIPELINE_ARGS_ARGS_HELP_H
#define SL_PIPELINE_ARGS_ARGS_HELP_H

#include "pipeline/args/args.h"

/* Prints the text of sluice --help: all commands, options and exit codes. */
void sl_args_help(FILE *out);

/* Prints the help of one command: its details and its options. */
void sl_args_help_command(enum sl_command command, FILE *out);

#endif
