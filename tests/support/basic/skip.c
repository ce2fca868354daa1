/* skip.c - see skip.h. */
#include "tests/support/basic/skip.h"

#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device.h"
#include "tests/support/basic/check.h"

static int skipped;

void skip_test(const char *format, ...)
{
	va_list values;

	printf("SKIP: ");
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	printf("\n");
	skipped++;
	_skip(__FILE__, __LINE__);
}

int exit_code_of_tests(int failed)
{
	return failed == 0 && skipped > 0 ? SKIPPED : failed;
}

bool skips_without_device(void)
{
	int n;

	if (sl_device_count(&n) == SL_OK)
		return false;
	printf("SKIP: the test needs a CUDA device: %s\n", sl_last_error());
	return true;
}

bool skips_without_failing_malloc(void)
{
	if (getenv("SLUICE_FAILING_MALLOC"))
		return false;
	printf("SKIP: the test needs the library failing_malloc; set SLUICE_FAILING_MALLOC to its path, "
	       "or run the test with ctest\n");
	return true;
}
