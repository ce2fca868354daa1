/*
 * merge_threads.c - a joined file is the same for any number of threads that merge, and of files that are merged at a
 * time, whatever its format, keys, batches, sample and limit are.
 */
#include <stdio.h>

#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"
#include "tests/support/runs/merged_again.h"

TEST(any_merge_gives_the_same_bytes)
{
	static const char *const formats[] = {"mcpl", "mcpl.gz", "npz", "csv", "csv.gz", "openpmd"},
				 *const more[] = {"", ", sample: 2000", ", limit: 1001",
					 ", sample: 2000, limit: 1500", ", limit: 1"};
	static const unsigned batches[] = {2, 5, 40};
	static const uint32_t most[] = {SL_MERGED_FILES_MOST, 2, 3, 7, 18};
	const char *const keys[] = {ties, distinct, "[]", "[energy:float, x:float]"};
	struct folder out;

	for (unsigned i = 0; i < 5 * 6 * 3; i++) {
		const char *format = formats[i % 6];
		/* large lists have more records than a block */
		unsigned particles = i % 6 < 2 && i % 7 == 0 ? MANY : FEW;
		size_t entries;

		if (!sl_sampling_selects())
			continue;
		make_sorted_run(
			particles, batches[i / 2 % 3], keys[i / 3 % 4], format, more[i % 5]);
		snprintf(out.path, sizeof(out.path), "%s", folder_path(&folder, "out"));
		entries = folder_count(&out);
		expect_same_bytes(format, most[i / 5 % 5]);
		assert_int_equal(folder_count(&out), entries); /* no intermediate file is left */
	}
}
