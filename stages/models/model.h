/*
 * model.h - the interface between a model and the rest of the program.
 *
 * A model is one header of rules for host and device, stages/models/NAME.h, and one line in
 * models.def. Of the header the build makes one table, struct sl_model, with all that the program
 * needs of the model: facts, options, loops and kernels (code.h, model_table.c). The header defines:
 *
 *	struct sl_NAME        the parameters that the rules use, made from the configuration
 *	SL_COLUMNS_NAME       the set of columns that the model's particles have: id and fate always,
 *	                      weight if the model is weighted. The formats mcpl and mcpl.gz need
 *	                      x, y, z, u, v, w, weight and time; an image needs pixel and weight
 *	SL_FATES_NAME         the set of fates that they can end with
 *	SL_RECOMPUTED_NAME        true if it costs less to compute a particle again than to store it
 *	SL_WEIGHTED_NAME      true if weights can differ from 1: as a fraction of the particle that
 *	                      started with weight 1, or, if particles are read from files, any number
 *	sl_NAME_generate(r, wanted, seed, id)
 *	                      returns the particle id as it starts
 *	sl_NAME_step(r, wanted, seed, &p)
 *	                      advances p, which is alive, by one step; p.fate says whether it still is
 *	sl_NAME_advance(r, wanted, seed, &p, n)
 *	                      advances one particle by at most n steps (SL_ADVANCE_BY_STEPS())
 *
 * A model whose histories have scores has a line SCORED_MODEL. Its particles fly through media, one
 * at a time, such as the layers of a slab. Its header also defines:
 *
 *	sl_NAME_media(r)      the number of media
 *	sl_NAME_max_steps(r)  the number of steps after which a particle ends
 *	sl_NAME_medium_at(r, most, &p)
 *	                      the medium that p, which is alive, flies through
 *	sl_NAME_step_in(r, most, i, seed, &p, &f)
 *	                      sl_NAME_step() of p, which is in medium i, described in *f (flight.h).
 *	                      Returns the medium where p is then
 *	sl_NAME_slowness_in(r, most, i)
 *	                      1/speed in medium i, ns/cm
 *	sl_NAME_deposit_in(r, most, i, &p, weight)
 *	                      the weight that a collision in medium i, where the step has ended, takes
 *	                      from a particle, which had the given weight before and is p after it
 *	sl_NAME_fluence_in(r, most, i, weight)
 *	                      weight times the mean free path, cm
 *
 * A model with the member resampling is a particle filter. sl_NAME_step() moves a particle by its
 * own random numbers, and adds the logarithm of the weight that the observation number p->steps
 * gives it to the column log_weight, which starts at 0. All particles of a batch take the same
 * number of steps, the last of which sets their fate, and have the column log_weight.
 *
 * r has at most `most` media: a constant of the caller, 1, SL_FEW or UINT32_MAX (SL_BY_MEDIA()).
 * For the host it gives score_shift and track_shift (struct sl_model).
 *
 * Rules are written in the types of lanes.h: the loops of the host compute a particle in each lane
 * of a vector. wanted is the set of columns that will be read; a rule may skip the computation of
 * others. fate, weight, steps and collisions are always read, because they are counted.
 *
 * Rules draw random numbers only with sl_draw(), and n steps in one call must give the same bits as
 * n calls of one step: rounds, and histories printed by `sluice replay` (history.h), depend on it.
 * A step in which collisions grows is reported as a collision.
 *
 * For the host (SL_MODEL_HOST) the header also defines struct sl_NAME_config, the option table
 * sl_NAME_options, sl_NAME_make, sl_NAME_range and sl_NAME_constants (see struct sl_model), and it
 * ends with SL_MODEL(). Helper functions carry the model's name: sl_NAME_...
 */
#ifndef SL_STAGES_MODELS_MODEL_H
#define SL_STAGES_MODELS_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "primitives/base/status.h"
#include "stages/models/code.h"
#include "stages/models/common/resampling.h"
#include "stages/models/common/rules_data.h"
#include "stages/models/option.h"

SL_C_BEGIN

/* What a model uses to check its configuration while it makes its rules. */
struct sl_model_check {
	void *ctx; /* passed to both functions */
	/*
	 * Whether the user set the model's key ("source.radius"), so that it is not at its default.
	 */
	bool (*is_given)(void *ctx, const char *key);
	/* Reports one problem with a key. It may be called for each problem of a configuration. */
	void (*complain)(void *ctx, const char *key, const char *format, ...) SL_PRINTF(3, 4);
};

/* Reports a problem if key is set but not used; use says what would use it. */
static inline void sl_model_refuse_unused(
	const struct sl_model_check *check, bool used, const char *key, const char *use)
{
	if (!used && check->is_given(check->ctx, key))
		check->complain(check->ctx, key,
			"has no effect here: only %s uses it; remove it or choose that", use);
}

/* Reports a problem if key is not set but is used; use says what needs it. */
static inline void sl_model_require(
	const struct sl_model_check *check, bool used, const char *key, const char *use)
{
	if (used && !check->is_given(check->ctx, key))
		check->complain(check->ctx, key, "is missing: %s needs it; add it", use);
}

/*
 * Reports a problem if key is used but not set, or set but not used. For keys that have no default
 * and belong to one choice of another key, such as the length of a tube.
 */
static inline void sl_model_require_only_if(
	const struct sl_model_check *check, bool used, const char *key, const char *use)
{
	sl_model_require(check, used, key, use);
	sl_model_refuse_unused(check, used, key, use);
}

/*
 * The least value that a message advises: limit > 0, or a little more, with three digits, so that
 * it is accepted.
 */
static inline double sl_model_at_least(double limit)
{
	double unit = 1;

	while (unit * 1000 <= limit)
		unit *= 10;
	while (unit * 100 > limit)
		unit /= 10;
	return ceil(limit * 1.0001 / unit) * unit;
}

/* The largest number of a fate in a set. */
static inline double sl_model_last_fate(sl_fate_set fates)
{
	int last = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		last = SL_HAS(fates, f) ? f : last;
	return last;
}

/*
 * The range of a column that is the same in all models: direction cosines, weights of at most 1,
 * steps and collisions (max_steps = 0: unbounded), and fate. Returns false for all other columns.
 */
static inline bool sl_model_common_range(
	enum sl_column column, uint32_t max_steps, sl_fate_set fates, double *lo, double *hi)
{
	*lo = 0;
	*hi = 1;
	switch (column) {
	case SL_COLUMN_u:
	case SL_COLUMN_v:
	case SL_COLUMN_w:
		*lo = -1;
		return true;
	case SL_COLUMN_weight:
		return true;
	case SL_COLUMN_steps:
	case SL_COLUMN_collisions:
		*hi = max_steps;
		return max_steps > 0;
	case SL_COLUMN_fate:
		*hi = sl_model_last_fate(fates);
		return true;
	default:
		return false;
	}
}

/* Settings that every model gets in addition to its own configuration. */
struct sl_model_common {
	uint64_t max_steps; /* transport.max_steps */
};

/* The image that the particles of one fate make: width times height pixels. */
struct sl_image {
	const char *what; /* the quantity that a pixel shows: "radiance" */
	uint32_t width, height;
	bool upward;       /* the first row is the lowest */
	double scale;      /* the quantity that a weight of 1 stands for */
	enum sl_fate fate; /* of the particles that contribute */
	bool in_turn; /* ids are assigned to pixels in turn: a pixel is scale times the mean weight
	                 of its particles; else it is the sum of their weights */
};

enum { SL_INTERFACE_BYTES = 32 };

struct sl_model {
	const char *name;
	const char *help;
	const char *species;   /* the name of its particles in files: "photons" */
	const char *digest;    /* of the source of an external model; NULL: in models.def */
	sl_column_set columns; /* set of columns; id and fate included */
	sl_fate_set fates;
	bool read;                       /* particles are read from files, which also say how many
	                                    there are (stages/inputs/inputs.h) */
	bool steps;                      /* more than one step: transport.max_steps applies */
	bool recomputed;                 /* fused mode computes survivors again, not stores them */
	bool weighted;                   /* weights may differ from 1, and are summed */
	const struct sl_option *options; /* its table; offsets into its configuration struct */
	size_t n_options;
	size_t config_bytes; /* of its configuration struct, at most SL_MODEL_CONFIG_BYTES */
	size_t rules_bytes;  /* of struct sl_NAME, at most SL_RULES_BYTES */

	/* Makes the rules from a configuration, and reports its problems to check. */
	void (*make)(const void *config, const struct sl_model_common *common, void *rules,
		const struct sl_model_check *check);

	/* The range of a column that follows from the rules; false: unbounded, so the user must
	 * give it. */
	bool (*range)(const void *rules, enum sl_column column, double *lo, double *hi);

	/* The set of columns that have one value in the whole run; sets those values, exact to the
	 * bit, in *values. */
	sl_column_set (*constants)(const void *rules, struct sl_particle *values);

	/* Fates that receive weight along the way but no particle, so that histograms of them stay
	 * empty. NULL: none. */
	sl_fate_set (*weight_fates)(const void *rules);

	/*
	 * Fates of the model that no particle gets with these rules, so that reports omit them.
	 * NULL: none.
	 */
	sl_fate_set (*unused_fates)(const void *rules);

	/*
	 * Exponent of a power of 2 (cm) that the fluence of one collision does not exceed. NULL:
	 * histories of the model have no scores.
	 */
	int (*score_shift)(const void *rules);

	/*
	 * Exponent of a power of 2 (cm) that the length of a flight seldom exceeds. Given with
	 * score_shift.
	 */
	int (*track_shift)(const void *rules);

	/*
	 * Data of the rules that are too large for them (rules_data.h); NULL: none. data() returns
	 * the member of the rules that refers to them. load() reads the files that keys name, and
	 * sets *key to the last of these keys. Without rules, before make(), it sets the keys that
	 * follow from the files, and what identifies them; with rules, it writes the data.
	 */
	struct sl_rules_data *(*data)(void *rules);
	enum sl_status (*load)(void *config, const void *rules,
		const struct sl_volume_reader *reader, const char **key);

	/*
	 * Offset of a struct sl_source_config (list_config.h) in the configuration, and the section
	 * of its keys, "source.list"; 0: no source reads lists. The records are in the data.
	 */
	size_t source;
	const char *source_key;

	/* The voxels of the model along x, y and z, from 0 on, and their edges, cm. NULL: none. */
	void (*voxels)(const void *rules, uint32_t n[3], double edge[3]);

	/*
	 * Of a particle filter: sets how the particles of a batch are resampled after each step. NULL:
	 * particles are independent.
	 */
	void (*resampling)(const void *rules, struct sl_resampling *p);

	/* Sets the image that the particles make; false: none with these rules. NULL: never. */
	bool (*image)(const void *rules, struct sl_image *p);

	/* What is compiled from the rules. */
	struct sl_rule_loops loops[SL_LEVEL_COUNT];
	sl_one_step *one_step;
	struct sl_rule_kernels cuda, emulated;
};

/* Why the keys of a model of several steps are refused. */
static inline const char *sl_model_why_no_steps(const struct sl_model *m)
{
	return m->resampling ? "a filter takes a step for each observation"
	                     : "the model has a single step";
}

/* The members of struct sl_model that follow from the name of a model. */
#define SL_MODEL_FACTS(model)                                                        \
	.name = #model, .columns = SL_COLUMNS_##model, .fates = SL_FATES_##model,    \
	.recomputed = SL_RECOMPUTED_##model, .weighted = SL_WEIGHTED_##model,        \
	.options = sl_##model##_options,                                             \
	.n_options = sizeof(sl_##model##_options) / sizeof(sl_##model##_options[0]), \
	.config_bytes = sizeof(struct sl_##model##_config),                          \
	.rules_bytes = sizeof(struct sl_##model), .make = sl_##model##_make,         \
	.range = sl_##model##_range, .constants = sl_##model##_constants

/*
 * The last line of a model's header: defines sl_NAME_model, with members that follow the name. Only
 * the table that model_table.c makes of it has loops and kernels.
 */
#define SL_MODEL(model, ...) \
	static const struct sl_model sl_##model##_model = {SL_MODEL_FACTS(model), __VA_ARGS__}

/* What the file of an external model exports as sl_external (pipeline/external). */
struct sl_external {
	char interface[SL_INTERFACE_BYTES]; /* of the program that it was built for */
	const struct sl_model *model;
};

/* The largest struct sl_NAME_config and struct sl_NAME; model_table.c asserts both. */
enum { SL_MODEL_CONFIG_BYTES = 49152, SL_RULES_BYTES = 4096 };

SL_C_END

#endif
