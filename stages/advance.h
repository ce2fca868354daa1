/*
 * advance.h - stage 2: the active particles of a batch take steps, until their fates are decided.
 *
 * Input: b->active_set, whose columns hold the particles and whose steps limits the steps of this
 * call. Output: the same columns, with the fates of the particles that ended, and b->keep, which is
 * 1 for those still alive.
 */
#ifndef SL_STAGES_ADVANCE_H
#define SL_STAGES_ADVANCE_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"
#include "stages/models/model.h"

SL_C_BEGIN

/* The loop on the host, once per CPU level; also counts b->active_set.alive. */
sl_rule_loop SL_EVERY_LEVEL(sl_loop_advance);

/*
 * Queues the kernel that advances b->active_set by the rules of a model. If alive (in device
 * memory) is not NULL, also sets b->keep and adds the number of particles still alive to *alive.
 */
typedef enum sl_status sl_advance_launcher(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, uint64_t *alive, sl_stream s);
sl_advance_launcher sl_queue_advance, sl_queue_advance_emulated;

SL_C_END

#endif
