/*
 * join.h - sluice join: makes the run of all its parts, as one process would have written it.
 *
 * Parts that are missing, incomplete or of different runs, and an output directory that is in use,
 * are refused before a file is written. The contents of a file are checked where the joined run has
 * it, so that a part which changes during the join is noticed; with force, also before the old run
 * is removed. A join that fails removes what it has written. The parts are only read.
 */
#ifndef SL_PIPELINE_JOIN_JOIN_H
#define SL_PIPELINE_JOIN_JOIN_H

#include "pipeline/report/report.h"

struct sl_join_job {
	const char *const *in; /* n directories */
	size_t n;
	const char *to; /* the directory of the run */
	bool force;     /* replace the run that is there */
	const atomic_int *stop;
	/* Called once, when the run is written. */
	void (*results)(void *ctx, const struct sl_workspace *w, const struct sl_manifest *m,
		const struct sl_session *session);
	void *ctx;
};

/* Returns the status of the checks of the configuration, or the failure of the join. */
enum sl_status sl_join(const struct sl_join_job *job);

#endif
