/*
 * device_pipeline.h - runs batches on a device: a stream, device memory for one batch, and events.
 *
 * The stages of a batch, in one of two modes (device.h), are queued on the stream. The host
 * waits twice per batch (and once per round, if there are rounds): for the number of survivors and
 * the counters, which size later work, and for the columns of the survivors, which are copied to
 * the table of the batch. Several pipelines, each driven by one thread, overlap: one batch is
 * copied while the next is computed.
 *
 * A small batch is queued as a whole: the kernels after the compaction read the number of survivors
 * on the device (n_on_device of the sort), and their grids have room for all particles, which costs
 * less than a wait. The first wait is then for the end of the batch. In fused mode, and of
 * filters, all of its work is one CUDA graph from the second such batch on, unless it reads files. A
 * sort that does not take the number from the device (thrust) makes the host wait for it.
 *
 * If the survivors stay on the device (batch/resident.h), their columns are written to a separate
 * block, without a copy. Such a batch is not queued as a whole, because their number sizes the
 * block.
 *
 * If the recipe has a pack rule, the survivors are packed on the device (pack.h). The host also
 * waits for the packed sizes, and copies the packed bytes.
 *
 * Each transfer is checked: columns against their digests (sl_digest_check()), packed bytes against
 * theirs (sl_device_packed_check()). The counters, which contain the digests, and the sizes are
 * copied twice and compared.
 *
 *	device   staged  | columns | keep | index | key | states | table | scratch | counters |
 *	         fused   | columns, if read | index | key | records, if any |
 *	                 | scratch, then table | counters | scratch of select |
 *	         both    | first id | columns of one value, if survivors are resident | grids, if any | source records, if packed from them | packing, if any |
 *	pinned   | first id | grids, if any | counters | counters | packing |
 */
#ifndef SL_STAGES_DEVICE_DEVICE_PIPELINE_H
#define SL_STAGES_DEVICE_DEVICE_PIPELINE_H

#include "stages/batch/resident.h"
#include "stages/device/device.h"
#include "stages/device/kernels.h"
#include "stages/device/pack.h"
#include "stages/rounds/rounds.h"

struct sl_device_pipeline {
	const struct sl_device_mode *mode;
	void *block, *pinned;  /* set by the owner of the memory */
	unsigned char *rules;  /* those of the recipe, with data on the device; NULL: it has none */
	struct sl_exec exec;   /* the stream, and the scratch that the steps share */
	struct sl_batch batch; /* its pointers are device memory */
	const struct sl_columns *input_columns; /* of a model that reads its particles: the columns
	                                           that were read, in pinned memory */
	const uint32_t *input_source;           /* and their records, if the recipe keeps them */
	struct sl_batch_counters *counters;     /* device memory; the tallies follow */
	struct sl_batch_counters *host_counters[2]; /* two copies of them, pinned */
	size_t counters_bytes;                      /* of each, tallies included */
	struct sl_arena
		select_scratch; /* fused: scratch of the kernel select, after the counters */
	size_t cleared_bytes;   /* counters and select_scratch together */
	sl_event mark[SL_STAGE_COUNT + 2]; /* times between the steps, see mark_before() */
	sl_event counted, copied;          /* after the copies of the counters; of the survivors */
	bool has_rounds;
	uint64_t whole_max;      /* batches of up to this many particles are queued as a whole */
	bool whole;              /* the current batch is */
	uint64_t *first_id;      /* of the batch; device memory */
	uint64_t *host_first_id; /* its source, pinned */
	struct sl_grid_set *grids,
		*host_grids;   /* of the recipe: device memory and pinned; NULL: none */
	uint64_t *grid_copies; /* the copies of their counters, device memory, after the counters */
	sl_graph graph;        /* of a full batch that is queued as a whole; NULL: none yet */
	bool warm;             /* one such batch has run, so its kernels are loaded */
	sl_event round[SL_ROUND_MARKS]; /* times within the current round */
	struct sl_pack pack;
	sl_event device_packed;      /* after the packing kernels */
	bool packs;                  /* the current batch is packed */
	struct sl_resident resident; /* r->resident: what its batches share */
	uint64_t transfer_ns;        /* time of the copies to the host, of the last batch */
	uint64_t pack_ns;            /* time of packing it */
};

/*
 * Lays out a pipeline for batches of at most n particles in the two arenas, and sets its pointers,
 * which are NULL while an arena only measures.
 */
void sl_device_pipeline_lay_out(struct sl_arena *device, struct sl_arena *pinned,
	const struct sl_recipe *r, uint32_t n, struct sl_device_pipeline *pipeline);

/*
 * Makes a pipeline that is laid out use the data of the rules (struct sl_model), which are at that
 * address of the device. Does nothing for rules without data.
 */
void sl_device_pipeline_use_data(
	const struct sl_recipe *r, const void *data, struct sl_device_pipeline *pipeline);

/* Sets *ns to the nanoseconds between two events that have completed. */
enum sl_status sl_event_ns(sl_event from, sl_event to, uint64_t *ns);

/* Returns SL_DEVICE_FAILED with the message that two copies of what differ. */
enum sl_status sl_transfer_error(const char *what);

/*
 * Creates the stream and the events; after a failure, sl_device_pipeline_close() frees those
 * created.
 */
enum sl_status sl_device_pipeline_open(struct sl_device_pipeline *pipeline);
void sl_device_pipeline_close(struct sl_device_pipeline *pipeline);

/*
 * Runs all stages of b, which sl_batch_begin() has prepared, and copies the results to the host:
 * the tally, the tallies, the number of survivors, the columns of b->table that have memory,
 * and, if b->device_packed.wanted, the packed bytes. With r->resident, b->resident belongs to the
 * caller. That memory must be pinned, or copies do not overlap. Times and errors are those of
 * sl_stages_run(). The device must be current for the calling thread.
 */
enum sl_status sl_device_pipeline_run(const struct sl_recipe *r,
	struct sl_device_pipeline *pipeline, struct sl_batch *b, uint64_t ns[SL_STAGE_COUNT]);

#endif
