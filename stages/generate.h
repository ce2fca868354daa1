/*
 * generate.h - stage 1: the particles of a batch as they start, each computed from (seed, id).
 *
 * Input: the model, its rules, the seed and the ids of the batch. Output: the model's columns.
 */
#ifndef SL_STAGES_GENERATE_H
#define SL_STAGES_GENERATE_H

#include "primitives/device/device.h"
#include "stages/batch/loops.h"
#include "stages/models/model.h"

SL_C_BEGIN

/* The loop on the host, once per CPU level. */
sl_rule_loop SL_EVERY_LEVEL(sl_loop_generate);

/*
 * Queues the kernel that generates the particles of b by the rules of a model (rules points to the
 * model's struct sl_NAME, on the host).
 */
typedef enum sl_status sl_generate_launcher(enum sl_model_number model, const void *rules,
	uint64_t seed, const struct sl_batch *b, sl_stream s);
sl_generate_launcher sl_queue_generate, sl_queue_generate_emulated;

SL_C_END

#endif
