/*
 * open_dir.h - an open directory for the code under test; each test must close all its
 * descriptors.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_OPEN_DIR_H
#define SL_TESTS_SUPPORT_BASIC_OPEN_DIR_H

#include "primitives/files/dirs.h"
#include "tests/support/program/folder.h"

struct open_dir {
	struct folder folder;
	struct sl_dir dir;
	size_t open; /* open descriptors at the beginning */
};

/* Setup and teardown of a test. *state is a struct open_dir; the teardown disarms faults. */
int open_dir_begin(void **state);
int open_dir_end(void **state);

#define WITH_OPEN_DIR(test) cmocka_unit_test_setup_teardown(test, open_dir_begin, open_dir_end)

#endif
