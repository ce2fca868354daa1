/*
 * bits.c - every run of a configuration has the same bytes: on the levels of the processor and
 * emulated devices, in each mode, schedule and number of threads, after an interruption, and in
 * parts (tests/support/bits/bits.h).
 *
 *	SLUICE_SHARE=7 SLUICE_ONE_IN=1 SLUICE_LINE=rays sluice_tests end_to_end/bits/bits
 */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"

TEST(every_run_has_the_same_bytes)
{
	bits_run("emulated", false);
}
