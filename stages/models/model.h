/*
 * model.h - what the pipeline knows of a model.
 *
 * A model is one header of rules for host and device alike, stages/models/NAME.h, and its
 * line in models.def. The header gives:
 *
 *	struct sl_NAME                  the numbers that its rules use, made from the configuration
 *	SL_COLUMNS_NAME, SL_FATES_NAME  the columns that it carries, the fates that it deals out
 *	                                (sets of bits)
 *	SL_REMADE_NAME                  is to make a particle again less work than to carry it
 *	                                through memory? true or false
 *	SL_WEIGHTED_NAME                can a weight be other than 1, as a part of the particle that
 *	                                started with 1, or, of a model that is read, of whatever
 *	                                size? true or false
 *	sl_NAME_generate(r, wanted, seed, id)
 *	                                the particle id as it starts
 *	sl_NAME_advance(r, wanted, seed, &p, n)
 *	                                up to n steps of it; p.fate tells whether it is still alive
 *
 * wanted is the set of columns that somebody will read; what is made for others alone may be left
 * out. fate, weight, steps and collisions are read by all, as they are counted.
 *
 * Rules draw by sl_draw() alone, and n steps at once are n steps one by one: so a history can be
 * told with its draws. What a step was is told from what it has changed (history.h): a collision is
 * counted as one in the column collisions.
 *
 * and, for the host alone (SL_MODEL_HOST), struct sl_NAME_config, its table sl_NAME_options,
 * sl_NAME_make, sl_NAME_range and sl_NAME_constants (see struct sl_model), and SL_MODEL at its
 * foot.
 */
#ifndef SL_STAGES_MODELS_MODEL_H
#define SL_STAGES_MODELS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stages/models/option.h"
#include "stages/particle/particle.h"

SL_C_BEGIN

/* How a model, while it makes its rules, asks about the configuration and complains about it. */
struct sl_model_check {
	void *ctx; /* passed to both functions */
	/* Was the model's key ("source.radius") given, or is it at its default? */
	bool (*is_given)(void *ctx, const char *key);
	/* Reports a problem with that key; as many as there are. */
	void (*complain)(void *ctx, const char *key, const char *format, ...) SL_PRINTF(3, 4);
};

/* Complains when key was given although it has no use with what was chosen. */
static inline void sl_model_refuse_unused(
	const struct sl_model_check *check, bool used, const char *key, const char *use)
{
	if (!used && check->is_given(check->ctx, key))
		check->complain(check->ctx, key,
			"does nothing here (it is for %s), remove it or change the type", use);
}

/* Complains when key was not given although it is needed. */
static inline void sl_model_require(
	const struct sl_model_check *check, bool used, const char *key, const char *use)
{
	if (used && !check->is_given(check->ctx, key))
		check->complain(check->ctx, key, "is missing (%s needs it), add it", use);
}

/* The number of the last fate of a set: the upper end of its range. */
static inline double sl_model_last_fate(sl_fate_set fates)
{
	int last = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		last = SL_HAS(fates, f) ? f : last;
	return last;
}

/*
 * The range of what is the same in all models: of directions, weights up to 1, steps and collisions
 * (of a model that has a most of them) and of those fates. false: the column is none of them.
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

/* What every model is told beside its own configuration. */
struct sl_model_common {
	uint64_t max_steps; /* transport.max_steps */
};

/* The image that particles of one fate make, by their pixels: width times height of them. */
struct sl_image {
	const char *what; /* of a pixel is told: "radiance" */
	uint32_t width, height;
	bool upward;       /* the first row is the lowest */
	double scale;      /* what a weight of 1 stands for */
	enum sl_fate fate; /* that of the particles seen */
	bool in_turn; /* ids go to the pixels in turn: values are means over a pixel's particles,
	                 times scale; else they are sums of weight */
};

struct sl_model {
	const char *name;
	const char *help;
	const char *species; /* the name of its particles in files: "photons" */
	uint32_t columns;    /* set of columns carried; id and fate included */
	sl_fate_set fates;
	bool read;                       /* from files, which tell how many there are (inputs.h) */
	bool steps;                      /* more than one step: transport.max_steps applies */
	bool remade;                     /* survivors are made again, not carried (fused) */
	bool weighted;                   /* weights may be other than 1, and are summed up */
	const struct sl_option *options; /* its table; offsets into its configuration struct */
	size_t n_options;
	size_t config_bytes; /* of its configuration struct, at most SL_MODEL_CONFIG_BYTES */
	size_t rules_bytes;  /* of struct sl_NAME */

	/* Makes the rules from a configuration; complaints go to check. */
	void (*make)(const void *config, const struct sl_model_common *common, void *rules,
		const struct sl_model_check *check);

	/* The range that values of a column have by the model itself; false: unbounded, must be
	 * stated. */
	bool (*range)(const void *rules, enum sl_column column, double *lo, double *hi);

	/* The columns that have one value in the whole run, and that value by its bits. */
	uint32_t (*constants)(const void *rules, struct sl_particle *values);

	/* In which steps weights are counted (recipe.h); NULL: in 2^-32. */
	int (*weight_shift)(const void *rules);

	/* The image that the particles make; false: none. NULL: none, whatever the rules. */
	bool (*image)(const void *rules, struct sl_image *p);
};

/* The foot of a model's header: all that has its name, and what follows. */
#define SL_MODEL(model, ...)                                                                 \
	static const struct sl_model sl_##model##_model = {.name = #model,                   \
		.columns = SL_COLUMNS_##model,                                               \
		.fates = SL_FATES_##model,                                                   \
		.remade = SL_REMADE_##model,                                                 \
		.weighted = SL_WEIGHTED_##model,                                             \
		.options = sl_##model##_options,                                             \
		.n_options = sizeof(sl_##model##_options) / sizeof(sl_##model##_options[0]), \
		.config_bytes = sizeof(struct sl_##model##_config),                          \
		.rules_bytes = sizeof(struct sl_##model),                                    \
		.make = sl_##model##_make,                                                   \
		.range = sl_##model##_range,                                                 \
		.constants = sl_##model##_constants,                                         \
		__VA_ARGS__}

enum { SL_MODEL_CONFIG_BYTES = 40960 };

enum sl_model_number {
#define MODEL(name) SL_MODEL_##name,
#include "stages/models/models.def"
#undef MODEL
	SL_MODEL_COUNT
};

extern const struct sl_model *const sl_models[SL_MODEL_COUNT];

SL_C_END

#endif
