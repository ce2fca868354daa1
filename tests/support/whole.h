/*
 * whole.h - a folder with a configuration, and a run of it on the CPU that nothing has broken: what
 * others, however they came about, are held against.
 */
#ifndef TESTS_SUPPORT_WHOLE_H
#define TESTS_SUPPORT_WHOLE_H

#include "tests/support/program.h"

extern struct folder folder; /* c.yaml, and its run in "whole" */
extern uint64_t unbroken;    /* the hash of that */

/* Makes them, for c.yaml of that text: in what a group of tests begins with. */
void whole_begin(const char *text);

/* What such a group ends with. */
int whole_end(void **state);

#endif
