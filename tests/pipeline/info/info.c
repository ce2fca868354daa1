/* info.c - the numbers that sluice info prints: weighted statistics and particle types. */
#include <stdio.h>

#include "pipeline/info/type_table.h"
#include "pipeline/info/weighted_stats.h"
#include "tests/support/program/program.h"

/* Prints statistics to a text that is valid until the next call. */
static const char *printed(const struct sl_weighted_stats *s)
{
	static char out[128];
	FILE *f = fmemopen(out, sizeof(out), "w");

	sl_weighted_stats_print(s, f);
	fclose(f);
	assert_int_equal(strlen(out), SL_STATS_WIDTH);
	return out;
}

TEST(statistics_are_weighted)
{
	struct sl_weighted_stats s = {0};

	assert_string_equal(printed(&s),
		"             -             -             -             -             0");
	/* mean (3 * 1 + 1 * 5) / 4 = 2, variance (3 * 1 + 9) / 4 = 3, sum 8 */
	sl_weighted_stats_add(&s, 1, 3);
	sl_weighted_stats_add(&s, 5, 1);
	assert_string_equal(printed(&s),
		"             1             2      1.732051             5             8");
	/* a weight that cancels the others leaves no mean */
	sl_weighted_stats_add(&s, -2, -4);
	assert_string_equal(printed(&s),
		"            -2             -             -             5            16");
	/* mean (2 * 2 + 4) / 4 = 2, variance (4 + 0 + 4) / 4 = 2 */
	s = (struct sl_weighted_stats){0};
	sl_weighted_stats_add(&s, 0, 1);
	sl_weighted_stats_add(&s, 2, 2);
	sl_weighted_stats_add(&s, 4, 1);
	assert_string_equal(printed(&s),
		"             0             2      1.414214             4             8");
}

/* Far from 0, plain sums of squares would lose all digits of the rms. */
TEST(close_values_keep_their_rms)
{
	struct sl_weighted_stats s = {0};

	for (int i = 0; i < 1000; i++)
		sl_weighted_stats_add(&s, 1e9 + (i % 2 ? 0.25 : -0.25), 1);
	assert_non_null(strstr(printed(&s), "         1e+09          0.25         1e+09"));
}

/* Codes beyond the limit share one row. */
TEST(types_are_counted)
{
	static struct sl_type_table t;
	char out[16384];
	FILE *f = fmemopen(out, sizeof(out), "w");

	for (int k = 0; k < 3; k++)
		sl_type_table_add(&t, 2112, 0.5, 2);
	for (int k = 0; k < SL_TYPES_MOST + 9; k++)
		sl_type_table_add(&t, 100000 + k, 1, 1);
	sl_type_table_print(&t, f);
	fclose(f);
	assert_int_equal(times_in(out, "\n"), SL_TYPES_MOST + 2);
	assert_non_null(strstr(out,
		"\n2112         neutron                   3           1.5             2             "
		"3\n100000 "));
	assert_non_null(strstr(out, "\nother "));
	assert_non_null(strstr(out, " 10            10             1            10\n"));
}
