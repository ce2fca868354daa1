/*
 * optics_check.h - formulas for light at a surface in double, and wrappers of
 * stages/models/flight.h for tests.
 */
#ifndef SL_TESTS_SUPPORT_MODELS_OPTICS_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_OPTICS_CHECK_H

#include <math.h>

#include "stages/models/flight.h"

/* Fresnel reflectance of unpolarised light from index n to index m at an angle of cosine c. */
static inline double want_fresnel(double n, double m, double c)
{
	double sine = n / m * sqrt(1 - c * c), t = sqrt(1 - sine * sine), s, p;

	if (sine >= 1)
		return 1;
	s = (n * c - m * t) / (n * c + m * t);
	p = (n * t - m * c) / (n * t + m * c);
	return (s * s + p * p) / 2;
}

/* Cosine of the scattering angle for a uniform number and the asymmetry g. */
static inline float scatter(double g, float uniform)
{
	return sl_henyey_greenstein((float)g, (float)(2 * (1 + g) * (1 + g)), uniform);
}

/* The cosine between the directions of two particles. */
static inline double cosine_between(const struct sl_particle *a, const struct sl_particle *b)
{
	return (double)a->u * (double)b->u + (double)a->v * (double)b->v +
	       (double)a->w * (double)b->w;
}

#endif
