/*
 * commands_check.h - helpers for tests of commands that read a complete run and must not change
 * it.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H
#define SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H

#include "tests/support/runs/reference_run.h"

/* What a group of tests begins with: c.yaml of four batches, its run in "whole", remembered. */
int commands_begin(void **state);

/* The command succeeds, and has that text in what it writes to stdout. */
void expect_out(const char *says, const char *const *words);

/* As expect(), of a line of shell, in which $SLUICE is the program. */
void shell(int code, const char *says, const char *line);

#endif
