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
	unsigned slots, threads;     /* 0 slots: auto */
	unsigned particles, batches; /* particles per batch */
	const char *to;              /* output directory; NULL: no files are written */
	/*
	 * Called after all memory is allocated, after each batch, and at the end; NULL: not called.
	 */
	void (*begun)(void);
	void (*batch)(void);
	void (*ended)(void);
};

/* Makes the plan without memory. The caller frees it also after an error. */
enum sl_status library_plan(const struct library_run *r, struct sl_plan **plan);

/* Makes the plan of the same configuration with n texts "key=value". */
enum sl_status library_plan_of(const char *const *sets, size_t n, struct sl_plan **plan);

/* Makes the plan, runs it and frees it. */
enum sl_status library_run(const struct library_run *r);

/*
 * Calls run with each compact and sort backend of the device, then, for fused mode, with NULL and
 * each sort; with one to three slots.
 */
void for_each_backend(void (*run)(const char *compact, const char *sort, unsigned slots));

#endif
