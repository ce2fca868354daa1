/*
 * memory.h - computes the memory of a plan, reduces it until it fits, or refuses the plan.
 *
 * Sizes are exact, because the same layout functions measure the memory and place pointers in it.
 * Settings at auto (run.threads, run.slots, run.batch) are chosen to fit. The number of concurrent
 * batches is reduced first, because it changes no byte of the results; then the batch is halved. If
 * the schedule is open, the memory suffices for every candidate; if it cannot, the schedule is
 * histories.
 */
#ifndef SL_PIPELINE_PLAN_MEMORY_H
#define SL_PIPELINE_PLAN_MEMORY_H

#include "pipeline/plan/plan.h"

/*
 * Chooses threads, slots and, if necessary, the batch size; sets plan->memory. If batches of a list do not
 * fit on the host as they are, counts their survivors first, so that they need memory for these only. Fails
 * only if an input cannot be read.
 */
enum sl_status sl_memory_plan_fit(struct sl_plan *plan);

/* Threads that the configuration asks for: run.threads, or as many as the machine has cores. */
uint32_t sl_memory_plan_threads(const struct sl_plan *plan);

/* SL_HOST_MEMORY or SL_DEVICE_MEMORY if the plan does not fit; the message states what would. */
enum sl_status sl_memory_plan_check(const struct sl_plan *plan);

/* The particles in the largest batch: less than run.batch if the run has fewer particles. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan);

/* The bytes that a slot of the host may need. */
size_t sl_memory_plan_slot(const struct sl_plan *plan);

/* The most survivors of a batch: fewer than its particles if they were counted. */
uint32_t sl_memory_plan_rows(const struct sl_plan *plan);

/*
 * The size of batches, by doubling run.batch, that divides the run into at most that many and fits in the
 * free memory; if none does, the largest that fits. run.batch itself if no larger one fits.
 */
uint32_t sl_memory_plan_larger_batch(const struct sl_plan *plan, uint64_t batches);

#endif
