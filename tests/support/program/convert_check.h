/*
 * convert_check.h - runs sluice convert in the directory of the test group (fixture.h), and
 * inflates the result with zlib.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_CONVERT_CHECK_H
#define SL_TESTS_SUPPORT_PROGRAM_CONVERT_CHECK_H

#include <stddef.h>

/* Converts the file or run in to the file "all" plus suffix. Returns its name, valid until the next call. */
const char *convert(const char *in, const char *suffix);

/* Returns the contents of a file, inflated if it is gzip (also of several members) and
 * NUL-terminated. The caller frees them. */
char *inflated(const char *name, size_t *bytes);

/* Expects the text as a part of the bytes. */
void expect_in(const char *file, size_t bytes, const char *says);

/* Expects that two files are equal after inflation. */
void expect_same_inflated(const char *a, const char *b);

#endif
