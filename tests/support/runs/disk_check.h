/*
 * disk_check.h - how a run must end when the disk is full or fails.
 *
 * Exit code 4, a sentence that names the file and the reason, nothing half-written, the batches
 * before as they were; and --resume, once there is room again, gives the bytes of an unbroken run.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H

#include "tests/support/runs/tiny_run.h"

/* Of most such runs. */
enum { BATCHES = 3 };

/*
 * How often runs failed, and how often they bore the fault and ended well; the states of the folder
 * from which --resume was already tried.
 */
struct disk_tally {
	unsigned failed, borne;
	struct tiny_states states;
};

/*
 * The run failed as it should (error 0: in words cut off), or ended well; out is as it must be, and
 * goes on to its end. Returns how many batches it had before that.
 */
unsigned disk_judge(struct tiny_run *t, const char *out, enum tiny_end how, const struct ending *e,
	int error, struct disk_tally *tally);

#endif
