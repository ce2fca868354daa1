/* models.c - the tables of the models in models.def. */
#include "stages/models/models.h"

#define MODEL(name) extern const struct sl_model sl_##name##_table;
#include "stages/models/models.def"
#undef MODEL

const struct sl_model *const sl_models[SL_MODEL_COUNT] = {
#define MODEL(name) &sl_##name##_table,
#include "stages/models/models.def"
#undef MODEL
};

const struct sl_model *sl_model_find(const char *name)
{
	for (int m = 0; m < SL_MODEL_COUNT; m++)
		if (strcmp(sl_models[m]->name, name) == 0)
			return sl_models[m];
	return NULL;
}
