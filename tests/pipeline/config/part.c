/* part.c - the directory of a part, and its batches. The texts that name a part: tests/text/plan.txt. */
#include "pipeline/config/part.h"
#include "tests/support/basic/check.h"

TEST(names_are_read_back)
{
	static const char *const bad[] = {"part_3_of_20", "part_003_of_20", "part_03_of_20x",
		"part_03_of_", "part_00_of_20", "part_21_of_20", "part_03", "xpart_03_of_20", ""};
	char name[SL_PART_NAME_BYTES];
	struct sl_part part = {.number = 3, .of = 20}, read;

	assert_string_equal(sl_part_name(&part, name), "part_03_of_20");
	assert_true(sl_part_find(name, &read));
	assert_int_equal(read.number, 3);
	assert_int_equal(read.of, 20);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(sl_part_find(bad[i], &read));
}

/* Every batch is in one part, and no part has two batches more than another. */
TEST(batches_are_divided)
{
	for (uint64_t n = 1; n <= 40; n++)
		for (uint64_t of = 1; of <= n; of++) {
			uint64_t next = 0;

			for (uint64_t i = 1; i <= of; i++) {
				struct sl_part part = {.number = i, .of = of};
				uint64_t first, end;

				sl_part_batches(&part, n, &first, &end);
				assert_int_equal(first, next);
				assert_in_range(end - first, n / of, n / of + 1);
				next = end;
			}
			assert_int_equal(next, n);
		}
}
