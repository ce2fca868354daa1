/*
 * compare_memory.c - sluice compare without memory: whatever allocation fails, and all after it, no temporary directory
 * is left. Its removal then has no memory either.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/basic/skip.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { FAULTS = 60 };

static const char text[] = "run: {name: t, seed: 7, particles: 200, batch: 100, threads: 1}\n"
			   "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\n"
			   "keep: transmitted\n"
			   "key: [w:9]\n";

static const char *const compare[] = {
	"sluice", "compare", "c.yaml", "--device", "cpu", "--out", "a", "--quiet", NULL};
static char preload[4096];

/* The number of allocations of a command that succeeds. */
static unsigned long allocations(const char *const *words)
{
	const char *const env[] = {preload, "FAIL_COUNT=1", NULL};
	const char *at;
	struct ending e;
	unsigned long n;

	call(&folder, env, words, &e);
	at = strstr(e.err, "allocs ");
	assert_non_null(at);
	n = strtoul(at + strlen("allocs "), NULL, 10);
	expect_ending(&e, SL_OK, "", words);
	return n;
}

TEST(no_folder_is_left)
{
	const unsigned long first = allocations(WORDS("list")) + 1, last = allocations(compare);
	unsigned failed = 0;

	expect_untouched();
	for (int k = 0; k < FAULTS; k++) {
		char at[32];
		const char *const env[] = {preload, at, "FAIL_ON=1", NULL};
		struct ending e;

		snprintf(at, sizeof(at), "FAIL_AT=%lu",
			first + (last - first) * (unsigned long)k / FAULTS);
		call(&folder, env, compare, &e);
		assert_false(e.timed_out);
		failed += e.code != 0;
		process_free(&e);
		expect_untouched();
	}
	print_message("%u of %d faults ended the comparison\n", failed, FAULTS);
	assert_true(failed > FAULTS / 2);
}

BEFORE_TESTS()
{
	skip_without_failing_malloc();
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", getenv("SLUICE_FAILING_MALLOC"));
	write_text(&folder, "c.yaml", text);
	folder_remember();
}
