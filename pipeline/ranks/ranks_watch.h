/*
 * ranks_watch.h - finds ranks that have died while all ranks work for a long time without other messages.
 *
 * MPI itself may never report that a process has died. So each rank sends signs of life in intervals: rank 0 to
 * all others, and these to rank 0. A rank that hears nothing for some seconds ends the run with SL_PEER_LOST:
 * its MPI_Abort() (sl_ranks_close()) ends all others.
 *
 * All ranks begin the watch directly after an operation that they have called together, so that each is
 * watched only by ranks that it sends signs of life to. Until its end, the main thread of each rank is in
 * sl_ranks_work() or in an operation that all ranks call together, which both send them.
 */
#ifndef SL_PIPELINE_RANKS_RANKS_WATCH_H
#define SL_PIPELINE_RANKS_RANKS_WATCH_H

#include <stdatomic.h>

#include "pipeline/ranks/ranks.h"

/* Times in nanoseconds: of the signs of life, and after which a rank without them is lost. */
#define SL_RANK_ALIVE_NS UINT64_C(500000000)
#define SL_RANK_LOST_NS  UINT64_C(6000000000)

/* The kind of a message that is only a sign of life. Any other message is one, too. */
enum { SL_RANK_SIGN_OF_LIFE = 1000 };

struct sl_rank_watch {
	uint64_t *heard_ns; /* of each rank; NULL: there is no watch */
	uint64_t spoke_ns, watched_ns;
};

/*
 * The time for which this process was paused since the last call, or 0: a batch system can suspend all ranks
 * of a job and continue them later. In that time it could hear no other rank. *last_ns: of that call.
 */
uint64_t sl_rank_pause_ns(uint64_t now_ns, uint64_t *last_ns);

/* Begins the watch; SL_HOST_MEMORY if that fails. The caller ends it in any case. ranks must stay valid. */
enum sl_status sl_ranks_watch_begin(struct sl_ranks *ranks, struct sl_rank_watch *w);
void sl_ranks_watch_end(struct sl_ranks *ranks, struct sl_rank_watch *w);

/*
 * Sends and receives signs of life, if ranks are watched. SL_PEER_LOST if a rank is lost. Called in intervals
 * by functions that wait.
 */
enum sl_status sl_ranks_watch(struct sl_ranks *ranks);

/*
 * Calls work(context) in another thread, watches the ranks until it returns, and returns its status and message;
 * or SL_PEER_LOST. Then *cancel was set before, so that the work could end early. If the system starts no
 * thread, the work runs in this one, and other ranks may take this rank for lost.
 */
enum sl_status sl_ranks_work(
	struct sl_ranks *ranks, enum sl_status (*work)(void *), void *context, atomic_bool *cancel);

#endif
