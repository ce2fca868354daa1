/*
 * bits_device.c - runs on a GPU have the bytes of the host at production sizes
 * (tests/support/bits/bits.h). Skips without a GPU.
 */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

TEST(every_run_has_the_same_bytes)
{
	bits_run("cuda", false);
}

BEFORE_TESTS()
{
	skip_without_device();
}
