/* model.c - the table of the models in models.def, with checks of their sizes. */
#define SL_MODEL_HOST
#include <math.h>

#include "primitives/primitives.h"
#include "stages/models/model.h"

#define SL_MODEL_HEADERS
#include "stages/models/models.def"
#undef SL_MODEL_HEADERS

const struct sl_model *const sl_models[SL_MODEL_COUNT] = {
#define MODEL(name) &sl_##name##_model,
#include "stages/models/models.def"
#undef MODEL
};

/*
 * Compaction of the active set moves all stored columns and the place of a particle at once. Every
 * stage reads the fate of a particle; weights that differ are summed.
 */
#define MODEL(name)                                                                        \
	_Static_assert(sizeof(struct sl_##name##_config) <= SL_MODEL_CONFIG_BYTES,         \
		"struct sl_" #name "_config is larger than SL_MODEL_CONFIG_BYTES");        \
	_Static_assert(sizeof(struct sl_##name) <= SL_RULES_BYTES,                         \
		"struct sl_" #name " is larger than SL_RULES_BYTES");                      \
	_Static_assert(__builtin_popcountll(SL_COLUMNS_##name) <= SL_COMPACT_COLUMNS_MAX,  \
		"model " #name " has more columns than SL_COMPACT_COLUMNS_MAX");           \
	_Static_assert(SL_HAS(SL_COLUMNS_##name, SL_COLUMN_id) &&                          \
			       SL_HAS(SL_COLUMNS_##name, SL_COLUMN_fate),                  \
		"model " #name " lacks the column id or fate");                            \
	_Static_assert(!SL_WEIGHTED_##name || SL_HAS(SL_COLUMNS_##name, SL_COLUMN_weight), \
		"model " #name " has weights, but not the column weight");
#include "stages/models/models.def"
#undef MODEL
