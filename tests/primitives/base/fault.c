/*
 * fault.c - tests that injected faults occur at the requested calls, and that a malformed SL_FAULT
 * is reported.
 */
#include "tests/faults/fault_injection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/support/basic/check.h"
#include "tests/support/program/process.h"

BEFORE_EACH()
{
	sl_fault_set(NULL);
}

TEST(no_fault_by_default)
{
	assert_null(sl_fault_set(NULL));
	assert_int_equal(sl_fault("file_write"), 0);
	assert_null(sl_fault_set(""));
	assert_int_equal(sl_fault("file_write"), 0);
}

TEST(fault_occurs_once)
{
	assert_null(sl_fault_set("file_write:3:28"));
	for (int k = 1; k <= 10; k++) {
		assert_int_equal(sl_fault("file_fsync"), 0);
		assert_int_equal(sl_fault("file_write"), k == 3 ? 28 : 0);
		assert_int_equal(sl_fault("file_writes"), 0);
		assert_int_equal(sl_fault("file_writ"), 0);
	}
}

TEST(fault_occurs_from_a_call_on)
{
	assert_null(sl_fault_set("file_write:3+:5"));
	for (int k = 1; k <= 10; k++)
		assert_int_equal(sl_fault("file_write"), k >= 3 ? 5 : 0);
}

TEST(several_faults_are_independent)
{
	assert_null(sl_fault_set("a:1:1,b:2:700,a:3:3,a:5+:5,a:6:6"));
	assert_int_equal(sl_fault("b"), 0);
	for (int k = 1; k <= 8; k++)
		assert_int_equal(sl_fault("a"), k == 1 ? 1 : k == 3 ? 3 : k >= 5 ? 5 : 0);
	assert_int_equal(sl_fault("b"), 700);
	assert_int_equal(sl_fault("b"), 0);
}

/* Eighteen faults are more than the table holds. */
#define SIX_ENTRIES "a:1:1,a:1:1,a:1:1,a:1:1,a:1:1,a:1:1"

TEST(malformed_texts_are_refused)
{
	static const char *const texts[] = {"file_write", "file_write:", "file_write:3",
		"file_write:3:", "file_write:0:5", "file_write:3:0", "file_write:-1:5",
		"file_write:3:-5", "file_write:3:5:", "file_write:3:5,", ",file_write:3:5",
		"file_write:3:5,,a:1:1", "file_write:3:5 ", " file_write:3:5", "file_write:3++:5",
		"file_write:+3:5", "file_write:3:EIO", "FILE_WRITE:3:5", ":3:5", ",", ":",
		"::", "file_write:3:99999999999999999999", "file_write:99999999999999999999999:5",
		"file_write:18446744073709551617:5", "file_write:1:18446744073709551621",
		"a_name_that_is_longer_than_any_call_has:1:1", "a:1:1;b:1:1", "a:1:1\n",
		(SIX_ENTRIES "," SIX_ENTRIES "," SIX_ENTRIES)};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *problem = sl_fault_set(texts[i]);

		if (!problem || !strstr(problem, "SL_FAULT"))
			fail_msg("expected \"%s\" to be refused", texts[i]);
		assert_int_equal(sl_fault("a"), 0);
		assert_int_equal(sl_fault("file_write"), 0);
	}
	assert_null(sl_fault_set("a:1:1"));
}

/* --- threads ------------------------------------------------------------------------------ */

enum { THREADS = 4, CALLS = 100000 };

static atomic_int hits;

static void *call_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < CALLS; i++)
		atomic_fetch_add(&hits, sl_fault("a") != 0);
	return NULL;
}

/* No call is counted twice or not at all. */
TEST(threads_share_one_count)
{
	pthread_t thread[THREADS];

	hits = 0;
	assert_null(sl_fault_set("a:777:1,a:300001+:1"));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, call_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(hits, 1 + THREADS * CALLS - 300000);
}

/* --- the environment ---------------------------------------------------------------------- */

/* Runs this program again with this SL_FAULT and one argument. */
static int fresh(const char *setting)
{
	const char *const argv[] = {"/proc/self/exe", "child", NULL};
	const char *const env[] = {setting, NULL};
	const struct process p = {.argv = argv, .env = env};
	struct ending e;

	process_run(&p, 30, &e);
	process_free(&e);
	return e.code;
}

static int child(void)
{
	int first = sl_fault("a"), second = sl_fault("a");

	return first * 10 + second;
}

TEST(environment_is_read)
{
	assert_int_equal(fresh("SL_FAULT=a:2:7"), 7);
	assert_int_equal(fresh("SL_FAULT=a:1+:3"), 33);
	assert_int_equal(fresh("SL_FAULT=b:1:3"), 0);
	assert_int_equal(fresh("SL_FAULT="), 0);
	assert_int_equal(fresh("SL_FAULT_=a:1:1"), 0);
	assert_int_equal(fresh("SL_FAULT=a:1"), 2);
}

TEST_FILE(argc, argv)
{
	if (argc == 2 && strcmp(argv[1], "child") == 0)
		return child();
	return run_test_file(argv[0]);
}
