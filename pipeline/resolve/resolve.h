/*
 * resolve.h - from plain values to choices: names become models, backends, fates and columns.
 *
 * What can be refused without looking at memory and disk is refused here, all at once; those are
 * the plan's. Of the machine only the device is asked for, as the backends depend on it.
 */
#ifndef SL_PIPELINE_RESOLVE_RESOLVE_H
#define SL_PIPELINE_RESOLVE_RESOLVE_H

#include "pipeline/config/config.h"
#include "pipeline/results/statistics.h"
#include "pipeline/config/values.h"
#include "stages/formats/common/format.h"
#include "stages/batch/recipe.h"

/* What run.batch at auto can be. The least: its columns of 1 MiB stay in a second-level cache. */
enum { SL_BATCH_AUTO_LEAST = 1 << 18, SL_BATCH_AUTO_MAX = 1 << 24 };

/* Where the batches are computed; once resolved, never auto. */
enum sl_device_choice { SL_ON_AUTO, SL_ON_CPU, SL_ON_CUDA, SL_ON_EMULATED };

/* transport.schedule; once resolved, auto on a GPU alone, and where there is a choice. */
enum sl_schedule_choice { SL_BY_HISTORY, SL_BY_ROUNDS, SL_BY_MEASURE, SL_BY_AUTO };

struct sl_choices {
	const struct sl_model *model;
	union {
		unsigned char bytes[SL_RULES_BYTES]; /* the model's rules */
		double align;
	} rules;
	uint32_t keep;                 /* set of fates that survive ... */
	struct sl_condition condition; /* ... and what is asked of some of them */
	uint32_t n_fields;             /* of the key; 0: survivors stay in id order */
	struct sl_key_field field[SL_KEY_FIELDS_MAX];
	uint32_t key_bits;     /* in all */
	uint32_t n_histograms; /* by bins */
	struct sl_histogram_axis tally[SL_HISTOGRAMS_MAX];
	uint32_t n_columns; /* that are written, in order of columns.def */
	enum sl_column column[SL_COLUMN_COUNT];
	enum sl_device_choice device;
	int device_number;                    /* as CUDA numbers them */
	char device_reason[SL_MESSAGE_BYTES]; /* why auto means the CPU; "" when it does not */
	enum sl_mode mode;
	const char *mode_reason; /* why auto means staged on a device; "" if not */
	enum sl_schedule_choice schedule;
	struct sl_schedule rounds;        /* as they are, or would be */
	bool rounds_named;                /* by a key of theirs that is not at its default */
	struct sl_choice scan;            /* no backend: compact and sort have their own */
	struct sl_choice compact, sort;   /* compact: what it is, or would be, staged */
	const struct sl_backend *deflate; /* of the host */
	enum sl_transfer_form form;       /* in which survivors come home from the device */
	const struct sl_backend *pack;    /* of the device, which makes streams; or NULL */
	const struct sl_format *format;
	uint64_t batch; /* particles a batch, auto resolved */
	uint64_t n_batches;
	struct sl_stop_rule stop_rule; /* at which the run ends before that */
	struct sl_image image;         /* no pixels: the run makes no image */
	struct sl_mcpl_facts mcpl;
};

/*
 * Fills *choices, and run.particles of a list, and complains to r about all that is wrong; returns
 * its verdict, or, when nothing is, that the device asked for cannot be used (SL_NO_DEVICE). That
 * device is then the calling thread's current one. auto is the process' device, when there is one:
 * CUDA's, unless it is emulated already (sl_device_emulate()).
 */
enum sl_status sl_resolve(struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/*
 * Resolves the items of key: into fields and key_bits. ranges: rules are made, so that the model
 * can tell the range of a column. A part of sl_resolve with a file of its own.
 */
void sl_resolve_key(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges);

/* The fields of a list that is written as key: is. */
struct sl_key_fields {
	uint32_t n, bits; /* in all */
	struct sl_key_field field[SL_KEY_FIELDS_MAX];
};
void sl_resolve_fields(const struct sl_config *c, struct sl_reader *r,
	const struct sl_choices *choices, const char *key, const struct sl_texts *list, bool ranges,
	struct sl_key_fields *fields);

/* Resolves the keys below transport: into schedule and rounds; ranges as above. */
void sl_resolve_schedule(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges);

/* Complains of each key of rounds that is given in vain, and says why. */
void sl_refuse_rounds(struct sl_reader *r, const char *why, const char *what_to_try);

/* "alive < 0.5", as one writes it; "rounds of 8 steps, compact alive < 0.5, ...". */
enum { SL_WHEN_BYTES = 32, SL_SCHEDULE_BYTES = 200 };
const char *sl_when_text(const struct sl_when *when, char text[SL_WHEN_BYTES]);
const char *sl_schedule_text(const struct sl_schedule *s, char text[SL_SCHEDULE_BYTES]);
/*
 * Resolves the items of tallies: into tally[]. ranges as for sl_resolve_key(). A part of sl_resolve
 * with a file of its own.
 */
void sl_resolve_histograms(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool ranges);

/*
 * Reads a range "lo..hi" of a column's values, in its unit or with units; why says what is wrong.
 */
bool sl_range_parse(
	const char *text, enum sl_column column, double *lo, double *hi, char why[SL_WHY_BYTES]);

/*
 * Of a model that is read: looks into its files, for how many particles there are and what all of
 * them have. Fails when one is damaged. A part of sl_resolve with a file of its own.
 */
enum sl_status sl_resolve_inputs(struct sl_config *c, struct sl_reader *r);

/* Resolves keep: into keep and condition. A part of sl_resolve with a file of its own. */
void sl_resolve_keep(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/* Resolves the keys below stop: into goal. A part of sl_resolve with a file of its own. */
void sl_resolve_stop(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/*
 * Resolves output.image: into picture, and holds keep and columns against it. rules: they are made.
 * A part of sl_resolve with a file of its own.
 */
void sl_resolve_image(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool rules);

/*
 * Resolves output.mcpl: into mcpl, and returns the columns that its records are made of; for other
 * formats, complains of what is set for that one and returns set, those of output.columns. A part
 * of sl_resolve with a file of its own.
 */
uint32_t sl_resolve_mcpl(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	uint32_t set, bool rules);

/*
 * The fates that a particle can end with: those of the model, and dropped, once keep is resolved
 * and has conditions. The fate of that name, if it is one of them; else complains about key.
 */
uint32_t sl_final_fates(const struct sl_choices *choices);
bool sl_resolve_fate(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, enum sl_fate *fate);

/* The column of that name, or of another name that it has: ekin is energy. */
enum sl_column sl_column_named(const char *word);

/* The column of that name, if it is one of those allowed of the model; else complains about key. */
bool sl_resolve_column(struct sl_reader *r, const char *key, const char *word,
	const struct sl_model *model, uint32_t allowed, enum sl_column *column);

/*
 * Resolves run.device: into device, device_number and device_story. Fails when one is asked for by
 * name and cannot be used; device stays SL_ON_AUTO then. A part of sl_resolve with a file of its
 * own.
 */
enum sl_status sl_resolve_device(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/* "this run computes on the CPU: built without CUDA, so there is no device to use". */
const char *sl_say_device(const struct sl_choices *choices, char *text, size_t size);

/*
 * Resolves run.mode: into mode and mode_story, once the primitives are chosen, and what a schedule
 * of auto is then. A part of sl_resolve with a file of its own.
 */
void sl_resolve_mode(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

/*
 * Resolves the keys below primitives: for the device and the key that are chosen. Fails only when
 * the device does. A part of sl_resolve with a file of its own.
 */
enum sl_status sl_resolve_primitives(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices);

#endif
