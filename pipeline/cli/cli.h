/* cli.h - the program: its commands, signals, progress and plans */
#ifndef SL_PIPELINE_CLI_CLI_H
#define SL_PIPELINE_CLI_CLI_H

#include <stdio.h>

#include "pipeline/args/args.h"
#include "pipeline/plan/plan.h"
#include "pipeline/ranks/ranks.h"
#include "pipeline/run/run.h"

/* --- commands --------------------------------------------------------------------------------- */

/*
 * The functions of commands.def, one per command.
 *
 * Each takes the parsed command line, prints results to stdout and progress to stderr, and returns
 * the status that becomes the exit code. After a failure main() prints sl_last_error().
 */

/* When the program started, by sl_now_ns(); set by main(). run.stop_before counts from it. */
extern uint64_t sl_program_start_ns;

#define COMMAND(name, function, operands, least, most, sets, help, details) \
	enum sl_status function(struct sl_args *a);
#include "pipeline/args/commands.def"
#undef COMMAND

/* --- signals ---------------------------------------------------------------------------------- */

/*
 * How signals stop the program: the first signal stops a run in order, the second ends
 * the program at once.
 */

/* The control of the running command; handlers set its member stop, commands the others. */
extern struct sl_control sl_cli_control;

/* Installs the handlers. A signal that was ignored at the start stays ignored (nohup). */
void sl_signals_catch(void);

/* From now on the first signal stops the work in order; before, it ends the program at once. */
void sl_signals_begin_work(void);

/* The exit code of a run that was stopped: 128 + the signal. */
int sl_signals_exit_code(void);

/* --- progress --------------------------------------------------------------------------------- */

/*
 * Shows the progress of a run on stderr: on a terminal one line that is rewritten, in a log
 * a line now and then.
 *
 * A log is what a batch queue keeps. A run of less than 30 s writes no line there. A longer one
 * writes a line after 30 s, so that its rate and its end are known early; then a line at each
 * further 10 % and at least one every 10 minutes, but never two within 30 s.
 */

/* All zero, except out and terminal, at the start of a run. */
struct sl_progress_output {
	FILE *out;
	bool terminal;   /* out is a terminal */
	bool unfinished; /* the line on the terminal has no newline yet */
	bool any;        /* the log has a line */
	double seconds;  /* of the last line in the log */
	double share;    /* 0 to 1, of that line */
};

/* Shows *p, if it is time to. */
void sl_progress_show(struct sl_progress_output *o, const struct sl_progress *p);

/* Ends the line on a terminal. Also called before other output. */
void sl_progress_end(struct sl_progress_output *o);

/* --- read_plan -------------------------------------------------------------------------------- */

/* From the command line to a resolved configuration and a plan. */

/* The ranks of the run, if MPI has started this process as one of several; else NULL. */
extern struct sl_ranks *sl_cli_ranks;

/* The name of the configuration of the command line in messages: "<stdin>" for the operand -. */
const char *sl_config_name(const struct sl_args *a);

/* The configuration of the command line, resolved, as sl_read_config() has read it last. */
extern struct sl_config sl_cli_config;
extern struct sl_choices sl_cli_choices;

/*
 * Reads and resolves the configuration of the command line. Standard input is read once; a later
 * call uses the same text. Prints all problems of a configuration to stderr, of several ranks on
 * the first one; sl_last_error() is then "". existing: if run.batch is auto and the output directory
 * has a run, takes that run's batch size.
 */
enum sl_status sl_read_config(struct sl_args *a, bool existing);

/*
 * Reads, resolves, plans and refuses what cannot run; predict: also predicts the time and the bytes
 * of the run. *plan stays NULL after --print-config. The caller frees it in any case.
 */
enum sl_status sl_read_plan(struct sl_args *a, bool predict, struct sl_plan **plan);

/*
 * Starts MPI, sets sl_cli_ranks if a launcher has started several processes, and calls
 * sl_read_plan(). The plans of all ranks have the same batch size. SL_USAGE if the ranks have read
 * different configurations. All ranks return the same status; a message that several ranks would
 * have is left to one of them.
 */
enum sl_status sl_read_plan_of_ranks(struct sl_args *a, struct sl_plan **plan);

#endif
