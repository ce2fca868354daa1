/*
 * optics.h - how light is reflected and refracted where media meet, and how it is scattered.
 *
 * Surfaces are planes of constant z.
 */
#ifndef SL_STAGES_MODELS_OPTICS_H
#define SL_STAGES_MODELS_OPTICS_H

#include "stages/models/flight.h"

/*
 * The share of unpolarised light that is reflected where it meets, at a cosine of c > 0 to the
 * normal, a surface from index n to index m. *t is the cosine beyond, 0 when all is reflected.
 */
SL_HD float sl_fresnel(float n, float m, float c, float *t)
{
	float ratio = n / m, cos2 = fmaf(-ratio * ratio, (1.0f - c) * (1.0f + c), 1.0f);
	float s, p;

	if (n == m) {
		*t = c;
		return 0.0f;
	}
	if (cos2 <= 0.0f) {
		*t = 0.0f;
		return 1.0f;
	}
	*t = sqrtf(cos2);
	s = fmaf(n, c, -(m * *t)) / fmaf(n, c, m * *t);
	p = fmaf(n, *t, -(m * c)) / fmaf(n, *t, m * c);
	return 0.5f * fmaf(s, s, p * p);
}

/* Gives p the direction (u, v, w), brought nearer to unit length by one step of Newton's method. */
SL_HD void sl_set_direction(struct sl_particle *p, float u, float v, float w)
{
	float unit = fmaf(-0.5f, fmaf(u, u, fmaf(v, v, w * w)), 1.5f);

	p->u = u * unit;
	p->v = v * unit;
	p->w = w * unit;
}

/* Bends the direction of p into a medium of relative index ratio = n/m; t is the cosine beyond. */
SL_HD void sl_refract(struct sl_particle *p, float ratio, float t)
{
	sl_set_direction(p, ratio * p->u, ratio * p->v, p->w < 0.0f ? -t : t);
}

/*
 * A cosine from Henyey and Greenstein's distribution of asymmetry g. This form of the inverse
 * of its cumulative distribution has no division by g and is exact for the isotropic g = 0.
 */
SL_HD float sl_henyey_greenstein(float g, float g_plus_1_squared_2, float uniform)
{
	float q = 1.0f / fmaf(g, uniform + uniform, 1.0f - g);
	float c = fmaf(g_plus_1_squared_2 * uniform * q * q, fmaf(g, uniform, 1.0f - g), -1.0f);

	return c > 1.0f ? 1.0f : c < -1.0f ? -1.0f : c;
}

/* Turns the direction of p by a cosine c to the old one, at an azimuth of half_turns * pi. */
SL_HD void sl_scatter(struct sl_particle *p, float c, float half_turns)
{
	sl_deflect(p, p->u, p->v, p->w, sqrtf((1.0f - c) * (1.0f + c)), c, half_turns);
	sl_set_direction(p, p->u, p->v, p->w);
}

#endif
