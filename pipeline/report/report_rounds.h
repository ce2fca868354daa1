/* report_rounds.h - the rounds of a session: a table as text and the member "rounds" of run.json. */
#ifndef SL_PIPELINE_REPORT_REPORT_ROUNDS_H
#define SL_PIPELINE_REPORT_REPORT_ROUNDS_H

#include <stdio.h>

#include "pipeline/text/json.h"
#include "stages/rounds/rounds.h"

/*
 * Print the table, and write the member "rounds" of an open object. Both do nothing if the session
 * had no rounds, as with the schedule histories.
 */
void sl_rounds_print(const struct sl_rounds *all, FILE *out);
void sl_rounds_report(struct sl_json *j, const struct sl_rounds *all);

#endif
