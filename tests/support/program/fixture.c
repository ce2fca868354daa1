/* fixture.c - see fixture.h. */
#include "tests/support/program/fixture.h"
#include "tests/faults/fault_injection.h"

#include "tests/support/basic/check.h"

struct folder folder;
static uint64_t remembered; /* hash of the folder at folder_remember() */

void folder_remember(void)
{
	remembered = folder_hash(folder.path, NULL);
}

void expect_untouched(void)
{
	assert_int_equal(folder_hash(folder.path, NULL), remembered);
}

void folder_end(void)
{
	sl_fault_set(NULL);
	folder_remove(&folder);
}
