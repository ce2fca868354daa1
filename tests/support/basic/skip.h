/* skip.h - ends a test program that cannot run here, and prints why; ctest counts it as skipped. */
#ifndef SL_TESTS_SUPPORT_BASIC_SKIP_H
#define SL_TESTS_SUPPORT_BASIC_SKIP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/device/device.h"
#include "primitives/base/status.h"

enum { SKIPPED = 77 }; /* exit code of a skipped test, see tests/CMakeLists.txt */

static inline bool skips_without_device(void)
{
	int n;

	if (sl_device_count(&n) == SL_OK)
		return false;
	printf("SKIP: %s\n", sl_last_error());
	return true;
}

/* Builds with sanitizers have no tests/preload, because sanitizers replace the allocator. */
static inline bool skips_without_failing_malloc(void)
{
	if (getenv("SLUICE_FAILING_MALLOC"))
		return false;
	printf("SKIP: SLUICE_FAILING_MALLOC names no library whose allocations fail\n");
	return true;
}

#endif
