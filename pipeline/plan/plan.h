/*
 * plan.h - a configuration becomes a plan: all that is decided before the first particle.
 *
 * Input: a resolved configuration (struct sl_choices). Output: the recipe of the stages, the number
 * of threads and slots, and the bytes of memory and disk that the run needs. Requests that exceed
 * the free memory or disk are refused before the run starts, and the message states both sizes. The
 * plan is constant afterwards: the workspace (pipeline/run/workspace.h) allocates what it counts,
 * and nothing allocates after that.
 */
#ifndef SL_PIPELINE_PLAN_PLAN_H
#define SL_PIPELINE_PLAN_PLAN_H

#include <stdio.h>

#include "pipeline/config/config.h"
#include "pipeline/plan/limits/machine.h"
#include "pipeline/resolve/resolve.h"
#include "stages/formats/common/format.h"
#include "stages/formats/images/image_file.h"

enum { SL_CONFIG_TEXT_BYTES = 1 << 16 };

/* Changes whenever any rule, or the digest, gives other bits: runs of different versions cannot be
 * resumed. */
enum { SL_RULES_VERSION = 3 };

/* Sizes in bytes, all computed before the first allocation. */
struct sl_memory_plan {
	size_t slot, slot_pinned; /* each */
	size_t slot_packed; /* each, at most: what a device has packed; allocated when it is there */
	size_t device_pipeline, device_pipeline_pinned; /* per pipeline: device, pinned host */
	size_t resident;   /* survivors of a batch that stay on the device, at most */
	size_t image;      /* per writer: parts of a file other than packed columns */
	size_t histograms; /* histogram sums over batches */
	size_t image_sum;  /* image of the run */
	size_t joined;     /* to make a joined file at the end of the run */
	size_t inputs;     /* lists that are read; allocated before the plan is made */
	size_t host;       /* total, with pinned memory */
	size_t device;     /* total of each device */
};

/*
 * The pilot computes some particles on one thread of the host, to predict survivors, time and bytes. The
 * particles that it counts are spread over the run. For a model that does not read its particles, some
 * batches are then computed and packed as by a run on the host; lists are only read.
 */
struct sl_pilot {
	uint32_t particles;
	uint32_t survivors;
	double most_fraction; /* upper estimate of survivors: four standard errors above the mean */
	double ns;            /* processor time per particle, and in addition per batch */
	double batch_ns;
	double bytes; /* packed, per survivor; 0: not known */
	/* Of each field of the key: whether the column, and the field, differ between survivors. */
	struct sl_particle first; /* survivor */
	bool varies[SL_KEY_FIELDS_MAX], sorts[SL_KEY_FIELDS_MAX];
};

/* Something that a user should know before the run; it does not prevent the run. */
enum { SL_WARNINGS_MAX = 4 + SL_KEY_FIELDS_MAX };

enum { SL_CANDIDATES_MAX = 4 };

/* One mode and schedule of the choice that autotune.h measures. */
struct sl_candidate {
	char name[32];
	enum sl_mode mode;
	struct sl_schedule schedule;
	struct sl_choice compact; /* staged mode only */
};

struct sl_plan {
	/* What the plan was made from. With a stop rule, recipe.n_batches is the maximum. */
	struct sl_choices choices;
	struct sl_config config; /* with the chosen run.batch and stop.min_batches */
	bool batch_is_auto;      /* run.batch is auto: the plan may make it smaller */
	struct sl_recipe recipe; /* its inputs stay open until sl_plan_free() */
	struct sl_machine machine;
	struct sl_file_facts facts;
	char *config_text;      /* all settings that determine the results, as YAML; owned */
	char *batch_config;     /* the same without run.particles; in the block of config_text */
	char to[SL_TEXT_BYTES]; /* the output directory */
	bool on_device;
	uint32_t n_candidates; /* 0: the configuration names the schedule */
	struct sl_candidate candidate[SL_CANDIDATES_MAX];
	const char *schedule_reason; /* why there is no choice of schedules, or "" */
	uint32_t n_devices; /* that the run uses, at most those of the choices; 0 on the host */
	struct sl_device device[SL_DEVICES_MAX]; /* all devices of the choices */
	uint32_t threads;
	uint32_t n_writers;
	uint32_t n_host_slots;
	uint32_t n_device_slots; /* batches on each device at a time; 0 on the host */
	struct sl_pilot pilot;
	struct sl_memory_plan memory;
	uint64_t disk_bytes;    /* upper bound, before compression */
	uint64_t disk_expected; /* as the pilot predicts it; compressed, if that was sampled */
	uint64_t disk_free;
	uint32_t n_warnings;
	char warning[SL_WARNINGS_MAX][SL_MESSAGE_BYTES];
};

/*
 * Makes the plan of a resolved configuration. Allocates only the plan, its text and its input
 * tables. The caller frees *plan with sl_plan_free(), also after a failure.
 */
enum sl_status sl_plan_make(
	const struct sl_config *config, const struct sl_choices *choices, struct sl_plan **plan);

/* Adds a warning, as long as there is space. */
void sl_plan_warn(struct sl_plan *plan, const char *format, ...) SL_PRINTF(2, 3);

/* Makes device i of the plan current for the calling thread; does nothing for a plan on the host. */
enum sl_status sl_plan_use_device(const struct sl_plan *plan, uint32_t i);

/*
 * The facts of the files of batches. Their configuration has no run.particles, so that the files stay as
 * they are when the run is extended.
 */
struct sl_file_facts sl_plan_batch_facts(const struct sl_plan *plan);

/* Frees the plan and closes its input files. plan may be NULL. */
void sl_plan_free(struct sl_plan *plan);

/* The numbers of the batches that the plan computes: all, or those of its part. */
struct sl_batch_range {
	uint64_t first, end; /* end is no part of it */
	uint64_t particles;  /* that they generate */
};
struct sl_batch_range sl_plan_batches(const struct sl_plan *plan);

/* True if the plan computes a part of a run (--part); the recipe is that of the whole run. */
bool sl_plan_is_part(const struct sl_plan *plan);

/* A table with the plan's columns and n rows but no data, by which formats size their files. */
struct sl_table sl_plan_table(const struct sl_plan *plan, uint32_t n);

/*
 * True if the plan makes a list of all batches: output.joined, or a key that implies it. A part makes
 * none: that is done when the parts are joined.
 */
bool sl_plan_is_joined(const struct sl_plan *plan);

/*
 * What the order file of a batch has for each survivor: 8 bytes for the key if batches are merged by
 * it, then 8 bytes for the priority if the list is a sample. bytes = 0: the run has no such files.
 */
struct sl_order_items {
	bool key, priority;
	uint32_t bytes;
};
struct sl_order_items sl_plan_order_items(const struct sl_plan *plan);

/* The suffix of these files. */
#define SL_ORDER_SUFFIX ".order"

/* The backend that compresses survivors: the device's, or the host's. */
const struct sl_backend *sl_plan_deflate(const struct sl_plan *plan);

/* True if the device packs survivors completely, so that host threads compress nothing. */
bool sl_plan_is_device_packed(const struct sl_plan *plan);

#endif
