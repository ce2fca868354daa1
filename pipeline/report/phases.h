/* phases.h - the wall time that a user waits for a command, and its parts. */
#ifndef SL_PIPELINE_REPORT_PHASES_H
#define SL_PIPELINE_REPORT_PHASES_H

#include "pipeline/run/run.h"

/* In seconds. The parts add up to all. */
struct sl_phases {
	double all;     /* from the start of the command until run.json is written, or would be */
	double plan;    /* opening devices, reading the configuration, planning */
	double memory;  /* allocating */
	double prepare; /* opening the directory, measuring schedules */
	double batches; /* computing and writing them */
	double finish;  /* the files of the whole run */
};

/* False if the start is not known: no command has computed the run. */
bool sl_phases_find(
	const struct sl_workspace *w, const struct sl_session *s, struct sl_phases *found);

#endif
