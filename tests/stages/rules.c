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

TEST(every_rule_gives_the_same_bits)
{
	assert_ok(sl_rules_agree(sl_sampling_size(N)));
}

BEFORE_TESTS()
{
	skip_without_device();
}
