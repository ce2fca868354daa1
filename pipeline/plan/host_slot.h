/*
 * host_slot.h - the host memory of one batch in flight: its layout and its size.
 *
 * A run has more slots than threads (memory.c), so that a thread can start the next batch while a
 * writer still uses the slot of the previous one. If a device computes, the batch is in the memory
 * of a device pipeline (stages/device/device_pipeline.h), and the slot holds what was copied from
 * the device. Pinned memory is separate because only copies from the device need it.
 *
 *	host     block  | index | table | records | columns | keep | place | key | states | bins | scratch |
 *	                                          | packed ...                           |
 *	device   block  | packed | bins | scratch |
 *	         pinned | columns and records, if read | table | or streams packed on the device |
 *
 * On the host, the packed survivors take the memory of what nothing reads after the stage write.
 */
#ifndef SL_PIPELINE_PLAN_HOST_SLOT_H
#define SL_PIPELINE_PLAN_HOST_SLOT_H

#include "pipeline/plan/plan.h"
#include "stages/host/host_pipeline.h"

struct sl_host_slot {
	void *block, *pinned; /* the memory; owned by the workspace */
	struct sl_batch batch;
	struct sl_packed packed;
	struct sl_exec exec;
	uint64_t ns[SL_STAGE_COUNT]; /* duration of each stage of the batch */
	uint64_t cpu_ns;             /* processor time of all stages on the host */
	uint64_t transfer_ns;        /* duration of copies from the device */
	uint64_t pack_ns;            /* duration of compression */
};

/*
 * Lays out the slot of a batch of recipe r in the two arenas and sets its pointers. With arenas
 * that have no memory it only measures: their used fields are the sizes. r is the plan's recipe,
 * or the plan's recipe with another schedule.
 */
void sl_host_slot_lay_out(struct sl_arena *block, struct sl_arena *pinned,
	const struct sl_plan *plan, const struct sl_recipe *r, struct sl_host_slot *s);

#endif
