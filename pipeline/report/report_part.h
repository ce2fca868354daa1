/*
 * report_part.h - the members of run.json about parts: which part a run is, and which parts a run was
 * joined from.
 */
#ifndef SL_PIPELINE_REPORT_REPORT_PART_H
#define SL_PIPELINE_REPORT_REPORT_PART_H

#include "pipeline/run/workspace.h"
#include "pipeline/text/json.h"

/* Writes the member "part" of a plan that computes a part (pipeline/join/parts.c reads it). */
void sl_report_part(struct sl_json *j, const struct sl_plan *plan);

/* Writes the member "parts" of the times of a joined run. */
void sl_report_part_times(struct sl_json *j, const struct sl_parts_origin *origin);

#endif
