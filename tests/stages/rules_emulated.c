/*
 * rules_emulated.c - compares the functions shared by host and device on the emulated device:
 * compiled as C and as C++. Also shows that the comparison of rules.c detects a difference.
 */
#include "tests/cases/rules.h"
#include "tests/support/basic/check.h"

enum { N = 1 << 16 };

TEST(every_rule_gives_the_same_bits)
{
	assert_ok(sl_rules_agree(N));
}

BEFORE_TESTS()
{
	sl_device_emulate(true);
}
