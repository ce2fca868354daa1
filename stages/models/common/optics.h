/*
 * optics.h - reflection, refraction and scattering of light, for the rules of the models.
 *
 * Boundaries between media are planes of constant z.
 */
#ifndef SL_STAGES_MODELS_COMMON_OPTICS_H
#define SL_STAGES_MODELS_COMMON_OPTICS_H

#include "stages/models/common/flight.h"

/*
 * The reflectance of a boundary from refractive index n to index m for unpolarised light (Fresnel).
 * c > 0 is the cosine of the angle of incidence to the normal. Sets *t to the cosine of the angle
 * of refraction; 0 at total reflection.
 */
SL_HD sl_f32 sl_fresnel(sl_f32 n, sl_f32 m, sl_f32 c, sl_f32 *t)
{
	sl_f32 ratio = n / m, cos2 = fmaf(-ratio * ratio, (1.0f - c) * (1.0f + c), 1.0f);
	sl_f32 reflectance = sl_all(0.0f), beyond, s, p;
	sl_mask differ = n != m, refracts = cos2 > 0.0f;

	*t = c;
	if (sl_any(differ)) {
		beyond = sl_select(refracts, sqrtf(cos2), 0.0f);
		s = fmaf(n, c, -(m * beyond)) / fmaf(n, c, m * beyond);
		p = fmaf(n, beyond, -(m * c)) / fmaf(n, beyond, m * c);
		*t = sl_select(differ, beyond, c);
		reflectance = sl_select(
			differ, sl_select(refracts, 0.5f * fmaf(s, s, p * p), 1.0f), 0.0f);
	}
	return reflectance;
}

/* Sets the direction of p to (u, v, w), normalised by one step of Newton's method: the vector is
 * already close to unit length. */
SL_HD void sl_set_direction(sl_lanes *p, sl_f32 u, sl_f32 v, sl_f32 w)
{
	sl_f32 unit = fmaf(-0.5f, fmaf(u, u, fmaf(v, v, w * w)), 1.5f);

	p->u = u * unit;
	p->v = v * unit;
	p->w = w * unit;
}

/* Refracts the direction of p. ratio is n/m; t is the cosine of the angle of refraction. */
SL_HD void sl_refract(sl_lanes *p, sl_f32 ratio, sl_f32 t)
{
	sl_set_direction(p, ratio * p->u, ratio * p->v, sl_select(p->w < 0.0f, -t, t));
}

/*
 * Samples the cosine of the scattering angle from the Henyey-Greenstein distribution with mean
 * cosine g. This form of the inverse cumulative distribution does not divide by g, so that it is
 * exact for g = 0 (isotropic). g_plus_1_squared_2 is 2 (1 + g)^2. With g = 1 or -1 the cosine is g.
 */
SL_HD sl_f32 sl_henyey_greenstein(sl_f32 g, sl_f32 g_plus_1_squared_2, sl_f32 uniform)
{
	sl_f32 q = 1.0f / fmaf(g, uniform + uniform, 1.0f - g);
	sl_f32 c = fmaf(g_plus_1_squared_2 * uniform * q * q, fmaf(g, uniform, 1.0f - g), -1.0f);

	c = sl_select(c > 1.0f, 1.0f, sl_select(c < -1.0f, -1.0f, c));
	return sl_select(fabsf(g) == 1.0f, g, c);
}

/* Scatters p by an angle of cosine c, at an azimuth of half_turns * pi. */
SL_HD void sl_scatter(sl_lanes *p, sl_f32 c, sl_f32 half_turns)
{
	sl_deflect(p, p->u, p->v, p->w, sqrtf((1.0f - c) * (1.0f + c)), c, half_turns);
	sl_set_direction(p, p->u, p->v, p->w);
}

#endif
