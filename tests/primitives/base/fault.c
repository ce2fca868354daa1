/* fault.c - tests that injected faults occur at the requested calls, and that a malformed SL_FAULT is reported. */
#include "tests/faults/fault_injection.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/support/basic/check.h"

/* A text, the calls, and the errors that they report in turn. */
static const struct row {
	const char *text, *calls; /* letters: the names of calls */
	int errors[10];
} rows[] = {
	{NULL, "a", {0}},
	{"", "a", {0}},
	{"a:3:28", "aaaaaaa", {0, 0, 28}},
	{"a:3:28", "babababa", {0, 0, 0, 0, 0, 28}},
	{"aa:1:28", "aaa", {0}},
	{"a:3+:5", "aaaaaa", {0, 0, 5, 5, 5, 5}},
	{"a:1:1,b:2:700,a:3:3,a:5+:5,a:6:6", "baaaaaab", {0, 1, 0, 3, 0, 5, 5, 700}},
};

TEST(faults_occur_at_the_requested_calls)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_null(sl_fault_set(rows[i].text));
		for (int k = 0; rows[i].calls[k]; k++) {
			const char call[] = {rows[i].calls[k], '\0'};
			int error = sl_fault(call);

			if (error != rows[i].errors[k])
				fail_msg("%s: call %d of %s reports %d", rows[i].text, k,
					rows[i].calls, error);
		}
	}
}

/* Eighteen faults are more than the table holds. */
#define SIX_ENTRIES "a:1:1,a:1:1,a:1:1,a:1:1,a:1:1,a:1:1"

TEST(malformed_texts_are_refused)
{
	static const char *const texts[] = {"a", "a:", "a:3", "a:3:", "a:0:5", "a:3:0", "a:-1:5",
		"a:3:-5", "a:3:5:", "a:3:5,", ",a:3:5", "a:3:5,,a:1:1", "a:3:5 ", " a:3:5",
		"a:3++:5", "a:+3:5", "a:3:EIO", "A:3:5", ":3:5", ",", ":",
		"::", "a:3:99999999999999999999", "a:99999999999999999999999:5",
		"a:18446744073709551617:5", "a:1:18446744073709551621",
		"a_name_that_is_longer_than_any_call_has:1:1", "a:1:1;b:1:1", "a:1:1\n",
		(SIX_ENTRIES "," SIX_ENTRIES "," SIX_ENTRIES)};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *problem = sl_fault_set(texts[i]);

		if (!problem || !strstr(problem, "SL_FAULT") || sl_fault("a") != 0)
			fail_msg("expected \"%s\" to be refused", texts[i]);
	}
	assert_null(sl_fault_set("a:1:1"));
}

enum { THREADS = 4, CALLS = 100000 };

static atomic_int hits;

static void *call_often(void *unused)
{
	for (int i = 0; i < CALLS; i++)
		atomic_fetch_add(&hits, sl_fault("a") != 0);
	return unused;
}

/* No call is counted twice or not at all. */
TEST(threads_share_one_count)
{
	pthread_t thread[THREADS];

	assert_null(sl_fault_set("a:777:1,a:300001+:1"));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, call_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(hits, 1 + THREADS * CALLS - 300000);
}
