/*
 * open_dir.h - an open directory for the code under test; each test must close all its
 * descriptors.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_OPEN_DIR_H
#define SL_TESTS_SUPPORT_BASIC_OPEN_DIR_H

#include "primitives/files/files.h"
#include "tests/support/program/fixture.h"

struct open_dir {
	struct sl_dir dir;
	size_t open; /* open descriptors at the beginning */
};
extern struct open_dir open_dir; /* of the folder of the test (support/program/fixture.h) */

/*
 * For BEFORE_EACH and AFTER_EACH. The end fails if a descriptor is left open, and disarms faults.
 */
void open_dir_begin(void);
void open_dir_end(void);

#endif
