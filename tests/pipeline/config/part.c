/* part.c - which part of a run a text or a Slurm job array names, and which batches it has. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/part.h"
#include "tests/support/basic/check.h"

TEST(texts_are_read)
{
	static const char *const bad[] = {"", "3", "0/20", "21/20", "3/0", "3/20 ", " 3/20",
		"3/20/1", "-1/20", "+1/20", "1/1000001", "03/20", "1.0/2", "Slurm",
		"18446744073709551617/20"};
	struct sl_part part;

	assert_ok(sl_part_read("3/20", &part));
	assert_int_equal(part.number, 3);
	assert_int_equal(part.of, 20);
	assert_ok(sl_part_read("1000000/1000000", &part));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(sl_part_read(bad[i], &part), SL_USAGE);
		assert_non_null(strstr(sl_last_error(), "--part "));
	}
}

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

/* Sets the variables of a task; NULL removes one. */
static void set_task(
	const char *id, const char *count, const char *min, const char *max, const char *step)
{
	const char *const name[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
		"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"};
	const char *const value[] = {id, count, min, max, step};

	for (int i = 0; i < 5; i++)
		if (value[i])
			setenv(name[i], value[i], 1);
		else
			unsetenv(name[i]);
}

static void expect_part(uint64_t number, uint64_t of)
{
	struct sl_part part;

	assert_ok(sl_part_read("slurm", &part));
	assert_int_equal(part.number, number);
	assert_int_equal(part.of, of);
}

TEST(tasks_of_slurm_are_parts)
{
	set_task("7", "20", "1", "20", "1"); /* --array=1-20 */
	expect_part(7, 20);
	set_task("0", "20", "0", "19", NULL); /* --array=0-19 */
	expect_part(1, 20);
	set_task("14", "5", "10", "18", "2"); /* --array=10-18:2 */
	expect_part(3, 5);
	set_task("20", "20", "1", NULL, NULL);
	expect_part(20, 20);
}

TEST(other_tasks_are_refused)
{
	struct sl_part part;

	set_task(NULL, NULL, NULL, NULL, NULL);
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	assert_non_null(strstr(sl_last_error(), "SLURM_ARRAY_TASK_ID is not set"));
	set_task("3", NULL, "1", NULL, NULL);
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	assert_non_null(strstr(sl_last_error(), "SLURM_ARRAY_TASK_COUNT is not set"));
	set_task("x", "2", "1", "2", "1");
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	assert_non_null(strstr(sl_last_error(), "'x'"));
	set_task("7", "2", "3", "7", "1"); /* --array=3,7 */
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	set_task("11", "5", "10", "18", "2"); /* no task of that array */
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	set_task("1", "20", "2", "21", "1");
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	set_task("22", "20", "1", "20", "1");
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
	set_task("1", "0", "1", "1", "1");
	assert_int_equal(sl_part_read("slurm", &part), SL_USAGE);
}
