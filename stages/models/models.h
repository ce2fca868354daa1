/*
 * models.h - the models of the program: those of models.def, and the external ones that were loaded
 * (pipeline/external), after them.
 */
#ifndef SL_STAGES_MODELS_MODELS_H
#define SL_STAGES_MODELS_MODELS_H

#include "stages/models/model.h"

enum sl_model_number {
#define MODEL(name) SL_MODEL_##name,
#include "stages/models/models.def"
#undef MODEL
	SL_MODEL_COUNT
};

enum { SL_MODELS_MAX = 64 };

extern const struct sl_model *sl_models[SL_MODELS_MAX];
extern int sl_n_models;

/*
 * Adds a model; one of the same name that was added before is replaced. False if the name is that of
 * a model in models.def, or if there are too many. Not while other threads read the list.
 */
bool sl_model_add(const struct sl_model *model);

/* The number of a model; SL_MODEL_COUNT if it is not in models.def. */
static inline enum sl_model_number sl_model_number_of(const struct sl_model *model)
{
	int m = 0;

	while (m < SL_MODEL_COUNT && sl_models[m] != model)
		m++;
	return (enum sl_model_number)m;
}

/* The model of a name, or NULL. */
const struct sl_model *sl_model_find(const char *name);

#endif
