/*
 * disk_check.h - checks a run after the disk was full or failed.
 *
 * Expected: exit code 4, a message with file and reason, no partial file, unchanged earlier batches.
 * When the disk has space again, --resume must give the bytes of an undisturbed run.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H

#include "tests/support/runs/tiny_run.h"

/* Number of batches of most such runs. */
enum { BATCHES = 3 };

/*
 * Number of runs that failed, and that succeeded in spite of the fault; states of the folder from
 * which --resume was already tested.
 */
struct disk_failures {
	unsigned failed, succeeded;
	struct tiny_states states;
};

/*
 * Checks that the run failed as required (error 0: by a truncated write) or succeeded, then checks and
 * resumes out. Returns the number of batches before the resume.
 */
unsigned check_disk_failure(struct tiny_run *t, const char *out, enum tiny_end how,
	const struct ending *e, int error, struct disk_failures *tally);

#endif
