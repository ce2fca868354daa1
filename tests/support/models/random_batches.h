/*
 * random_batches.h - recipes of batches with random properties: model, number of particles, kept
 * fates and condition, key, columns, derived columns, tallies, schedule. One seed always gives the
 * same recipe.
 */
#ifndef SL_TESTS_SUPPORT_MODELS_RANDOM_BATCHES_H
#define SL_TESTS_SUPPORT_MODELS_RANDOM_BATCHES_H

#include "stages/batch/recipe.h"

/*
 * Returns a recipe for the host, with at most largest particles per batch, of a model that
 * generates particles.
 */
struct sl_recipe random_batches(uint64_t seed, uint32_t largest);

/*
 * Adds two scores of collisions to a recipe of the slab, with axes of equal bins or not. All of
 * their counters fit in shared memory.
 */
void score_collisions(struct sl_recipe *r, bool even);

#endif
