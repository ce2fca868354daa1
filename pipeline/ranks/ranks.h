/*
 * ranks.h - the processes of a run under MPI: which one this is, messages between them, agreement.
 *
 * The terms are those of MPI: each process is a rank, numbered from 0. Rank 0 owns the output
 * directory. A run of one process has no ranks; every function here that takes ranks accepts NULL
 * for that.
 *
 * ranks_mpi.c defines the functions that need MPI, ranks_none.c those of a build without it,
 * ranks.c the others.
 *
 * All functions are called by the main thread alone. Messages do not block. The functions that
 * every rank calls together (sl_ranks_agree(), gather and broadcast of struct sl_ranks) wait for
 * the others without using the processor. They must not be called after a rank was lost.
 */
#ifndef SL_PIPELINE_RANKS_RANKS_H
#define SL_PIPELINE_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/config/config.h"
#include "primitives/base/status.h"

enum { SL_RANK_PAYLOAD_BYTES = 8192, SL_RANK_HOST_BYTES = 72 };

/*
 * A message; kind, number and payload are defined by its sender. Only `bytes` of the payload are
 * sent.
 */
struct sl_rank_message {
	uint32_t kind;
	uint32_t bytes;
	uint64_t number;
	unsigned char payload[SL_RANK_PAYLOAD_BYTES];
};

/* A build without MPI has none, so that only one with MPI has these functions. */
struct sl_ranks {
	uint32_t rank, n;
	struct sl_share share; /* of this rank in its machine */
	bool lost; /* no agreement is possible: a rank has ended, does not answer or cannot take part */
	/* Copies the message and queues it. SL_HOST_MEMORY or SL_PEER_LOST if that fails. */
	enum sl_status (*send)(uint32_t to, const struct sl_rank_message *m);
	/* Takes the next message that has arrived, and its sender; false if there is none. */
	bool (*receive)(uint32_t *from, struct sl_rank_message *m);
	/* Copies the bytes of each rank to all of all ranks, in the order of ranks. */
	enum sl_status (*gather)(const void *mine, size_t bytes, void *all);
	/* Copies the bytes of rank 0 to all ranks. */
	enum sl_status (*broadcast)(void *bytes, size_t n);
};

/* The name and version of the MPI library, or "none (built without MPI)". Static text. */
const char *sl_ranks_library(void);

/* The number of processes that mpirun or srun has started for MPI with this one; 0: none. */
uint32_t sl_ranks_launched(void);

/*
 * Starts MPI. *ranks belongs to the process; NULL if this is the only rank. SL_USAGE in a build
 * without MPI if a launcher has started several processes, unless each has another part of the run
 * (has_part).
 */
enum sl_status sl_ranks_open(bool has_part, struct sl_ranks **ranks);

/*
 * Ends MPI; does nothing if sl_ranks_open() was not called. If a rank was lost, also after a
 * failure of sl_ranks_open(), all ranks are ended by MPI_Abort() with this exit code, and the
 * function does not return.
 */
void sl_ranks_close(int exit_code);

/*
 * Waits for all ranks. Returns the status of the first one that failed, which names itself in its
 * message; SL_OK if none did. sl_last_error() is "" on ranks that would repeat the message of
 * another one. A failure that it has returned must not be passed to it again.
 */
enum sl_status sl_ranks_agree(struct sl_ranks *r, enum sl_status s);

#endif
