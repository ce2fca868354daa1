/*
 * progress.h - shows the progress of a run on stderr: on a terminal one line that is rewritten, in a log
 * a line now and then.
 *
 * A log is what a batch queue keeps. A run of less than 30 s writes no line there. A longer one writes a
 * line after 30 s, so that its rate and its end are known early; then a line at each further 10 % and at
 * least one every 10 minutes, but never two within 30 s.
 */
#ifndef SL_PIPELINE_CLI_PROGRESS_H
#define SL_PIPELINE_CLI_PROGRESS_H

#include <stdio.h>

#include "pipeline/run/run.h"

/* All zero, except out and terminal, at the start of a run. */
struct sl_progress_output {
	FILE *out;
	bool terminal;   /* out is a terminal */
	bool unfinished; /* the line on the terminal has no newline yet */
	bool any;        /* the log has a line */
	double seconds;  /* of the last line in the log */
	double share;    /* 0 to 1, of that line */
};

/* Shows *p, if it is time to. */
void sl_progress_show(struct sl_progress_output *o, const struct sl_progress *p);

/* Ends the line on a terminal. Also called before other output. */
void sl_progress_end(struct sl_progress_output *o);

#endif
