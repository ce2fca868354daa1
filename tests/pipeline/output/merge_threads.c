/* merge_threads.c - any number of threads makes the same joined file. */
#include <stdio.h>

#include "tests/support/runs/merged_again.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

TEST(any_number_of_threads_gives_the_same_bytes)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv.gz", "openpmd"};
	static const unsigned batches[] = {2, 5, 40};

	for (int f = 0; f < (is_quick() ? 3 : 5); f++)
		for (int b = 0; b < 3; b++) {
			make_sorted_run(MANY, batches[b], b == 1 ? ties : distinct, formats[f], "");
			expect_same_bytes(formats[f], SL_MERGED_FILES_MOST);
		}
}

TEST(samples_and_limits_have_the_same_bytes)
{
	static const char *const more[] = {
		", sample: 70000", ", limit: 50001", ", sample: 70000, limit: 60000", ", limit: 1"};

	for (int i = 0; i < 4; i++) {
		make_sorted_run(
			MANY, 40, i == 1 ? ties : distinct, i % 2 ? "mcpl.gz" : "mcpl", more[i]);
		expect_same_bytes(i % 2 ? "mcpl.gz" : "mcpl", SL_MERGED_FILES_MOST);
	}
	/* without a key, records are compressed in threads, and not merged */
	make_sorted_run(MANY, 40, "[]", "mcpl.gz", ", limit: 120000");
	expect_same_bytes("mcpl.gz", SL_MERGED_FILES_MOST);
}

TEST(passes_have_the_same_bytes)
{
	struct folder out;
	size_t entries;

	make_sorted_run(MANY, 40, ties, "mcpl", "");
	snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
	entries = folder_count(&out);
	for (uint32_t most = 2; most < 40; most += 3 + most)
		expect_same_bytes("mcpl", most);
	make_sorted_run(MANY, 40, distinct, "npz", "");
	expect_same_bytes("npz", 7);
	assert_int_equal(folder_count(&out), entries);
}

BEFORE_TESTS()
{
	sorted_runs_begin();
}
