/* model_check.h - a struct sl_model_check that records its messages, and checks of directions. */
#ifndef SL_TESTS_SUPPORT_MODELS_MODEL_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_MODEL_CHECK_H

#include <math.h>

#include "stages/models/model.h"

struct model_check {
	const char *given; /* the keys that were given: " source.radius speed " */
	int n;             /* complaints */
	char said[2048];   /* them all: "key: text\n" */
	struct sl_model_check check;
};

/* Begins anew; given is a list of keys between spaces. */
void model_check_begin(struct model_check *m, const char *given);

/* The square of the length of p's direction, less 1. */
static inline double excess_length(const struct sl_particle *p)
{
	double u = (double)p->u, v = (double)p->v, w = (double)p->w;

	return u * u + v * v + w * w - 1;
}

/* Has every number of p a value? */
static inline bool is_finite(const struct sl_particle *p)
{
	return isfinite(p->x) && isfinite(p->y) && isfinite(p->z) && isfinite(p->u) &&
	       isfinite(p->v) && isfinite(p->w) && isfinite(p->energy) && isfinite(p->time);
}

#endif
