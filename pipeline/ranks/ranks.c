/* ranks.c - what does not depend on MPI: the environment of the launchers, and agreement. */
#include "pipeline/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primitives/files/files.h"

static uint32_t read_number(const char *name)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

/*
 * Open MPI; MPICH, Intel MPI and srun with PMI-2; srun with PMIx, which states the rank but not the
 * number. A process that none of them has started is not initialized for MPI.
 */
uint32_t sl_ranks_launched(void)
{
	uint32_t n = read_number("OMPI_COMM_WORLD_SIZE");

	if (n == 0)
		n = read_number("PMI_SIZE");
	if (n == 0 && getenv("PMIX_RANK"))
		n = read_number("SLURM_NTASKS");
	return n;
}

/* What a rank tells the others of its status. */
struct vote {
	uint32_t status, crc; /* crc: of the message */
};

/* The first rank that failed with the status and message of v; n if none did. */
static uint32_t find_vote(const struct vote *all, uint32_t n, struct vote v)
{
	for (uint32_t i = 0; i < n; i++)
		if (all[i].status == v.status && all[i].crc == v.crc)
			return i;
	return n;
}

/*
 * Puts the rank before the message of its failure. A message of rank 0 needs no name: it is that of
 * the run.
 */
static void name_rank(const struct sl_ranks *r, enum sl_status s)
{
	char host[SL_RANK_HOST_BYTES] = "";

	if (r->rank == 0)
		return;
	(void)gethostname(host, sizeof(host) - 1);
	/* A report of the configuration is printed by rank 0 alone. */
	if (sl_last_error()[0] == '\0')
		sl_fail(s,
			"the configuration is refused here, but not by rank 0 (they read different "
			"files); start all ranks with the same file");
	(void)sl_add_context(s, "rank %u on %s", r->rank, host);
}

enum sl_status sl_ranks_agree(struct sl_ranks *r, enum sl_status s)
{
	struct vote mine = {.status = (uint32_t)s}, *all;
	uint32_t first = 0;
	enum sl_status sent;

	if (!r || r->lost)
		return s;
	if (s != SL_OK)
		mine.crc = sl_crc32(sl_last_error(), strlen(sl_last_error()));
	all = (struct vote *)calloc(r->n, sizeof(*all));
	if (!all) {
		r->lost = true; /* the others wait for the state of this rank */
		return sl_fail(SL_HOST_MEMORY, "no memory for the states of %u ranks", r->n);
	}
	sent = r->gather(&mine, sizeof(mine), all);
	while (sent == SL_OK && first < r->n && all[first].status == SL_OK)
		first++;
	if (sent != SL_OK || first == r->n) {
		if (!r->lost) /* else MPI can still write to the memory */
			free(all);
		return sent;
	}
	if (s == SL_OK || find_vote(all, r->n, mine) < r->rank)
		sl_set_last_error("");
	else
		name_rank(r, s);
	s = (enum sl_status)all[first].status;
	free(all);
	return s;
}
