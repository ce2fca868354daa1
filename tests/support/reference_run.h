/*
 * reference_run.h - a folder with a configuration, and a run of it on the CPU that nothing has broken: what
 * others, however they came about, are held against.
 */
#ifndef SL_TESTS_SUPPORT_REFERENCE_RUN_H
#define SL_TESTS_SUPPORT_REFERENCE_RUN_H

#include "tests/support/fixture.h"
#include "tests/support/program.h"

extern uint64_t unbroken; /* the hash of that run */

/* c.yaml of that text, and its run in "whole": in what a group of tests begins with. */
void whole_begin(const char *text);

/* --resume brings "out", be it broken, begun or not there, to that, and it is removed. */
void whole_finish(void);

#endif
