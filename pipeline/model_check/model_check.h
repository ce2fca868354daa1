/* model_check.h - checks that the rules of a model keep the contract of stages/models/model.h. */
#ifndef SL_PIPELINE_MODEL_CHECK_MODEL_CHECK_H
#define SL_PIPELINE_MODEL_CHECK_MODEL_CHECK_H

#include "stages/batch/recipe.h"

/*
 * Computes the first n particles of a recipe in several ways: all steps in one call, few steps per
 * call, one step per call, and with the loops of each CPU level of this processor. All must give the
 * same bits, with fates that the model declares, and values in their ranges. SL_CHECK_FAILED if not;
 * the message names the particle and the column. *levels is set to the number of CPU levels.
 */
enum sl_status sl_model_check_rules(const struct sl_recipe *r, uint32_t n, int *levels);

#endif
