/*
 * tiny_run.h - makes runs of a few small batches, and checks that must hold after any fault.
 *
 * An undisturbed run, the reference run, is made first, and other runs are compared with it. The checks depend
 * only on the names of the files:
 *
 *	- a file with a final name equals that of the undisturbed run;
 *	- the manifest is a prefix of the manifest of the undisturbed run, and the files of its
 *	  complete lines exist;
 *	- run.json is complete (it contains times, so it differs between runs);
 *	- nothing else exists, except *.part after a kill;
 *	- --resume succeeds and restores the bytes of the undisturbed run except run.json.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_TINY_RUN_H
#define SL_TESTS_SUPPORT_RUNS_TINY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/program/folder.h"
#include "tests/support/program/process.h"

enum { TINY_WORDS = 40, TINY_BATCH = 200, TINY_STATES = 64 };

struct tiny_run {
	const char *threads; /* for --threads */
	const char *format;  /* output.format */
	unsigned batches;    /* of TINY_BATCH particles */
	unsigned ends_at;    /* batches after which stop.when (in more) ends the run; 0: all */
	const char *const *
		more; /* further arguments, such as the device; NULL: CPU. May change between runs */
	struct folder folder;
	uint64_t hash;  /* of the undisturbed run */
	char what[256]; /* the fault of the run, for the message of a failed check */
};

/* Makes the folder, the configuration and the undisturbed run. The fields up to more must be set. */
void tiny_make(struct tiny_run *t);
void tiny_free(struct tiny_run *t);

/*
 * Makes the command line of a run into out: front (a NULL-terminated list or NULL), the run, and last (or
 * NULL). The working directory is t->folder.
 */
void tiny_arguments(const struct tiny_run *t, const char *const *front, const char *out,
	const char *last, const char *words[TINY_WORDS]);

/* Runs into out. env, front and last may be NULL. The caller frees *e with process_free(). */
void tiny_execute(struct tiny_run *t, const char *const *env, const char *const *front,
	const char *out, const char *last, struct ending *e);

/*
 * all later calls, fail with errno error. If error is 0, the run is killed there.
 */
void tiny_execute_traced(struct tiny_run *t, unsigned long at, bool permanent, int error,
	const char *last, struct ending *e);

/* The same, but calls that read are counted too. */
void tiny_execute_traced_all(
	struct tiny_run *t, unsigned long at, int error, const char *last, struct ending *e);

/* The command of tiny_execute() for process_start(). *c must exist until the process has ended. */
struct tiny_command {
	const char *words[TINY_WORDS];
	struct process process;
};
void tiny_command(const struct tiny_run *t, const char *const *env, const char *const *front,
	const char *out, const char *last, struct tiny_command *c);

/*
 * Checks the files in out. Returns the number of batches in the manifest. A run that ended by itself
 * leaves no .part file and no partial line; a killed run may. A run killed while it replaced another
 * (--force) may have removed files whose lines are still in the manifest.
 */
enum tiny_end { TINY_ENDED, TINY_KILLED, TINY_REPLACING };
unsigned tiny_check(struct tiny_run *t, const char *out, enum tiny_end how);

/* Resumes out to its end, compares it with the undisturbed run, and removes it. */
void tiny_resume(struct tiny_run *t, const char *out);

/*
 * The same if the state of the folder is not yet in states; else only removes it. The result of
 * --resume depends only on the files, and few states exist, so each is tested once. Of run.json, which
 * contains times, only the existence is part of a state.
 */
struct tiny_states {
	uint64_t state[TINY_STATES];
	size_t n;
};
void tiny_resume_once(struct tiny_run *t, const char *out, struct tiny_states *states);

/* Tests whether the state of out is in states. */
bool tiny_is_known(struct tiny_run *t, const char *out, const struct tiny_states *states);

/* Removes out if it exists. */
void tiny_remove(const struct tiny_run *t, const char *out);

/* Checks the exit code of a run, and that its message contains both texts (or NULL). */
void tiny_check_ending(struct tiny_run *t, const struct ending *e, int code, const char *text,
	const char *other_text);

#endif
