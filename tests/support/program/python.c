/* python.c - see python.h. */
#include "tests/support/program/python.h"

#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"

void need_h5py(void)
{
	const char *const words[] = {PYTHON, "-c", "import h5py", NULL};
	struct ending e;
	bool has;

	process_run(&(struct process){.argv = words}, HANG_SECONDS, &e);
	has = e.code == 0;
	process_free(&e);
	if (!has)
		skip_test("the test needs h5py for " PYTHON "; install python3-h5py");
}
