/* test_recipes.h - recipes defined in code, for tests that read no configuration. */
#ifndef SL_TESTS_SUPPORT_BASIC_TEST_RECIPES_H
#define SL_TESTS_SUPPORT_BASIC_TEST_RECIPES_H

#include "stages/host/host_pipeline.h"

/* Models that make their particles: all but the last, which reads them. */
enum { TEST_MODELS = SL_MODEL_list };

/*
 * One batch of n particles of that model, on the host: all its columns are written, and the key is
 * so coarse that there are ties.
 */
struct sl_recipe test_recipe(enum sl_model_number number, uint32_t n);

#endif
