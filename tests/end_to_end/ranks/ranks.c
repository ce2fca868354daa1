/* ranks.c - a run of several ranks under MPI has the bytes of the run of one process (tests/support/bits/bits.h). */
#include "tests/support/bits/bits.h"

#include "tests/support/basic/check.h"

static struct bits_job job;

TEST(every_number_of_ranks_has_the_same_bytes)
{
	bits_run(&job);
}

TEST_FILE(argc, argv)
{
	job = bits_job("emulated");
	job.ranks = true;
	job.variants = (job.variants + 1) / 2;
	return bits_arguments(&job, argc, argv) ? run_test_file("ranks") : 2;
}
