/*
 * args.h - the command line: commands.def lists the commands, args.def the options.
 *
 * Operands and options may be in any order. Each option that is a key of the configuration becomes
 * a setting, as if --set KEY=VALUE had been given.
 */
#ifndef SL_PIPELINE_ARGS_ARGS_H
#define SL_PIPELINE_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pipeline/config/config.h"
#include "primitives/base/status.h"

enum sl_command {
#define COMMAND(name, function, operands, least, most, sets, help, details) SL_COMMAND_##name,
#include "pipeline/args/commands.def"
#undef COMMAND
	SL_COMMAND_NONE
};

/*
 * Which settings of the configuration a command takes: none, --out, those of --set, or options too.
 */
enum sl_command_sets { SL_SETS_NONE, SL_SETS_ONLY_OUT, SL_SETS_ONLY_SET, SL_SETS_ALL };

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

/*
 * The size of a setting that an option makes, with its key and quotes; longer values are refused.
 */
enum { SL_SET_BYTES = 1024 };

/* The parsed command line. Texts point into argv, except those of option_set. */

struct sl_args {
	enum sl_command command;
	const char *const *argv;     /* the whole command line, ends with NULL */
	const char *const *operands; /* n_operands, then NULL; they point into argv */
	size_t n_operands;
	size_t n_sets, n_option_sets; /* numbers of items in set and in option_set */
	const char *set
		[SL_SETS_MAX]; /* sl_set_key() of options.h: those of --set, then those in option_set */
	char option_set[SL_SETS_MAX]
		       [SL_SET_BYTES]; /* of options such as --out: they override --set */
	const char *to, *id, *head, *part, *models; /* NULL if not given */
	const char *out; /* --out, which is also a setting; NULL if not given */
	uint64_t batch;  /* run.batch where it is auto, found later; 0: auto */
	bool resume, force, full, print_config, json, csv, devices, markdown, quiet, help, version;
};

/*
 * Parses a command line: getopt_long(3) moves the operands in argv to its end. argv must outlive
 * *a. SL_USAGE if an option is unknown, has no effect on the command or is missing, or if the
 * number of operands is wrong. Values of settings are not checked here.
 */
enum sl_status sl_args_parse(int argc, char **argv, struct sl_args *a);

/* How an option is stored in struct sl_args: args.def says which. */
enum sl_args_kind { SL_ARGS_SETTING, SL_ARGS_TEXT, SL_ARGS_COUNT, SL_ARGS_FLAG };

struct sl_args_option {
	enum sl_args_kind kind;
	const char *name;
	const char *key;      /* settings: key of the configuration; NULL: --set, any key */
	size_t offset;        /* others: of the field of struct sl_args */
	const char *value;    /* such as "DIR"; "" for a flag */
	const char *commands; /* others: the commands that take it, separated by spaces */
	const char *help;
};

/* Option i, in the order of the help; NULL after the last one. */
const struct sl_args_option *sl_args_option_at(size_t i);

/* Does the command take the option? */
bool sl_args_takes(enum sl_command c, const struct sl_args_option *o);

/* Prints the text of sluice --help: all commands, options and exit codes. */
void sl_args_help(FILE *out);

/* Prints the help of one command: its details and its options. */
void sl_args_help_command(enum sl_command command, FILE *out);

#endif
