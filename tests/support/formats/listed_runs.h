/* listed_runs.h - two particle lists in the folder of a test (fixture.h), and runs that read both. */
#ifndef SL_TESTS_SUPPORT_FORMATS_LISTED_RUNS_H
#define SL_TESTS_SUPPORT_FORMATS_LISTED_RUNS_H

#include "tests/support/formats/mcpl_lists.h"

/* The particles of both lists. User flags are the number of a particle. */
enum { LISTED = 1200 };
extern struct sl_mcpl_particle listed[LISTED];

/* A key with many ties. */
extern const char listed_key[];

/* Setup of a group: makes the folder, and in it a.mcpl (doubles) and b.mcpl.gz (single precision). */
void listed_lists(void);

/*
 * Runs both lists with batches of this size to the folder `out`, and verifies it. more are further lines of
 * the configuration c.yaml, whose condition drops the first particles.
 */
void listed_run(const char *device, unsigned batch, const char *more);

#endif
