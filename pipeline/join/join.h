/*
 * join.h - sluice join: makes the run of all its parts, as one process would have written it.
 *
 * Everything that can be refused is refused before a file is written: parts that are missing, incomplete,
 * damaged or of different runs, and an output directory that is in use. A join that fails later, for
 * example because the disk is full, removes what it has written. The parts are only read.
 */
#ifndef SL_PIPELINE_JOIN_JOIN_H
#define SL_PIPELINE_JOIN_JOIN_H

#include "pipeline/report/report.h"

struct sl_join_job {
	const char *const *in; /* n directories */
	size_t n;
	const char *to; /* the directory of the run; NULL: out/NAME, with the name of the run */
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
