/*
 * skip.h - skips tests that cannot run on this machine, so that ctest lists their program as
 * skipped.
 *
 * A program that skipped a test and failed none ends with SKIPPED, which tests/CMakeLists.txt sets
 * as SKIP_RETURN_CODE. CI fails if a program without the label gpu is skipped (run_tests in
 * scripts/setup.sh). A test that a build cannot contain, for example without a sanitizer, is not
 * skipped: it is not in the list of its program.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_SKIP_H
#define SL_TESTS_SUPPORT_BASIC_SKIP_H

#include <stdbool.h>
#include <stdio.h>

enum { SKIPPED = 77 }; /* exit code of a program with a skipped test */

/* Ends the running cmocka test as skipped. The text says why, and what makes the test run. */
#define skip_test(...) (printf("SKIP: " __VA_ARGS__), printf("\n"), skip_now())
void skip_now(void);

/* Returns the exit code of a program of which this many tests failed. */
int exit_code_of_tests(int failed);

/*
 * For BEFORE_TESTS: end the program as skipped, after printing why, if no test of the file can run.
 */
void skip_without_device(void);
void skip_without_failing_malloc(void);
#define skip_file(...) (printf("SKIP: " __VA_ARGS__), printf("\n"), skip_others())
_Noreturn void skip_others(void);

#endif
