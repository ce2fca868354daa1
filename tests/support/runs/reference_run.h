/*
 * reference_run.h - a directory with a configuration and an undisturbed CPU run of it, with which
 * other runs are compared.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_REFERENCE_RUN_H
#define SL_TESTS_SUPPORT_RUNS_REFERENCE_RUN_H

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

extern uint64_t reference_hash; /* the hash of that run */

/* Writes c.yaml with that text, and runs it into "whole". For the setup of a group. */
void reference_run_begin(const char *text);

/* Resumes "out", which may be damaged, incomplete or absent, compares its hash with reference_hash, and
 * removes it. */
void reference_run_resume(void);

#endif
