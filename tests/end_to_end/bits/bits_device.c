/* bits_device.c - runs on a GPU have the bytes of the host at production sizes (tests/support/bits/bits.h). Skips without a GPU. */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"
#include "tests/support/basic/skip.h"

static struct bits_job job;

TEST(every_run_has_the_same_bytes)
{
	bits_run(&job);
}

BEFORE_TESTS()
{
	skip_without_device();
}

TEST_FILE(argc, argv)
{
	job = bits_job("cuda");
	return bits_arguments(&job, argc, argv) ? run_test_file("bits_device") : 2;
}
