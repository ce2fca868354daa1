/*
 * tiny_run.h - a run of a few small batches, and the checks that hold after any fault.
 *
 * An unbroken run is made first; its bytes are what all others are held against. So the checks know
 * nothing of the program but the names of its files:
 *
 *	- a file under a final name is that of the unbroken run, whole;
 *	- the manifest is the beginning of the unbroken run's, and each file that a whole line of it
 *	  stands for is there;
 *	- run.json is whole (it tells times, so it differs from run to run);
 *	- nothing else is there, but what ends in .part after a kill;
 *	- --resume ends well, and leaves the bytes of the unbroken run, run.json apart.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_TINY_RUN_H
#define SL_TESTS_SUPPORT_RUNS_TINY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/program/folder.h"
#include "tests/support/program/process.h"

enum { TINY_WORDS = 40, TINY_BATCH = 200, TINY_STATES = 64 };

struct tiny_run {
	const char *threads;     /* for --threads */
	const char *format;      /* output.format */
	unsigned batches;        /* of TINY_BATCH particles */
	unsigned ends_at;        /* so many of them, by a stop.when in more; 0: all */
	const char *const *more; /* where to run it, and how; NULL: on the CPU. May change */
	struct folder folder;
	uint64_t hash;  /* of the unbroken run */
	char what[256]; /* what was done to a run, for the message of a check that fails */
};

/* With all of that set: makes the folder, the configuration and the unbroken run. */
void tiny_make(struct tiny_run *t);
void tiny_free(struct tiny_run *t);

/*
 * The command line of a run into the folder out, behind the words in front (or NULL), with the word
 * last (or NULL) at its end. It is to be run in t->folder.
 */
void tiny_words(const struct tiny_run *t, const char *const *front, const char *out,
	const char *last, const char *words[TINY_WORDS]);

/* Runs into out. env, front and last may be NULL; *e is the caller's to process_free. */
void tiny_go(struct tiny_run *t, const char *const *env, const char *const *front, const char *out,
	const char *last, struct ending *e);

/*
 * Runs into "out" under the tracer (ptrace_run.h, whose log is "log"): the call of that number, with on
 * also all after it, fails with that errno, or the run is killed there when it is 0.
 */
void tiny_go_traced(struct tiny_run *t, unsigned long at, bool on, int error, const char *last,
	struct ending *e);

/* What tiny_go() runs, for process_start(): *c must live until it has ended. */
struct tiny_command {
	const char *words[TINY_WORDS];
	struct process process;
};
void tiny_command(const struct tiny_run *t, const char *const *env, const char *const *front,
	const char *out, const char *last, struct tiny_command *c);

/*
 * Is all in out as it must be? Returns how many batches its manifest has. A run that ended by
 * itself leaves no .part and no torn line; one killed may; one killed while it replaced another
 * (--force) may have removed files, which goes before the line that names them.
 */
enum tiny_end { TINY_ENDED, TINY_KILLED, TINY_REPLACING };
unsigned tiny_check(struct tiny_run *t, const char *out, enum tiny_end how);

/* Goes on with out to its end, checks that it is as the unbroken run, and removes it. */
void tiny_finish(struct tiny_run *t, const char *out);

/*
 * The same for a folder whose files are in a state that is not yet among states, else it is just
 * removed: what --resume makes of it depends on its files alone, and there are few ways they can be
 * left in. run.json tells times; that it is there counts.
 */
struct tiny_states {
	uint64_t state[TINY_STATES];
	size_t n;
};
void tiny_finish_once(struct tiny_run *t, const char *out, struct tiny_states *states);

/* Is the state that out is in among them? */
bool tiny_is_known(struct tiny_run *t, const char *out, const struct tiny_states *states);

/* Removes out, if it is there. */
void tiny_remove(const struct tiny_run *t, const char *out);

/* The sentence that ended a run: it came with this exit code, and has these texts (or NULL). */
void tiny_check_ending(struct tiny_run *t, const struct ending *e, int code, const char *text,
	const char *other_text);

#endif
