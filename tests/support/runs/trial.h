/*
 * trial.h - one command with a fault: what must hold after it, whatever the fault is.
 *
 * A scenario is a command with its input. trial_begin() runs it undisturbed and logs its calls of
 * sl_fault(), with their sites: the call and its callers. After a fault,
 *
 *	- each file has the bytes that it had before, or those that the undisturbed command gives it;
 *	- a manifest is a beginning of the undisturbed one, and its files exist;
 *	- no process and, unless the command was killed, no temporary file is left;
 *	- a message has a remedy, and a command that succeeded has done and printed all;
 *	- a second command (--resume) gives the bytes of the undisturbed one.
 *
 * A failed check prints the command and the environment that repeat it.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_TRIAL_H
#define SL_TESTS_SUPPORT_RUNS_TRIAL_H

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/program/tree.h"
#include "tests/support/runs/call_log.h"

enum {
	REPLACES = 1,  /* removes files, and makes them again */
	SURVIVES = 2,  /* the failure of one device in a batch changes nothing */
	THREADS = 4,   /* the order of its calls varies */
	ONE_WRITER = 8 /* its batches are committed in order */
};

struct scenario {
	const char *name;
	const char *before; /* commands that make its input; a first word SL_FAULT=... is a fault */
	const char *command;
	const char *repair; /* completes its output; NULL: the command again, a run with --resume */
	const char *other;  /* completes it too; may be NULL */
	unsigned is;
};

enum { STATES_MOST = 256 };

/* A scenario with its undisturbed outcome. The folder "f" contains nothing else. */
struct trial {
	const struct scenario *s;
	struct folder f;
	struct tree before, after;
	char fault[96]; /* the last one, with the files and the ending after it */
	struct tree now;
	struct ending end;
	char *out;      /* what the command prints */
	double seconds; /* that it takes with the log */
	struct calls calls;
	size_t first; /* allocation after the start, at which HDF5 is initialised and may crash */
	uint64_t states[STATES_MOST]; /* hashes of the states that were repaired */
	size_t n_states;
	pid_t pid;                  /* of the command that has stopped */
	unsigned failed, succeeded; /* commands with a fault */
	unsigned ended;             /* by a kill, or by HDF5 */
};

extern struct trial trial;

/* Makes the folder of the trial, its input and the undisturbed files, which are then removed. */
void trial_begin(const struct scenario *s);
void trial_end(void);

/* Runs a command line, without "sluice", in the folder of the trial. */
void trial_run(const char *line, const char *const *env, struct ending *e);

/* What a fault is besides its text. */
struct fault {
	/* Runs where SL_FAULT=...:stop stops the command; NULL: it does not. */
	void (*at_stop)(void);
	double seconds;           /* after which the command is killed; 0: it is not */
	unsigned long file_bytes; /* RLIMIT_FSIZE; 0: none */
	const char *more;         /* a second variable of the environment, or NULL */
	bool changes; /* files that are not the command's, so what is left is not checked */
};

#define fail_fault(...)                                                                        \
	do {                                                                                   \
		print_error("%s: %s with %s: ", trial.s->name, trial.s->command, trial.fault); \
		fail_msg(__VA_ARGS__);                                                         \
	} while (0)

/*
 * Runs the command with the fault, and checks the processes and files that are left. The text is a
 * variable of its environment or, without "=", a name of the fault. fault: NULL if it is no more
 * than that.
 */
SL_PRINTF(2, 3) void trial_run_with(const struct fault *fault, const char *format, ...);

/* The command ended by itself; with exit code 0 it has done all. */
void trial_check_ending(void);

/* The message has a remedy, and this text. */
void trial_check_message(const char *text);

/*
 * Tests whether the files that were read are those that the undisturbed command makes; and whether
 * it is "run".
 */
bool trial_is_finished(void);
bool trial_is_run(void);

/* Reads the files that there are; restores the input. */
void trial_read(void);
void trial_restore(void);

/* After a fault: repairs the output, and restores the input. */
void trial_finish(void);

#endif
