/*
 * check.h - includes cmocka with the headers that it needs, defines two additional assertions, and
 * makes skipped tests visible in the exit code.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_CHECK_H
#define SL_TESTS_SUPPORT_BASIC_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "primitives/base/status.h"
#include "tests/support/basic/skip.h"
#include "tests/support/basic/test_file.h"

/* cmocka counts a skipped test as passed. Tests call skip_test(), which changes the exit code. */
#undef skip

/* Expects success; else prints the error message. */
#define assert_ok(call)                                                               \
	do {                                                                          \
		enum sl_status status_of_call = (call);                               \
		if (status_of_call != SL_OK)                                          \
			fail_msg("%s: %s: %s", #call, sl_status_name(status_of_call), \
				sl_last_error());                                     \
	} while (0)

/* Expects this status, and text as a part of the error message. */
#define assert_fails(call, status, text)                                          \
	do {                                                                      \
		enum sl_status status_of_call = (call);                           \
		if (status_of_call != (status) || !strstr(sl_last_error(), text)) \
			fail_msg("%s: %s: %s (expected %s: ...%s...)", #call,     \
				sl_status_name(status_of_call),                   \
				status_of_call == SL_OK ? "" : sl_last_error(),   \
				sl_status_name(status), text);                    \
	} while (0)

#endif
