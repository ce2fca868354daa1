/*
 * main.c - runs the tests of one file: sluice_tests FILE [ARGUMENT...]
 *
 * FILE is a path as in tests.def, for example primitives/keys. Files whose tests replace functions of the
 * library (-Wl,--wrap) are not linked to sluice_tests: CMake links each to a separate program.
 *
 * Some tests start their own program again through /proc/self/exe, with ARGUMENTs but without FILE. The
 * environment variable SLUICE_TEST_FILE then names the file.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/test_file.h"

struct test_file *test_files;

/* path: below tests/, without .c; source: of the compiler, so it may begin with other folders. */
static bool is_source_of(const char *path, const char *source)
{
	char end[512];
	int length = snprintf(end, sizeof(end), "tests/%s.c", path);
	size_t all = strlen(source);

	return length > 0 && (size_t)length <= all && (size_t)length < sizeof(end) &&
	       strcmp(source + all - (size_t)length, end) == 0;
}

static const struct test_file *find(const char *path)
{
	const struct test_file *f = test_files;

	while (f && !is_source_of(path, f->source))
		f = f->next;
	return f;
}

int main(int argc, char **argv)
{
	const char *again = getenv("SLUICE_TEST_FILE");
	const struct test_file *f = argc > 1 ? find(argv[1]) : NULL;

	if (f) {
		setenv("SLUICE_TEST_FILE", argv[1], 1);
		return f->run(argc - 1, argv + 1);
	}
	if (again && find(again))
		return find(again)->run(argc, argv);
	fprintf(stderr, "usage: %s FILE [ARGUMENT...]; FILE is one of\n", argv[0]);
	for (f = test_files; f; f = f->next)
		fprintf(stderr, "\t%s\n", f->source);
	return 2;
}
