/* model_check.h - a struct sl_model_check that records its messages, and checks of directions. */
#ifndef SL_TESTS_SUPPORT_MODELS_MODEL_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_MODEL_CHECK_H

#include <math.h>

#include "stages/models/model.h"

struct model_check {
	const char *given;   /* keys present in the configuration: " source.radius speed " */
	int n;               /* number of messages */
	char messages[2048]; /* all messages: "key: text\n" */
	struct sl_model_check check;
};

/* Clears *m. given lists the present keys, each between spaces. */
void model_check_begin(struct model_check *m, const char *given);

/* Expects that a model with these rules declares the range lo .. hi for a column. */
void check_range(const struct sl_model *model, const void *rules, enum sl_column column, double lo,
	double hi);

/* Returns the squared length of the direction of p, minus 1. */
static inline double excess_length(const struct sl_particle *p)
{
	double u = (double)p->u, v = (double)p->v, w = (double)p->w;

	return u * u + v * v + w * w - 1;
}

/* Tests whether all floats of p are finite. */
static inline bool is_finite(const struct sl_particle *p)
{
	return isfinite(p->x) && isfinite(p->y) && isfinite(p->z) && isfinite(p->u) &&
	       isfinite(p->v) && isfinite(p->w) && isfinite(p->energy) && isfinite(p->time);
}

#endif
