/* model.c - the models that models.def lists, as the host knows them. */
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

#define MODEL(name)                                                                     \
	_Static_assert(sizeof(struct sl_##name##_config) <= SL_MODEL_CONFIG_BYTES,      \
		"the configuration of " #name " is too large");                         \
	_Static_assert(__builtin_popcount(SL_COLUMNS_##name) <= SL_COMPACT_COLUMNS_MAX, \
		"columns but the id, and the place, are more than a compaction takes along");
#include "stages/models/models.def"
#undef MODEL
