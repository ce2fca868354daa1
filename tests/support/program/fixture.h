/*
 * fixture.h - the temporary directory of a test group or of each test: created before, removed
 * after.
 *
 *	cmocka_run_group_tests(tests, folder_begin, folder_end);
 *	const struct CMUnitTest tests[] = {WITH_FOLDER(made), ...};
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H
#define SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H

#include "tests/support/program/folder.h"

extern struct folder folder;

/* One that begins with more than an empty folder calls folder_make(&folder) by itself. */
int folder_begin(void **state);

/* What is in it is to be there, and nothing else, whenever expect_untouched() is called. */
void folder_remember(void);
void expect_untouched(void);

/* Removes it; no fault is armed any more. */
int folder_end(void **state);

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_begin, folder_end)

#endif
