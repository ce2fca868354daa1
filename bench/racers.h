/*
 * racers.h - the ways from particles to sorted columns that sluice-bench pipeline compares: this
 * project's, and CUB's parts put together as usual.
 */
#ifndef SL_BENCH_RACERS_H
#define SL_BENCH_RACERS_H

#include "bench/bench.h"

enum { SL_STEPS_MAX = SL_STAGE_COUNT };

/* What a batch comes to: the same by every way. */
struct sl_outcome {
	uint32_t n_survivors;
	uint64_t digest[SL_COLUMN_COUNT];
};

/* Milliseconds on the device: from the first launch to the end of the last kernel, what the host
 * takes to learn the number of survivors included; and of each step. */
struct sl_lap {
	double all_ms;
	uint32_t n;
	const char *step[SL_STEPS_MAX];
	double ms[SL_STEPS_MAX];
};

/* A way, with its memory. */
struct sl_racer;
struct sl_racer_kind {
	const char *name;
	enum sl_status (*open)(struct sl_racer *w);
	enum sl_status (*run)(struct sl_racer *w, struct sl_lap *lap);
	enum sl_status (*answer)(struct sl_racer *w, struct sl_outcome *a);
	void (*close)(struct sl_racer *w);
};

enum { SL_RACER_MARKS = 6 };

struct sl_racer {
	const struct sl_racer_kind *kind;
	const struct sl_recipe *recipe; /* one batch */
	struct sl_arena device, pinned; /* what it has of both */
	struct sl_batch home;           /* what came to the host; its table is pinned */
	sl_event from;
	struct sl_device_pipeline lane; /* this project's */
	/* CUB's */
	struct sl_cub_pipeline cub;
	uint32_t *seen; /* pinned: the number of survivors */
	sl_event mark[SL_RACER_MARKS];
	sl_stream stream;
};

/* This project's, on the device, as the recipe says; and CUB's (NULL: a build without CUDA). */
extern const struct sl_racer_kind sl_racer_lane;
extern const struct sl_racer_kind *const sl_racer_cub;

/* The same by the host's loops, the specification. */
enum sl_status sl_racer_host(const struct sl_recipe *r, struct sl_outcome *a);

/* Gets memory and all else. To be closed even after a failure. */
enum sl_status sl_racer_open(
	const struct sl_racer_kind *kind, const struct sl_recipe *r, struct sl_racer *w);
void sl_racer_close(struct sl_racer *w);

#endif
