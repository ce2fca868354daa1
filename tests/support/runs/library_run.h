/*
 * library_run.h - a small run through the library in the calling process, so that wrapped
 * functions can count its calls or make them fail.
 */
#ifndef SL_TESTS_SUPPORT_RUNS_LIBRARY_RUN_H
#define SL_TESTS_SUPPORT_RUNS_LIBRARY_RUN_H

#include "pipeline/run/run.h"

struct library_run {
	const char *device;          /* run.device */
	const char *mode;            /* run.mode; NULL: auto */
	const char *compact, *sort;  /* backends; NULL: auto */
	const char *deflate;         /* NULL: auto */
	const char *format;          /* NULL: csv.gz */
	unsigned slots, threads;     /* of 0 slots: auto */
	unsigned particles, batches; /* particles of a batch */
	const char *to;              /* the directory of its files; NULL: none are written */
	/* The plan stands and has its memory; a batch has been handed over; the run has ended. */
	void (*begun)(void);
	void (*batch)(void);
	void (*ended)(void);
};

/* Its plan, without memory; to be freed in any case. */
enum sl_status library_plan(const struct library_run *r, struct sl_plan **plan);

/* The plan of the same configuration with settings of one's own, n texts "key=value". */
enum sl_status library_plan_of(const char *const *sets, size_t n, struct sl_plan **plan);

/* Plans, runs, frees. */
enum sl_status library_run(const struct library_run *r);

#endif
