/* skip.c - see skip.h. */
#include "tests/support/basic/skip.h"

#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

static int skipped;

void skip_now(void)
{
	skipped++;
	_skip(__FILE__, __LINE__);
}

int exit_code_of_tests(int failed)
{
	return failed == 0 && skipped > 0 ? SKIPPED : failed;
}

void skip_others(void)
{
	folder_end();
	exit(SKIPPED);
}

void skip_without_device(void)
{
	int n;

	if (sl_device_count(&n) != SL_OK)
		skip_file("the test needs a CUDA device: %s", sl_last_error());
}

void skip_without_failing_malloc(void)
{
	if (!getenv("SLUICE_FAILING_MALLOC"))
		skip_file(
			"the test makes allocations fail, which needs a build without sanitizers; "
			"run it with ctest");
}
