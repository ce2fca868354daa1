/*
 * memory.h - the memory of a plan: counted to the byte, made to fit, refused or got.
 *
 * What is left to the program (run.threads, run.slots, run.batch at auto) is chosen to fit: first
 * fewer batches at a time, which changes no byte of the results, then smaller batches. Where the
 * schedule is left open, there is memory for any of the candidates, or histories it is.
 */
#ifndef SL_PIPELINE_PLAN_MEMORY_H
#define SL_PIPELINE_PLAN_MEMORY_H

#include "pipeline/plan/plan.h"

/* Chooses threads, lanes and, if need be, the batch; sets plan->room. */
void sl_memory_plan_fit(struct sl_plan *plan);

/* Refuses a plan that memory cannot hold: what it needs, what is free, what would fit. */
enum sl_status sl_memory_plan_refuse(const struct sl_plan *plan);

/*
 * Lays out the memory of a plan that is provided anew, for another of its candidates. What was in
 * it is lost.
 */
enum sl_status sl_memory_plan_change(struct sl_plan *plan, const struct sl_candidate *way);

/* Gets the memory; what was got before a failure is given back by sl_memory_plan_give(). */
enum sl_status sl_memory_plan_get(struct sl_plan *plan);
void sl_memory_plan_give(struct sl_plan *plan);

/*
 * Gets that of sums over batches alone, of tallies by bins and of the image, if there are any;
 * sl_memory_plan_get() then leaves it as it is.
 */
enum sl_status sl_memory_plan_get_sums(struct sl_plan *plan);

/* The particles of the largest batch there is. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan);

#endif
