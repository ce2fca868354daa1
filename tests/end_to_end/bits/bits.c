/*
 * bits.c - every run of a configuration has the same bytes: on the levels of the processor and emulated devices, in each
 * mode, schedule and number of threads, after an interruption, and in parts (tests/support/bits/bits.h).
 *
 *	sluice_tests end_to_end/bits/bits --seed 7 --budget 600 --line 'rays'
 */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"

static struct bits_job job;

TEST(every_run_has_the_same_bytes)
{
	bits_run(&job);
}

TEST_FILE(argc, argv)
{
	job = bits_job("emulated");
	return bits_arguments(&job, argc, argv) ? run_test_file("bits") : 2;
}
