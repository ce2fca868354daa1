/*
 * write.h - stage 6: gathers the columns of the survivors in key order, and digests them.
 *
 * Input: b->index in key order, and the columns. Output: b->table, with a digest of each column. A
 * column of the table without memory for items is only digested; the keys have no defined contents
 * after.
 */
#ifndef SL_STAGES_WRITE_H
#define SL_STAGES_WRITE_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"

SL_C_BEGIN

/* The loop on the host, once per CPU level. */
sl_survivor_loop SL_EVERY_LEVEL(sl_loop_write);

/*
 * Queues the kernels that gather the columns of b->table and add to their digests, which are device
 * memory. A constant column, whose value is on the host, is only digested.
 */
typedef enum sl_status sl_gather_launcher(
	const struct sl_batch *b, uint64_t digest[SL_COLUMN_COUNT], sl_stream s);
sl_gather_launcher sl_queue_gather, sl_queue_gather_emulated;

SL_C_END

#endif
