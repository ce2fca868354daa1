/*
 * gather_rows.h - fused stage 3: writes the columns of the survivors, in key order.
 *
 * Input: b->index in key order, and the ids or b->record. Output: b->table and the digests of its
 * columns.
 */
#ifndef SL_STAGES_FUSED_GATHER_ROWS_H
#define SL_STAGES_FUSED_GATHER_ROWS_H

#include "primitives/device/device.h"
#include "stages/counting/counters.h"
#include "stages/fused/fused.h"

SL_C_BEGIN

/*
 * Queues the kernel. It reads the number of rows from counters, on the device; b->n_survivors must
 * be at least that number. It adds to counters->digest.
 */
typedef enum sl_status sl_gather_rows_launcher(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, sl_stream s);
sl_gather_rows_launcher sl_queue_gather_rows, sl_queue_gather_rows_emulated;

SL_C_END

#endif
