/* ranks_none.c - the functions of ranks.h in a build without MPI: a process is alone. */
#include "pipeline/ranks/ranks.h"

const char *sl_ranks_library(void)
{
	return "none (built without MPI)";
}

enum sl_status sl_ranks_open(bool has_part, struct sl_ranks **ranks)
{
	uint32_t n = sl_ranks_launched();

	*ranks = NULL;
	if (n < 2 || has_part)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"this is one of %u processes that were started for MPI, but this program was built "
		"without MPI; build it with -DSLUICE_MPI=ON, or start it once, or give each process "
		"a part of the run with --part I/N",
		n);
}

void sl_ranks_close(int exit_code)
{
	(void)exit_code;
}
