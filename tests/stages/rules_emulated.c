/*
 * rules_emulated.c - compares the functions shared by host and device on the emulated device:
 * compiled as C and as C++. Also shows that the comparison of rules.c detects a difference.
 */
#include "tests/cases/rules.h"
#include "tests/support/basic/check.h"

enum { N = 1 << 16 };

static void every_rule_gives_the_same_bits(void **state)
{
	(void)state;
	assert_ok(sl_rules_agree(N));
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_gives_the_same_bits)};

	sl_device_emulate(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
