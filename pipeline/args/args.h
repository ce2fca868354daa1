/*
 * args.h - the command line: commands.def lists the commands, args.def the options.
 */
#ifndef SL_PIPELINE_ARGS_ARGS_H
#define SL_PIPELINE_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/config/config.h"
#include "primitives/base/status.h"

enum sl_command {
#define COMMAND(name, function, operands, least, most, sets, help, details) SL_COMMAND_##name,
#include "pipeline/args/commands.def"
#undef COMMAND
	SL_COMMAND_NONE
};

/* Which settings of the configuration a command takes. */
enum sl_command_sets { SL_SETS_NONE, SL_SETS_ONLY_SET, SL_SETS_ALL };

/* A line of commands.def. */
struct sl_command_facts {
	const char *name, *operands;
	size_t least, most; /* numbers of operands */
	enum sl_command_sets sets;
	const char *help, *details;
};
extern const struct sl_command_facts sl_commands[SL_COMMAND_NONE];

/* The command of that name, or SL_COMMAND_NONE. */
enum sl_command sl_command_find(const char *name);

enum { SL_SET_BYTES = 1024 };

struct sl_args {
	enum sl_command command;
	const char *const *argv;     /* the whole command line, ends with NULL */
	const char *const *operands; /* n_operands, then NULL; they point into argv */
	size_t n_operands;
	size_t n_sets, n_option_sets; /* numbers of items in set and in option_set */
	const char *set[SL_SETS_MAX]; /* "key=value": those of --set, then those in option_set */
	char option_set[SL_SETS_MAX]
		       [SL_SET_BYTES]; /* of options such as --out: they override --set */
	const char *to, *id;           /* NULL if not given */
	bool resume, force, full, print_config, json, csv, markdown, quiet, help, version;
};

/*
 * Parses a command line. SL_USAGE if it is not valid. Strings point into argv, which must outlive *a.
 */
enum sl_status sl_args_parse(int argc, char **argv, struct sl_args *a);

/* Prints the text of sluice --help: all commands, options and exit codes. */
void sl_args_help(FILE *out);

/* Prints the help of one command: its details and its options. */
void sl_args_help_command(enum sl_command command, FILE *out);

#endif
