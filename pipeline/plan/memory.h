/*
 * memory.h - the memory of a plan: counted to the byte, made to fit, or refused. The workspace gets it.
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

/* The particles of the largest batch there is. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan);

#endif
