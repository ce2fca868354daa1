/*
 * select.h - fused stage 1: generate, advance, mark and compact in one kernel.
 *
 * Output: key and index of each survivor in id order, its record if the model is not recomputed,
 * the number of survivors, the tally and the counters of the tallies.
 */
#ifndef SL_STAGES_FUSED_SELECT_H
#define SL_STAGES_FUSED_SELECT_H

#include "primitives/base/arena.h"
#include "primitives/device/device.h"
#include "stages/counting/counters.h"
#include "stages/fused/fused.h"

SL_C_BEGIN

/*
 * Queues the kernel. It sets b->key, b->index, b->record and counters->n_survivors, and adds to the
 * tally and the tallies of counters. The index is the number of the particle in the batch, or,
 * if the model is not recomputed, that of its record. The caller has set scratch to 0.
 */
typedef enum sl_status sl_select_launcher(const struct sl_fused *f, const struct sl_batch *b,
	struct sl_batch_counters *counters, struct sl_arena scratch, sl_stream s);
sl_select_launcher sl_queue_select, sl_queue_select_emulated;

/* Bytes of scratch for batches of at most n particles. */
typedef size_t sl_select_scratch(const struct sl_fused *f, uint32_t n);
sl_select_scratch sl_queue_select_scratch, sl_queue_select_scratch_emulated;

SL_C_END

#endif
