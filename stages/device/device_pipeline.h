/*
 * device_pipeline.h - a batch on its way through a device: a stream, a block of device memory, marks in time.
 *
 * The stages of a batch, in one of two ways (device_modes.h), are queued on the lane's stream one behind the
 * other. The host waits twice (and once a round, where there are any): for the number of survivors
 * and the tally, which size what follows, and for the survivors' columns, which are copied to the
 * batch's table. A small batch, fused, is queued whole: all its places are sorted, the empty ones
 * behind the survivors, which costs less than a wait; the first wait is then for its end, and
 * when there are more of its size, all that is queued of them is a graph. With several lanes, each
 * driven by a thread, one batch is copied out while the next is computed.
 *
 * Where the recipe has a press, survivors are packed on the device (pack.h), the host waits for
 * the sizes of that too, and it comes home instead.
 *
 * What comes home is checked: the columns against their digests (sl_digest_check()), what was
 * pressed against its own (sl_device_packed_check()), the census, in which the digests are, and the sizes
 * against themselves, for they come twice.
 *
 *	device   staged  | columns | keep | index | key | states | table | scratch | census |
 *	         fused   | first id | columns, if read | index | key | records, if any |
 *	                 | scratch, then table | census | sieve |
 *	         either  | press, if there is one |
 *	pinned   | first id | census | census | press |
 */
#ifndef SL_STAGES_DEVICE_DEVICE_PIPELINE_H
#define SL_STAGES_DEVICE_DEVICE_PIPELINE_H

#include "stages/device/device_modes.h"
#include "stages/device/kernels.h"
#include "stages/device/pack.h"

struct sl_device_pipeline {
	const struct sl_device_mode *way;
	void *block, *pinned; /* for the owner of the memory */
	struct sl_exec exec;
	struct sl_batch batch;           /* its pointers are the device's */
	const struct sl_columns *listed; /* what was read of it, pinned; of a model that is read */
	struct sl_batch_counters *counters; /* of the device; behind it, tallies by bins */
	struct sl_batch_counters *seen[2];  /* copies of both, pinned */
	size_t census_bytes;                /* of each */
	struct sl_arena select;             /* fused: its scratch, behind the census */
	size_t cleared_bytes;               /* of both, from the census on */
	sl_event mark[SL_STAGE_COUNT + 2];  /* before each step, behind it; see lane.c */
	sl_event counted, home;             /* behind the two copies */
	bool in_rounds;
	uint64_t whole_most;            /* particles up to which a batch is queued as one ... */
	bool whole;                     /* ... as this one is, its survivors not yet known */
	uint64_t *first_id, *begun;     /* of the batch: the device's, pinned; fused */
	sl_graph graph;                 /* a whole batch of the usual size; NULL: not yet */
	bool warm;                      /* such a batch has been queued, its kernels are there */
	sl_event round[SL_ROUND_MARKS]; /* of the round that is queued; none made of histories */
	struct sl_pack pack;
	sl_event device_packed; /* behind what packs */
	bool presses;           /* this batch */
	uint64_t transfer_ns;   /* what the copies home took, of the last batch */
	uint64_t pack_ns;       /* and packing it */
};

/*
 * Lays out a lane for batches of at most n particles, and sets its pointers (NULL where an arena
 * only measures).
 */
void sl_device_pipeline_lay_out(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, uint32_t n, struct sl_device_pipeline *lane);

/* Nanoseconds between two events that have come. */
enum sl_status sl_event_ns(sl_event from, sl_event to, uint64_t *ns);

/* SL_DEVICE_FAILED: what the device sent twice was not twice the same. */
enum sl_status sl_device_pipeline_torn(const char *what);

/* Makes the stream and the events; those of a lane half made are freed as well. */
enum sl_status sl_device_pipeline_open(struct sl_device_pipeline *lane);
void sl_device_pipeline_close(struct sl_device_pipeline *lane);

/*
 * Runs all stages of b, which sl_batch_begin() has made, and brings home what is kept of it: tally,
 * survivors, those columns of the table that have memory there, or, if wanted, pressed (all of it
 * pinned memory, else copies do not overlap). Times and failures as of sl_stages_run(). The calling
 * thread must have chosen the device.
 */
enum sl_status sl_device_pipeline_run(const struct sl_recipe *r, struct sl_device_pipeline *lane,
	struct sl_batch *b, uint64_t ns[SL_STAGE_COUNT]);

#endif
