/*
 * main.c - runs the tests of one file: sluice_tests FILE [ARGUMENT...]
 *
 * FILE is a path as in tests.def, for example primitives/keys; text/NAME is tests/text/NAME.txt,
 * which text.c runs. Files whose tests replace functions of the library (-Wl,--wrap) are not linked
 * to sluice_tests: CMake links each to a separate program.
 *
 * The environment selects tests by name (SLUICE_TEST, with wildcards) and the share of variants
 * (cases/sampling.h).
 *
 * Some tests start their own program again through /proc/self/exe, with ARGUMENTs but without FILE.
 * The environment variable SLUICE_TEST_FILE then names the file.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program_server.h"

enum { TESTS_MOST = 200 };

struct test_part_of_file *test_parts;
static const char *path; /* of the file that runs, below tests/, without .c */

/* source: of the compiler, so it may begin with other folders. */
static bool is_source(const char *source)
{
	char end[512];
	int length = snprintf(end, sizeof(end), "tests/%s.c", path);
	size_t all = strlen(source);

	return length > 0 && (size_t)length <= all && (size_t)length < sizeof(end) &&
	       strcmp(source + all - (size_t)length, end) == 0;
}

/* Returns the part of the file, or NULL. Of tests the first that is below this line. */
static const struct test_part_of_file *find(enum test_part part, unsigned below)
{
	const struct test_part_of_file *best = NULL;

	for (const struct test_part_of_file *p = test_parts; p; p = p->next) {
		if (p->part == part && is_source(p->source) && p->line > below &&
			(!best || p->line < best->line))
			best = p;
	}
	return best;
}

static void run_part(enum test_part part)
{
	const struct test_part_of_file *p = find(part, 0);

	if (p)
		p->run();
}

static int begin_file(void **state)
{
	(void)state;
	if (!find(TEST_BEGINS, 0))
		folder_make(&folder);
	run_part(TESTS_BEGIN);
	return 0;
}

static int end_file(void **state)
{
	(void)state;
	run_part(TESTS_END);
	if (!find(TEST_BEGINS, 0))
		folder_end();
	return 0;
}

static int begin_test(void **state)
{
	(void)state;
	if (find(TEST_BEGINS, 0)) {
		folder_make(&folder);
		run_part(TEST_BEGINS);
	}
	return 0;
}

static int end_test(void **state)
{
	(void)state;
	run_part(TEST_ENDS);
	if (find(TEST_BEGINS, 0))
		folder_end();
	return 0;
}

static void run_one(void **state)
{
	((const struct test_part_of_file *)*state)->run();
}

int run_test_file(const char *group)
{
	struct CMUnitTest tests[TESTS_MOST];
	size_t n = 0;

	for (const struct test_part_of_file *p = find(TEST_CASE, 0); p;
		p = find(TEST_CASE, p->line)) {
		if (n == TESTS_MOST) {
			fprintf(stderr, "%s: more than %d tests; raise TESTS_MOST\n", path,
				TESTS_MOST);
			return 1;
		}
		tests[n++] = (struct CMUnitTest){
			p->name, run_one, begin_test, end_test, (void *)(uintptr_t)p};
	}
	cmocka_set_test_filter(getenv("SLUICE_TEST"));
	return exit_code_of_tests(_cmocka_run_group_tests(group, tests, n, begin_file, end_file));
}

static bool is_known(const char *name)
{
	path = strncmp(name, "text/", strlen("text/")) == 0 ? "text/text" : name;
	return find(TEST_CASE, 0) || find(TEST_MAIN, 0);
}

static int usage(const char *program)
{
	fprintf(stderr, "usage: %s FILE [ARGUMENT...]; FILE is one of\n", program);
	for (const struct test_part_of_file *p = test_parts; p; p = p->next) {
		if (!p->next || p->source != p->next->source)
			fprintf(stderr, "\t%s\n", p->source);
	}
	return 2;
}

int main(int argc, char **argv)
{
	const char *again = getenv("SLUICE_TEST_FILE");
	int first = 0;

	if (argc > 1 && is_known(argv[1]))
		first = 1;
	else if (!again || !is_known(again))
		return usage(argv[0]);
	setenv("SLUICE_TEST_FILE", path, 1);
	program_server_start();
	if (!sl_sampling_from_environment())
		return 1;
	if (find(TEST_MAIN, 0))
		return find(TEST_MAIN, 0)->main(argc - first, argv + first);
	return run_test_file(path);
}
