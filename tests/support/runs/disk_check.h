/*
 * disk_check.h - checks a run after the disk was full or failed.
 *
 * Expected: exit code 4, a message with file and reason, no partial file, unchanged earlier batches.
 * When the disk has space again, --resume must give the bytes of an undisturbed run.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H
#define SL_TESTS_SUPPORT_RUNS_DISK_CHECK_H

#include "tests/support/runs/tiny_run.h"

/* Number of batches in most of these runs. */
enum { BATCHES = 3 };

/* Results of several runs with faults. */
struct disk_failures {
	unsigned failed, succeeded; /* runs that failed, and that succeeded despite the fault */
	struct tiny_states states;  /* of the folder, from which --resume was already tested */
};

/*
 * Checks that the run failed with the message of errno error, or succeeded, then checks and resumes out.
 * error = 0 accepts any message. Returns the number of batches before the resume.
 */
unsigned check_disk_failure(struct tiny_run *t, const char *out, enum tiny_end how,
	const struct ending *e, int error, struct disk_failures *failures);

#endif
