/*
 * commands_check.h - helpers for tests of commands that read a complete run and must not change
 * it.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H
#define SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H

#include "tests/support/runs/reference_run.h"

/* Group setup: writes c.yaml (four batches), runs it into "whole" and calls folder_remember(). */
void commands_begin(void);

/* Expects success, and the text as a part of stdout. */
void expect_output(const char *says, const char *const *words);

/* Like expect(), for a shell command line in which $SLUICE is the program. */
void shell(int code, const char *says, const char *line);

#endif
