/*
 * cpu_dispatch.h - chooses the loops over particles that were compiled for this processor.
 *
 * stages/batch/loops.h explains the CPU levels.
 */
#ifndef SL_STAGES_HOST_CPU_DISPATCH_H
#define SL_STAGES_HOST_CPU_DISPATCH_H

#include <stddef.h>

#include "stages/batch/loops.h"

/*
 * The loops of the best level that this processor supports. If name is not NULL, those of that
 * level, or NULL if there is no such level or the processor does not support it.
 */
const struct sl_loops *sl_find_loops(const char *name);

/* The loops of the level baseline: one lane, the specification. */
const struct sl_loops *sl_baseline_loops(void);

/* Level k of this program, from best to worst, even if the processor does not support it; NULL after the last. */
const struct sl_loops *sl_loops_at(size_t k);

#endif
