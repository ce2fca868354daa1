/* fixture.c - see fixture.h. */
#include "tests/support/fixture.h"

#include "primitives/base/fault.h"

struct folder folder;

int folder_begin(void **state)
{
	(void)state;
	folder_make(&folder);
	return 0;
}

int folder_end(void **state)
{
	(void)state;
	sl_fault_set(NULL);
	folder_remove(&folder);
	return 0;
}
