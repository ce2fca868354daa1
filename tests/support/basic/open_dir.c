/* open_dir.c - see open_dir.h. */
#include "tests/support/basic/open_dir.h"
#include "tests/faults/fault_injection.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

struct open_dir open_dir;

static size_t open_descriptors(void)
{
	const struct folder self = {"/proc/self/fd"};

	return folder_count(&self);
}

void open_dir_begin(void)
{
	assert_ok(sl_dir_open(folder.path, false, &open_dir.dir));
	open_dir.open = open_descriptors();
}

void open_dir_end(void)
{
	size_t open = open_descriptors();

	sl_fault_set(NULL);
	sl_dir_close(&open_dir.dir);
	assert_int_equal(open, open_dir.open);
}
