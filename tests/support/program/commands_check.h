/* commands_check.h - the output of commands. */
#ifndef SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H
#define SL_TESTS_SUPPORT_PROGRAM_COMMANDS_CHECK_H

#include "tests/support/runs/reference_run.h"

/* Expects success, and the text as a part of stdout. */
void expect_output(const char *says, const char *const *words);

#endif
