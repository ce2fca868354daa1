/*
 * rules.c - compares the functions shared by host and device, bit for bit, between the CPU and a
 * GPU, on 2^20 items of all kinds.
 *
 * The test is skipped without a device.
 */
#include <stdio.h>

#include "tests/cases/rules.h"
#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

enum { N = 1 << 20 };

static void every_rule_gives_the_same_bits(void **state)
{
	(void)state;
	assert_ok(sl_rules_agree(sl_sampling_size(N)));
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_gives_the_same_bits)};

	if (!sl_sampling_from_environment())
		return 1;
	if (skips_without_device())
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
