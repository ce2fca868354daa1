/*
 * ranks.c - a run of several ranks under MPI has the bytes of the run of one process
 * (tests/support/bits/bits.h).
 */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"

TEST(every_number_of_ranks_has_the_same_bytes)
{
	bits_run("emulated", true);
}
