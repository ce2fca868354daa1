/* args_help.h - the help of the command line. */
#ifndef SL_PIPELINE_ARGS_ARGS_HELP_H
#define SL_PIPELINE_ARGS_ARGS_HELP_H

#include "pipeline/args/args.h"

/* Prints the text of sluice --help: all commands, options and exit codes. */
void sl_args_help(FILE *out);

/* Prints the help of one command: its details and its options. */
void sl_args_help_command(enum sl_command command, FILE *out);

enum { SL_NOTE_BYTES = 128 };

/*
 * Writes the note that follows the help of an option in parentheses: the key of a setting with its
 * default ("run.mode; default auto"), and if all, the commands that take another option. "" if there
 * is nothing to say. Returns note.
 */
const char *sl_args_note(const struct sl_args_option *option, bool all, char note[SL_NOTE_BYTES]);

#endif
