/* models.c - the tables of the models in models.def. */
#include "stages/models/models.h"

#define MODEL(name) extern const struct sl_model sl_##name##_table;
#include "stages/models/models.def"
#undef MODEL

const struct sl_model *sl_models[SL_MODELS_MAX] = {
#define MODEL(name) &sl_##name##_table,
#include "stages/models/models.def"
#undef MODEL
};

int sl_n_models = SL_MODEL_COUNT;

bool sl_model_add(const struct sl_model *model)
{
	int m = 0;

	while (m < sl_n_models && strcmp(sl_models[m]->name, model->name) != 0)
		m++;
	if (m < SL_MODEL_COUNT || m == SL_MODELS_MAX)
		return false;
	sl_models[m] = model;
	sl_n_models += m == sl_n_models;
	return true;
}

const struct sl_model *sl_model_find(const char *name)
{
	for (int m = 0; m < sl_n_models; m++)
		if (strcmp(sl_models[m]->name, name) == 0)
			return sl_models[m];
	return NULL;
}
