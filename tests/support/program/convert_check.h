/*
 * convert_check.h - runs sluice convert in the directory of the test group (fixture.h), and
 * inflates the result with zlib.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_CONVERT_CHECK_H
#define SL_TESTS_SUPPORT_PROGRAM_CONVERT_CHECK_H

#include <stddef.h>

/* Makes "all" with that suffix of in; returns its name, until the next call. */
const char *convert(const char *in, const char *suffix);

/* A file, inflated if it is in gzip (of members, too), NUL-terminated; to be freed. */
char *inflated(const char *name, size_t *bytes);

/* Those bytes have that text in them. */
void expect_in(const char *file, size_t bytes, const char *says);

/* Two files are the same once they are inflated. */
void expect_same_inflated(const char *a, const char *b);

#endif
