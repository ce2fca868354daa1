/*
 * fixture.h - the temporary directory of a test group or of each test: created before, removed
 * after.
 *
 *	cmocka_run_group_tests(tests, folder_begin, folder_end);             one for the group
 *	const struct CMUnitTest tests[] = {WITH_FOLDER(first_test), ...};    one for each test
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H
#define SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H

#include "tests/support/program/folder.h"

extern struct folder folder;

/* Makes an empty folder. A setup function that needs files calls folder_make(&folder) instead. */
int folder_begin(void **state);

/* folder_remember() saves a hash of the contents; expect_untouched() fails if they have changed. */
void folder_remember(void);
void expect_untouched(void);

/* Removes the folder and disarms all faults. */
int folder_end(void **state);

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_begin, folder_end)

#endif
