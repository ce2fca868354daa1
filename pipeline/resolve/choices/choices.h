/*
 * choices.h - the resolved configuration: what each name in a configuration stands for.
 *
 * Output of the resolve folders and input of pipeline/plan. A plain struct without pointers of its
 * own: the model, format and backends point to static tables.
 */
#ifndef SL_PIPELINE_RESOLVE_CHOICES_CHOICES_H
#define SL_PIPELINE_RESOLVE_CHOICES_CHOICES_H

#include <stdint.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/results/results.h"
#include "primitives/primitives.h"
#include "stages/batch/schedule.h"
#include "stages/formats/common/common.h"
#include "stages/formats/common/format.h"
#include "stages/models/model.h"
#include "stages/selection/key.h"
#include "stages/selection/program.h"

/* --- choices ---------------------------------------------------------------------------------- */

/*
 * Range of run.batch: auto, in particles. At the lower end a column of 4-byte values has 1 MiB,
 * which stays in a second-level cache; at the upper end a slot takes about 1 GiB.
 */
enum { SL_BATCH_AUTO_LEAST = 1 << 18, SL_BATCH_AUTO_MAX = 1 << 24 };

/* Where batches are computed. After resolving never SL_ON_AUTO. */
enum sl_device_choice { SL_ON_AUTO, SL_ON_CPU, SL_ON_CUDA, SL_ON_EMULATED };

/*
 * transport.schedule. After resolving SL_BY_AUTO remains only where a GPU can measure candidates.
 */
enum sl_schedule_choice { SL_BY_HISTORY, SL_BY_ROUNDS, SL_BY_MEASURE, SL_BY_AUTO };

/* Which survivors the joined file of a run has, and in which order. */
struct sl_list_order {
	bool run;               /* by the key over the whole run; else batch by batch */
	uint64_t sample, limit; /* survivors sampled; particles of the list; 0: all */
	sl_column_set columns;  /* set of columns that decide and that a device must copy */
};

/*
 * The columns that the configuration names: derived_1, ... (columns.def). Those that are written
 * come first, in the order of output.columns, so that a file has the first ones.
 */
struct sl_named_columns {
	uint32_t n;
	struct sl_column_label label[SL_NAMED_COLUMNS_MAX];
};
_Static_assert((int)SL_COLUMN_NAME_BYTES == (int)SL_NAME_BYTES, "a label has any name of columns");

/*
 * Schedules of rounds that were fastest on an H200 in opposite cases (bench/notes/transport.md): the
 * first if most particles live for many steps, the second if few remain after some steps.
 * transport.schedule: rounds is the first.
 */
enum { SL_ROUNDS_CHOICES = 2 };

struct sl_choices {
	const struct sl_model *model;
	union {
		unsigned char bytes[SL_RULES_BYTES]; /* the rules struct of the model */
		double align;
	} rules;
	sl_fate_set unused_fates;    /* of the model: no particle gets them with these rules */
	sl_fate_set keep;            /* set of fates that can survive */
	struct sl_program condition; /* what a particle with one of condition.fates must meet */
	struct sl_program derivation;
	struct sl_named_columns named;
	sl_column_set
		replaced;  /* set of the built-in derived columns that the configuration defines */
	uint32_t n_fields; /* of the sort key; 0: survivors stay in id order */
	struct sl_key_field field[SL_KEY_FIELDS_MAX];
	uint32_t key_bits; /* sum over the fields */
	uint32_t n_grids;  /* tallies, those without brackets first */
	struct sl_grid_field grid[SL_GRIDS_MAX];
	uint32_t n_grid_edges;
	double grid_edge[SL_GRID_EDGES_MAX];
	sl_column_set columns;  /* set of those of the table that is written */
	sl_column_set internal; /* set of those of them that files do not have */
	enum sl_device_choice device;
	uint32_t n_devices;                /* 0 on the CPU */
	int device_number[SL_DEVICES_MAX]; /* CUDA ordinals, or those of emulated devices */
	uint32_t
		device_users; /* ranks of the run that use each of these devices, at most; 0: one */
	char device_reason[SL_MESSAGE_BYTES]; /* why auto chose the CPU; "" if it did not */
	enum sl_mode mode;
	const char *mode_reason; /* why auto chose staged on a device; "" if it did not */
	enum sl_schedule_choice schedule;
	struct sl_schedule rounds[SL_ROUNDS_CHOICES]; /* what rounds may be, used or not */
	struct sl_choice scan;          /* backend NULL: compact and sort use their own scan */
	struct sl_choice compact, sort; /* compact is set in fused mode too, where it is not used */
	const struct sl_backend *deflate; /* on the host */
	enum sl_transfer_form form;       /* in which survivors are copied from the device */
	bool resident;                    /* survivors stay on the device instead */
	bool reads_columns;               /* the caller reads all columns of each batch */
	const struct sl_backend *pack;    /* DEFLATE backend on the device, or NULL */
	const struct sl_format *format;
	uint64_t batch; /* particles per batch */
	uint64_t n_batches;
	struct sl_stop_rule stop_rule; /* can end the run before n_batches */
	struct sl_list_order list_order;
	struct sl_image image;     /* width 0: the run makes no image */
	struct sl_mcpl_facts mcpl; /* all 0 for another format */
};

/* --- resolver --------------------------------------------------------------------------------- */

/* Progress of the definition of a column. */
enum sl_definition_state { SL_DEFINED, SL_COMPILING, SL_COMPILED, SL_WRONG };

/* A call of a function in keep, and its column. */
struct sl_derived_call {
	enum sl_column column;
	struct sl_program k;
};

/* What the functions of resolve/ work on. */
struct sl_resolver {
	struct sl_config *c;
	struct sl_reader *r;
	struct sl_choices *to;
	bool ranges; /* to->rules are made, so that the model can state ranges and constants */
	/* The columns that the configuration defines, set by sl_derived_begin(). */
	enum sl_definition_state state[SL_NAMED_MAX];
	enum sl_definition_state built_in[SL_COLUMN_COUNT];
	size_t n_names; /* of derived columns, for suggestions */
	const char *name[SL_NAMED_MAX + SL_DERIVED_MAX];
	uint32_t n_calls; /* columns that are calls of functions in keep */
	struct sl_derived_call call[SL_NAMED_COLUMNS_MAX];
};

/* --- names ------------------------------------------------------------------------------------ */

/*
 * Looks up the fates and columns that a configuration names.
 *
 * Each function that takes a resolver adds a problem for the configuration key when the name is
 * unknown or not allowed, with a suggestion.
 */

/*
 * The set of fates that a particle can end with: those of the model, and dropped if keep has
 * conditions. Call it after sl_resolve_keep().
 */
sl_fate_set sl_final_fates(const struct sl_choices *choices);

/* Finds a fate of sl_final_fates() by name; false after adding a problem for key. */
bool sl_resolve_fate(struct sl_resolver *v, const char *key, const char *word, enum sl_fate *fate);

/* The same, and adds the fate to set; false also for a fate that is in the set already. */
bool sl_resolve_fate_once(struct sl_resolver *v, const char *key, const char *word,
	sl_fate_set *set, enum sl_fate *fate);

/* Finds a column of the set allowed by name; false after adding a problem for key. */
bool sl_resolve_column(struct sl_resolver *v, const char *key, const char *word,
	sl_column_set allowed, enum sl_column *column);

/*
 * The range of a column: that of the model, and all angles for the built-in ones. False if it has
 * none. choices->rules must be made.
 */
bool sl_column_range(
	const struct sl_choices *choices, enum sl_column column, double *lo, double *hi);

/* The column of that name or synonym (ekin is energy); SL_COLUMN_COUNT if there is none. */
enum sl_column sl_column_named(const char *word);

/* The column of the set allowed that is named word in other programs (ux is u); NULL if none is. */
const char *sl_column_meant(const char *word, sl_column_set allowed);

/* --- species ---------------------------------------------------------------------------------- */

/* Names of particles, which stand for codes of the Particle Data Group. */

struct sl_species {
	const char *name;
	int32_t code;
};

enum {
#define SPECIES(name, code) SL_SPECIES_##name,
#include "pipeline/resolve/choices/species.def"
#undef SPECIES
	SL_SPECIES_COUNT
};

extern const struct sl_species sl_species[SL_SPECIES_COUNT];

/* The particle with that name, or NULL. */
const struct sl_species *sl_species_find(const char *name);
/* The name of a code, or NULL if the table has none. */
const char *sl_species_name(int32_t code);

#endif
