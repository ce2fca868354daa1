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

enum sl_status sl_ranks_send(struct sl_ranks *r, uint32_t to, const struct sl_rank_message *m)
{
	(void)r;
	(void)to;
	(void)m;
	return SL_OK;
}

bool sl_ranks_receive(struct sl_ranks *r, uint32_t *from, struct sl_rank_message *m)
{
	(void)r;
	(void)from;
	(void)m;
	return false;
}

enum sl_status sl_ranks_gather(struct sl_ranks *r, const void *mine, size_t bytes, void *all)
{
	(void)r;
	(void)mine;
	(void)bytes;
	(void)all;
	return SL_OK;
}

enum sl_status sl_ranks_broadcast(struct sl_ranks *r, void *bytes, size_t n)
{
	(void)r;
	(void)bytes;
	(void)n;
	return SL_OK;
}
