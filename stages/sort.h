/*
 * sort.h - stage 5, first part: the sort key of each survivor.
 *
 * Input: b->index, the survivors in id order, and their columns. Output: b->key, u32 or u64. The
 * sort backend of the recipe then sorts b->index by b->key.
 */
#ifndef SL_STAGES_SORT_H
#define SL_STAGES_SORT_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"
#include "stages/selection/key.h"

SL_C_BEGIN

/* The loop on the host, once per CPU level. */
sl_loop SL_EVERY_LEVEL(sl_loop_sort);

/*
 * Queues the kernel that packs n key fields of each survivor into b->key: u32 if narrow, else u64.
 */
typedef enum sl_status sl_key_launcher(const struct sl_key_rule *field, uint32_t n, bool narrow,
	const struct sl_batch *b, sl_stream s);
sl_key_launcher sl_queue_key, sl_queue_key_emulated;

SL_C_END

#endif
