/*
 * reference_run.h - a directory with a configuration and an undisturbed CPU run of it, with which
 * other runs are compared.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_REFERENCE_RUN_H
#define SL_TESTS_SUPPORT_RUNS_REFERENCE_RUN_H

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

extern uint64_t unbroken; /* the hash of that run */

/* c.yaml of that text, and its run in "whole": in what a group of tests begins with. */
void reference_run_begin(const char *text);

/* --resume brings "out", be it broken, begun or not there, to that, and it is removed. */
void reference_run_finish(void);

#endif
