/*
 * status.h - how far a run is (sluice status), from the files of its directory.
 *
 * Nothing is written and no lock is taken, so a run in progress is not disturbed. The numbers are
 * those of the batches committed so far. The rate of a session in progress is that of the batches
 * committed since run.json was written at its start.
 */
#ifndef SL_PIPELINE_STATUS_STATUS_H
#define SL_PIPELINE_STATUS_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "pipeline/output/output.h"
#include "pipeline/report/tallies/tallies.h"
#include "primitives/base/status.h"
#include "primitives/files/files.h"

/* --- status ----------------------------------------------------------------------------------- */

enum sl_run_state {
	SL_RUN_STARTING,    /* a process holds the lock and has not written run.json yet */
	SL_RUN_RUNNING,     /* a process holds the lock, or LOCK names one of another machine */
	SL_RUN_INTERRUPTED, /* the process ended before it could write how: --resume continues it */
	SL_RUN_STOPPED,     /* by a signal or run.stop_before: --resume continues it */
	SL_RUN_DAMAGED,     /* of a part: run.json cannot be read, so nothing else is known */
	SL_RUN_DONE
};

struct sl_run_status {
	enum sl_run_state state;
	char name[128];
	struct sl_lock_holder lock;
	struct sl_part part;         /* of = 0: the whole run */
	uint64_t batches, n_batches; /* committed, and of the whole run or part */
	bool at_most;                /* the run may meet its stop rule earlier */
	uint64_t particles, n_particles, survivors, bytes;
	uint64_t session_particles;    /* committed by the present or last session */
	uint64_t truncated, max_steps; /* particles that ended by transport.max_steps */
	size_t damaged;      /* lines of the manifest; not the one that is being written */
	double rate;         /* particles per second of the session; 0: not known */
	double seconds_left; /* < 0: not known, or the run does not run */
	double since_commit; /* seconds since the last commit; < 0: there is none */
};

/*
 * Reads the status of the run in a directory at a time, in seconds since 1970. SL_BAD_INPUT if no
 * run has started there.
 */
enum sl_status sl_run_status_read(const struct sl_dir *dir, double now, struct sl_run_status *r);

/*
 * Prints how far a run is, or the parts in a directory. SL_BAD_INPUT if run.json, or that of a
 * part, is damaged; the other parts are printed nevertheless.
 */
enum sl_status sl_status_print(const char *directory, bool json, FILE *out);

#endif
