/*
 * models.h - recipes of any model, from text or at random, and the state of their particles after
 * any number of steps.
 */
#ifndef SL_TESTS_SUPPORT_MODELS_MODELS_H
#define SL_TESTS_SUPPORT_MODELS_MODELS_H

#include <math.h>

#include "stages/batch/recipe.h"
#include "stages/models/models.h"

/* Returns the recipe of a configuration of a model, such as "slab: {thickness: 1 cm}". */
struct sl_recipe recipe_of_model(const char *model, uint32_t max_steps);

/*
 * Makes the recipe of a model, such as "slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}", with at
 * most 1000 steps. The text must be valid; the last brace can be left out.
 */
struct sl_recipe recipe_of(const char *format, ...) SL_PRINTF(1, 2);

/* The rules in such a recipe: struct sl_slab r = RULES(slab, "mu_a: 1 /cm, ..."). */
#define RULES(model, ...) \
	(*RULES_IN(model, ((struct sl_recipe[]){recipe_of(#model ": {" __VA_ARGS__)})))
#define RULES_IN(model, recipe) ((const struct sl_##model *)(const void *)&(recipe)->rules)

/*
 * Makes a recipe with random options of a model, which are valid, and at most max_steps steps. One
 * seed always gives the same recipe. Some options are at the ends of their ranges.
 */
struct sl_recipe recipe_at_random(enum sl_model_number model, uint64_t seed, uint32_t max_steps);

/* Returns a random number below n, and changes the seed. */
uint64_t random_below(uint64_t *seed, uint64_t n);

/* The models that generate particles which are independent: neither list nor smc, the last one. */
enum { GENERATING_MODELS = SL_MODEL_COUNT - 2 };
enum sl_model_number generating_model(uint64_t k);

/* Particle id at its start, and at most n steps later. */
struct sl_particle start_of(const struct sl_recipe *r, uint64_t id);
void advance(const struct sl_recipe *r, struct sl_particle *p, uint32_t n);

/* Particle id after all of its steps. */
struct sl_particle end_of(const struct sl_recipe *r, uint64_t id);

/* The value of a column of p. */
static inline double column_value(const struct sl_particle *p, enum sl_column column)
{
	return sl_column_value(column, (const char *)p + sl_column_facts[column].in_particle);
}

/* Returns the squared length of the direction of p, minus 1. */
static inline double excess_length(const struct sl_particle *p)
{
	double u = (double)p->u, v = (double)p->v, w = (double)p->w;

	return u * u + v * v + w * w - 1;
}

/* The cosine between the directions of two particles. */
static inline double cosine_between(const struct sl_particle *a, const struct sl_particle *b)
{
	return (double)a->u * (double)b->u + (double)a->v * (double)b->v +
	       (double)a->w * (double)b->w;
}

/* Tests whether all floats of p are finite. */
static inline bool is_finite(const struct sl_particle *p)
{
	return isfinite(p->x) && isfinite(p->y) && isfinite(p->z) && isfinite(p->u) &&
	       isfinite(p->v) && isfinite(p->w) && isfinite(p->energy) && isfinite(p->time);
}

#endif
