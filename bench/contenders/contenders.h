/* contenders.h - implementations of the whole batch, behind one interface. */
#ifndef SL_BENCH_CONTENDERS_CONTENDERS_H
#define SL_BENCH_CONTENDERS_CONTENDERS_H

#include "bench/cub/cub.h"
#include "stages/device/device_pipeline.h"

/*
 * An implementation of the whole batch, from particles to sorted columns, that
 * sluice-bench pipeline compares with others.
 *
 * There are two: this project's device pipeline (sluice_contender.h) and the usual combination of
 * CUB's calls (cub_contender.h). host_reference.h computes the expected result on the host.
 */

enum { SL_CONTENDER_STEPS_MAX = SL_STAGE_COUNT, SL_CONTENDER_EVENTS = 6 };

/* The result of a batch, equal for all contenders. */
struct sl_batch_result {
	uint32_t n_survivors;
	uint64_t digest[SL_COLUMN_COUNT];
};

/*
 * Milliseconds on the device, of each step and of the batch: from the first launch to the end of
 * the last kernel, including the transfer of the number of survivors to the host.
 */
struct sl_contender_times {
	double all_ms;
	uint32_t n;
	const char *step[SL_CONTENDER_STEPS_MAX];
	double ms[SL_CONTENDER_STEPS_MAX];
};

struct sl_contender;
struct sl_contender_type {
	const char *name;
	enum sl_status (*open)(struct sl_contender *c);
	enum sl_status (*run)(struct sl_contender *c, struct sl_contender_times *times);
	enum sl_status (*result)(struct sl_contender *c, struct sl_batch_result *r);
	void (*close)(struct sl_contender *c);
};

/* A contender with its memory. */
struct sl_contender {
	const struct sl_contender_type *type;
	const struct sl_recipe *recipe; /* one batch */
	struct sl_arena device, pinned; /* all its memory of each kind */
	struct sl_batch on_host;        /* the result; its table is in pinned memory */
	sl_event from;
	struct sl_device_pipeline pipeline; /* of sl_sluice_contender */
	struct sl_cub_pipeline cub;         /* of sl_cub_contender, as the fields below */
	uint32_t *n_survivors;              /* pinned */
	sl_event event[SL_CONTENDER_EVENTS];
	sl_stream stream;
};

/* Allocates everything; keeps type and recipe. To be closed even after a failure. */
enum sl_status sl_contender_open(const struct sl_contender_type *type,
	const struct sl_recipe *recipe, struct sl_contender *c);
void sl_contender_close(struct sl_contender *c);

/* Cuts the memory of a contender from arenas. The first of two calls only measures. */
typedef void sl_contender_lay_out(
	struct sl_contender *c, struct sl_arena *device, struct sl_arena *pinned);

/* For open(): allocates the memory that lay_out cuts. */
enum sl_status sl_contender_allocate(struct sl_contender *c, sl_contender_lay_out *lay_out);

/* The milliseconds between two events; 0 if *s is a failure before or after the call. */
double sl_ms_between(sl_event from, sl_event to, enum sl_status *s);

/* The result of a batch whose columns have digests. */
void sl_batch_result_of(const struct sl_batch *b, struct sl_batch_result *r);

/* The batch made of CUB's calls and simple kernels. */

/* NULL in a build without CUDA. */
extern const struct sl_contender_type *const sl_cub_contender;

/* The result of a batch by the loops of the host, which are the specification. */

enum sl_status sl_host_reference(const struct sl_recipe *recipe, struct sl_batch_result *r);

/* This project's device pipeline, in the mode that the recipe names. */

extern const struct sl_contender_type sl_sluice_contender;

#endif
