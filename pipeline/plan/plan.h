/*
 * plan.h - a configuration becomes a plan: all that is decided before the first particle.
 *
 * Everything that can be refused is refused here, with the figures: what the configuration
 * asks for, what memory and disk it takes, and what there is. A plan made and provided with memory
 * is all that a run needs; after that nothing allocates.
 */
#ifndef SL_PIPELINE_PLAN_PLAN_H
#define SL_PIPELINE_PLAN_PLAN_H

#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/plan/machine.h"
#include "pipeline/resolve/resolve.h"
#include "stages/formats/common/format.h"
#include "stages/formats/images/image_file.h"

enum { SL_CONFIG_TEXT_BYTES = 1 << 16 };

/* Changes whenever any rule, or the digest, gives other bits: runs of different versions cannot be
 * resumed. */
enum { SL_RULES_VERSION = 2 };

/* Bytes, all counted before any is asked for. */
struct sl_memory_plan {
	size_t slot, slot_pinned; /* each */
	size_t lane, lane_pinned; /* each; of the device, and of the host */
	size_t image;             /* each: what a file has beside its packed bytes */
	size_t histograms;        /* sums over batches of tallies by bins */
	size_t image_sum;         /* of the image of the run */
	size_t inputs;            /* of lists that are read: there already */
	size_t host, device;      /* in all; pinned memory is the host's */
};

/* A look at the first particles, to foresee survivors and time. */
struct sl_pilot {
	uint32_t particles;
	uint32_t survivors;
	double most_fraction; /* of survivors: four standard errors above what was seen */
	double ns;            /* a particle, on one thread */
};

enum { SL_CANDIDATES_MAX = 4 };

/* A way to run a batch, where the schedule is left open (autotune.h). */
struct sl_candidate {
	char name[32];
	enum sl_mode mode;
	struct sl_schedule schedule;
	struct sl_choice compact; /* staged alone */
};

struct sl_plan {
	struct sl_config config;       /* run.batch, stop.min_batches: what was chosen for them */
	bool batch_is_ours;            /* it was auto */
	struct sl_recipe recipe;       /* its inputs are open as long as the plan is there */
	struct sl_stop_rule stop_rule; /* recipe.n_batches are the most, if there is one */
	uint32_t n_histograms;         /* by bins */
	struct sl_histogram_axis tally[SL_HISTOGRAMS_MAX];
	struct sl_machine machine;
	const struct sl_format *format;
	struct sl_file_facts facts;
	char *config_text;      /* what determines the results, as YAML; owned */
	struct sl_image image;  /* no pixels: the run makes no image */
	double white;           /* the value of the image that is white; NaN: the largest */
	char to[SL_TEXT_BYTES]; /* the output directory */
	bool on_device;
	enum sl_schedule_choice schedule;
	uint32_t n_candidates; /* 0: the schedule is named */
	struct sl_candidate candidate[SL_CANDIDATES_MAX];
	const char *schedule_reason;          /* why there is no choice of schedules, or "" */
	const char *mode_reason;              /* why auto means staged on a device, or "" */
	struct sl_device device;              /* when on_device */
	char device_reason[SL_MESSAGE_BYTES]; /* why auto means the CPU, or "" */
	uint32_t threads;
	uint32_t n_writers;
	uint32_t n_host_slots;
	uint32_t n_device_slots; /* batches on the device at a time; 0 on the host */
	struct sl_pilot pilot;
	struct sl_memory_plan room;
	uint64_t disk_bytes; /* foreseen, before compression */
	uint64_t disk_free;
};

/*
 * Makes the plan of a resolved configuration. Gets no memory but for itself; *plan is to be freed
 * even after a failure.
 */
enum sl_status sl_plan_make(
	const struct sl_config *config, const struct sl_choices *choices, struct sl_plan **plan);

/*
 * Refuses a run that memory or disk cannot hold, with the figures; flies the pilot for that. done
 * batches are on the disk already.
 */
enum sl_status sl_plan_refuse(struct sl_plan *plan, uint64_t done);

/* The thread that calls works on the plan's device from now on; nothing to do on the host. */
enum sl_status sl_plan_enter(const struct sl_plan *plan);

void sl_plan_free(struct sl_plan *plan);

#endif
