/*
 * device_pipeline.h - a batch on its way through a device: a stream, a block of device memory, marks in time.
 *
 * The stages of a batch, in one of two ways (device_modes.h), are queued on the pipeline's stream one behind the
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
	const struct sl_device_mode *mode;
	void *block, *pinned;  /* set by the owner of the memory */
	struct sl_exec exec;   /* the stream, and the scratch that the steps share */
	struct sl_batch batch; /* its pointers are device memory */
	const struct sl_columns *input_columns; /* of a model that reads its particles: the columns
	                                           that were read, in pinned memory */
	struct sl_batch_counters *counters;     /* device memory; the histograms follow */
	struct sl_batch_counters *host_counters[2]; /* two copies of them, pinned */
	size_t counters_bytes;                      /* of each, histograms included */
	struct sl_arena
		select_scratch; /* fused: scratch of the kernel select, after the counters */
	size_t cleared_bytes;   /* counters and select_scratch together */
	sl_event mark[SL_STAGE_COUNT + 2]; /* times between the steps, see mark_before() */
	sl_event counted, copied;          /* after the copies of the counters; of the survivors */
	bool has_rounds;
	uint64_t whole_max;      /* batches of up to this many particles are queued as a whole */
	bool whole;              /* the current batch is */
	uint64_t *first_id;      /* of the batch; fused: device memory */
	uint64_t *host_first_id; /* its source, pinned */
	sl_graph graph;          /* of a whole batch of the usual size; NULL: none yet */
	bool warm;               /* one such batch has run, so its kernels are loaded */
	sl_event round[SL_ROUND_MARKS]; /* times within the current round */
	struct sl_pack pack;
	sl_event device_packed; /* after the packing kernels */
	bool packs;             /* the current batch is packed */
	uint64_t transfer_ns;   /* time of the copies to the host, of the last batch */
	uint64_t pack_ns;       /* time of packing it */
};

/*
 * Lays out a pipeline for batches of at most n particles, and sets its pointers (NULL where an arena
 * only measures).
 */
void sl_device_pipeline_lay_out(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, uint32_t n, struct sl_device_pipeline *pipeline);

/* Nanoseconds between two events that have come. */
enum sl_status sl_event_ns(sl_event from, sl_event to, uint64_t *ns);

/* SL_DEVICE_FAILED: what the device sent twice was not twice the same. */
enum sl_status sl_transfer_error(const char *what);

/* Makes the stream and the events; those of a pipeline half made are freed as well. */
enum sl_status sl_device_pipeline_open(struct sl_device_pipeline *pipeline);
void sl_device_pipeline_close(struct sl_device_pipeline *pipeline);

/*
 * Runs all stages of b, which sl_batch_begin() has made, and brings home what is kept of it: tally,
 * survivors, those columns of the table that have memory there, or, if wanted, pressed (all of it
 * pinned memory, else copies do not overlap). Times and failures as of sl_stages_run(). The calling
 * thread must have chosen the device.
 */
enum sl_status sl_device_pipeline_run(const struct sl_recipe *r,
	struct sl_device_pipeline *pipeline, struct sl_batch *b, uint64_t ns[SL_STAGE_COUNT]);

#endif
