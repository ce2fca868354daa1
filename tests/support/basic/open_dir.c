/* open_dir.c - see open_dir.h. */
#include "tests/faults/fault_injection.h"
#include "tests/support/basic/open_dir.h"

#include <stdlib.h>

#include "tests/support/basic/check.h"

static size_t open_descriptors(void)
{
	const struct folder self = {"/proc/self/fd"};

	return folder_count(&self);
}

int open_dir_begin(void **state)
{
	struct open_dir *s = (struct open_dir *)calloc(1, sizeof(*s));

	folder_make(&s->folder);
	assert_ok(sl_dir_open(s->folder.path, false, &s->dir));
	s->open = open_descriptors();
	*state = s;
	return 0;
}

int open_dir_end(void **state)
{
	struct open_dir *s = (struct open_dir *)*state;
	size_t open = open_descriptors();

	sl_fault_set(NULL);
	sl_dir_close(&s->dir);
	folder_remove(&s->folder);
	assert_int_equal(open, s->open);
	free(s);
	return 0;
}
