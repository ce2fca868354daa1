/*
 * fail_calls.h - each call of a command fails, once and from then on, and the command is killed at
 * it.
 *
 * An undisturbed command first logs its calls of sl_fault() with their sites, which are the call
 * and its callers. A site that no earlier command had fails at its first, its last and one other
 * call, another site at one call, or in a complete test (SLUICE_ONE_IN=1) each at every call. The
 * command is also killed at a moment that the seed selects. trial.h says what must hold then.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_FAIL_CALLS_H
#define SL_TESTS_SUPPORT_RUNS_FAIL_CALLS_H

#include "tests/support/runs/trial.h"

/* The calls of the device layer, or all others. */
void fail_calls(const struct scenario *s, bool of_device);

extern unsigned failed_commands, succeeded_commands; /* with a fault, so far */

/* Devices that run.json reports as failed. All batches must be counted once. */
size_t failed_devices(void);

#endif
