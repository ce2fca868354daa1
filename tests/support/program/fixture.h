/*
 * fixture.h - the temporary directory of a file of tests, or of each test
 * (support/basic/test_file.h): tests/main.c creates it before and removes it after.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H
#define SL_TESTS_SUPPORT_PROGRAM_FIXTURE_H

#include "tests/support/program/folder.h"

extern struct folder folder;

/* folder_remember() saves a hash of the contents; expect_untouched() fails if they have changed. */
void folder_remember(void);
void expect_untouched(void);

/* Removes the folder and disarms all faults. */
void folder_end(void);

#endif
