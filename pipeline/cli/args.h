/* args.h - the command line, parsed. */
#ifndef SL_PIPELINE_CLI_ARGS_H
#define SL_PIPELINE_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pipeline/config/config.h"
#include "primitives/base/status.h"

#define SL_COMMANDS(X)                                                                             \
	X(run, "CONFIG", "run the batches of a configuration")                                     \
	X(plan, "CONFIG", "what a run would do: memory, files; runs nothing")                      \
	X(compare, "CONFIG", "every backend end to end: equal answers, times a stage, a table")    \
	X(replay, "CONFIG --id N", "the history of one particle: each step, each draw, its end")   \
	X(verify, "DIR", "reread a run: digests, order, closure, survivors remade from id; image") \
	X(convert, "IN... --to FILE",                                                              \
		"files or a run as one file: MCPL, openPMD, npz, csv.gz; several are joined")      \
	X(info, "FILE", "what is inside a file of survivors, of an image's numbers, or any MCPL")  \
	X(list, "", "models, columns, fates, units, backends, formats of this build")              \
	X(help, "[COMMAND|KEY]",                                                                   \
		"about a command or a key of the configuration (run.seed, model.slab)")

enum sl_command {
	SL_COMMAND_NONE,
#define X(name, operand, help) SL_COMMAND_##name,
	SL_COMMANDS(X)
#undef X
};

enum { SL_SET_BYTES = 1024 };

struct sl_args_count {
	bool given;
	uint64_t value;
};

struct sl_args {
	enum sl_command command;
	const char *operand;         /* the file, directory or word; NULL when there is none */
	const char *const *operands; /* of a command that takes more than one, n_operands */
	size_t n_operands;
	size_t n_sets;
	const char *set[SL_SETS_MAX];         /* "key=value" */
	char made[SL_SETS_MAX][SL_SET_BYTES]; /* those made from options such as --out */
	struct sl_args_count id;
	const char *to;
	bool resume, force, full, print_config, json, csv, markdown, quiet, help, version;
};

/* SL_USAGE with a story when the line is not understood. Strings point into argv. */
enum sl_status sl_args_parse(int argc, char **argv, struct sl_args *a);

/* sluice --help */
void sl_args_help(FILE *out);

/* What it says of one command, with more on it before the options. */
void sl_args_help_of(const char *command, const char *more, FILE *out);

#endif
