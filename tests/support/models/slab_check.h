/* slab_check.h - slabs and checks that the tests of the model slab share. */
#ifndef SL_TESTS_SUPPORT_MODELS_SLAB_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_SLAB_CHECK_H

#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"
#include "tests/support/models/optics_check.h"

#include "stages/models/slab.h"

/* Initialiser of a list with the value of a single layer. */
#define ONE(value)            \
	{                     \
		1,            \
		{             \
			value \
		}             \
	}

/* One layer, with refractive index 1 on both sides. */
extern const struct sl_slab_config slab_plain;

/* Three layers: the first has the largest refractive index, the second is clear. */
extern const struct sl_slab_config slab_stack;

struct sl_slab_config slab_of_one(double mu_a, double mu_s, double g, double thickness, double n,
	double n_above, double n_below, double angle, int incidence);

/* Returns c with implicit capture. */
struct sl_slab_config slab_implicit(struct sl_slab_config c);

/* Makes the rules of a valid configuration, with at most 1000 steps. */
struct sl_slab slab_rules(struct sl_slab_config c);

/* Expects the messages expected for the configuration c with the keys given, such as " angle ". */
void slab_expect_messages(struct sl_slab_config c, const char *given, const char *expected);

/* Moves p across a boundary of layer i with this random number. Returns the layer after it. */
uint32_t slab_cross_boundary(
	const struct sl_slab *r, uint32_t i, struct sl_particle *p, float uniform);

float slab_thickness(const struct sl_slab *r);

#endif
