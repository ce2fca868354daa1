/* report_times.h - the times of a session in run.json. */
#ifndef SL_PIPELINE_REPORT_REPORT_TIMES_H
#define SL_PIPELINE_REPORT_REPORT_TIMES_H

#include "pipeline/run/run.h"
#include "pipeline/text/json.h"

/* The member "times"; key is its name. */
void sl_report_times(struct sl_json *j, const char *key, const struct sl_workspace *w,
	const struct sl_session *s);

/*
 * The member "rounds": sums over the batches of the session. They show how many places of ended
 * particles compaction saved, and what it cost. Missing with the schedule histories.
 */
void sl_report_rounds(struct sl_json *j, const struct sl_rounds *all);

#endif
