/*
 * inputs.h - the files that a model reads: what a plan and its reports have to do with them.
 */
#ifndef SL_PIPELINE_PLAN_INPUT_FILES_H
#define SL_PIPELINE_PLAN_INPUT_FILES_H

#include "pipeline/text/json.h"
#include "pipeline/plan/plan.h"
#include "stages/inputs/input_reader.h"

/*
 * Of a model that is read: opens its files, to be closed with the plan, and holds their checksums
 * against those that the configuration states; where it states none, it does then.
 */
enum sl_status sl_plan_open_inputs(struct sl_plan *plan);

/* Of the first n particles, how many survive? */
enum sl_status sl_inputs_pilot(const struct sl_recipe *r, uint32_t n, uint32_t *survivors);

/* The particle id as it ends. */
enum sl_status sl_inputs_particle(const struct sl_recipe *r, uint64_t id, struct sl_particle *p);

/* The rules of r are those of the particles that were read into columns, from first_id on. */
void sl_inputs_settle(struct sl_recipe *r, uint64_t first_id, const struct sl_columns *columns);

/* What the files are, for run.json; for people, a line each: all, or those with a notice. */
void sl_inputs_json(struct sl_json *j, const struct sl_plan *plan);
void sl_inputs_print(const struct sl_plan *plan, bool noticed, FILE *out);

#endif
