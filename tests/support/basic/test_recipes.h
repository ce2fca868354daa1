/* test_recipes.h - recipes defined in code, for tests that read no configuration. */
#ifndef SL_TESTS_SUPPORT_BASIC_TEST_RECIPES_H
#define SL_TESTS_SUPPORT_BASIC_TEST_RECIPES_H

#include "stages/host/host.h"
#include "stages/models/models.h"

/* Number of models that generate particles: all except the last one, list, which reads them. */
enum { TEST_MODELS = SL_MODEL_list };

/*
 * Returns a recipe of one batch of n particles on the host. It writes all columns of the model, and
 * its key is so coarse that keys are equal.
 */
struct sl_recipe test_recipe(enum sl_model_number number, uint32_t n);

/* Completes a recipe that has a model, rules and kept fates. Its other members are 0. */
void complete_recipe(struct sl_recipe *r, uint32_t n);

#endif
