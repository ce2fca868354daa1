/*
 * rules.c - every rule that host and device share gives the same bits on a device, for 2^20 items
 * of all sorts.
 *
 * Skips, and says why, where there is no device.
 */
#include <stdio.h>

#include "tests/cases/rules.h"
#include "tests/cases/thin.h"
#include "tests/support/check.h"

enum { N = 1 << 20, SKIPPED = 77 };

static void every_rule_gives_the_same_bits(void **state)
{
	(void)state;
	assert_ok(sl_rules_agree(sl_thin_size(N)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_gives_the_same_bits)};
	int n;

	if (!sl_thin_by_environment())
		return 1;
	if (sl_device_count(&n) != SL_OK) {
		printf("SKIP: %s\n", sl_story());
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
