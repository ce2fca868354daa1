/*
 * optics.h - reflection, refraction and scattering of light, for the rules of the models.
 *
 * Boundaries between media are planes of constant z.
 */
#ifndef SL_STAGES_MODELS_OPTICS_H
#define SL_STAGES_MODELS_OPTICS_H

#include "stages/models/flight.h"

/*
 * The reflectance of a boundary from refractive index n to index m for unpolarised light (Fresnel).
 * c > 0 is the cosine of the angle of incidence to the normal. Sets *t to the cosine of the angle of
 * refraction; 0 at total reflection.
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

/* Sets the direction of p to (u, v, w), normalised by one step of Newton's method: the vector is
 * already close to unit length. */
SL_HD void sl_set_direction(struct sl_particle *p, float u, float v, float w)
{
	float unit = fmaf(-0.5f, fmaf(u, u, fmaf(v, v, w * w)), 1.5f);

	p->u = u * unit;
	p->v = v * unit;
	p->w = w * unit;
}

/* Refracts the direction of p. ratio is n/m; t is the cosine of the angle of refraction. */
SL_HD void sl_refract(struct sl_particle *p, float ratio, float t)
{
	sl_set_direction(p, ratio * p->u, ratio * p->v, p->w < 0.0f ? -t : t);
}

/*
 * Samples the cosine of the scattering angle from the Henyey-Greenstein distribution with mean
 * cosine g. This form of the inverse cumulative distribution does not divide by g, so that it is
 * exact for g = 0 (isotropic). g_plus_1_squared_2 is 2 (1 + g)^2.
 */
SL_HD float sl_henyey_greenstein(float g, float g_plus_1_squared_2, float uniform)
{
	float q = 1.0f / fmaf(g, uniform + uniform, 1.0f - g);
	float c = fmaf(g_plus_1_squared_2 * uniform * q * q, fmaf(g, uniform, 1.0f - g), -1.0f);

	return c > 1.0f ? 1.0f : c < -1.0f ? -1.0f : c;
}

/* Scatters p by an angle of cosine c, at an azimuth of half_turns * pi. */
SL_HD void sl_scatter(struct sl_particle *p, float c, float half_turns)
{
	sl_deflect(p, p->u, p->v, p->w, sqrtf((1.0f - c) * (1.0f + c)), c, half_turns);
	sl_set_direction(p, p->u, p->v, p->w);
}

#endif
