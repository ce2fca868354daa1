/*
 * flight.h - motion of particles: straight flights and new directions, and reflection, refraction and
 * scattering of light, for the rules of all models.
 *
 * All functions run on host and device with the same bits. They draw no random numbers themselves;
 * the caller passes random words or uniform numbers.
 */
#ifndef SL_STAGES_MODELS_FLIGHT_H
#define SL_STAGES_MODELS_FLIGHT_H

#include "stages/particle/math.h"
#include "stages/particle/random.h"

/* Moves p by distance (cm) along its direction. slowness is 1/speed, in ns/cm. */
SL_HD void sl_fly(sl_lanes *p, sl_f32 distance, sl_f32 slowness)
{
	p->x = fmaf(distance, p->u, p->x);
	p->y = fmaf(distance, p->v, p->y);
	p->z = fmaf(distance, p->w, p->z);
	p->time = fmaf(distance, slowness, p->time);
}

/*
 * Sets the direction of p by polar angle and azimuth about the unit vector (a, b, c). sine and cosine
 * are those of the polar angle; the azimuth is half_turns * pi. The orthonormal basis is that of Duff
 * et al., Building an orthonormal basis, revisited, JCGT 6 (2017) 1, which needs no branch.
 */
SL_HD void sl_deflect(
	sl_lanes *p, sl_f32 a, sl_f32 b, sl_f32 c, sl_f32 sine, sl_f32 cosine, sl_f32 half_turns)
{
	sl_f32 sign = sl_select(c < 0.0f, -1.0f, 1.0f), s = -1.0f / (sign + c), t = a * b * s, i, j;

	sl_sincospi(half_turns, &j, &i);
	i *= sine;
	j *= sine;
	p->u = fmaf(i, fmaf(sign * a, a * s, 1.0f), fmaf(j, t, cosine * a));
	p->v = fmaf(i, sign * t, fmaf(j, fmaf(b, b * s, sign), cosine * b));
	p->w = fmaf(-i, sign * a, fmaf(-j, b, cosine * c));
}

/*
 * Sets the direction of p to a Lambertian one about the unit vector (a, b, c): the probability
 * density of the cosine is 2 * cosine. The sine is not computed from the cosine: near 1 floats are
 * 2^-24 apart, so directions near the axis would lie on rings. sl_uniform(~word) equals 1 -
 * sl_uniform(word), with full resolution at both ends.
 */
SL_HD void sl_lambertian(sl_lanes *p, sl_f32 a, sl_f32 b, sl_f32 c, sl_u32 word0, sl_u32 word1)
{
	sl_deflect(p, a, b, c, sqrtf(sl_uniform(~word0)), sqrtf(sl_uniform(word0)),
		2.0f * sl_uniform(word1));
}

/* --- optics: boundaries between media are planes of constant z --------------------------------- */

/*
 * The reflectance of a boundary from refractive index n to index m for unpolarised light (Fresnel).
 * c > 0 is the cosine of the angle of incidence to the normal. Sets *t to the cosine of the angle of
 * refraction; 0 at total reflection.
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
 * exact for g = 0 (isotropic). g_plus_1_squared_2 is 2 (1 + g)^2.
 */
SL_HD sl_f32 sl_henyey_greenstein(sl_f32 g, sl_f32 g_plus_1_squared_2, sl_f32 uniform)
{
	sl_f32 q = 1.0f / fmaf(g, uniform + uniform, 1.0f - g);
	sl_f32 c = fmaf(g_plus_1_squared_2 * uniform * q * q, fmaf(g, uniform, 1.0f - g), -1.0f);

	return sl_select(c > 1.0f, 1.0f, sl_select(c < -1.0f, -1.0f, c));
}

/* Scatters p by an angle of cosine c, at an azimuth of half_turns * pi. */
SL_HD void sl_scatter(sl_lanes *p, sl_f32 c, sl_f32 half_turns)
{
	sl_deflect(p, p->u, p->v, p->w, sqrtf((1.0f - c) * (1.0f + c)), c, half_turns);
	sl_set_direction(p, p->u, p->v, p->w);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Ends p if it is still alive after max_steps steps. */
SL_HD void sl_end_after(sl_lanes *p, uint32_t max_steps)
{
	p->fate = sl_select_fate(
		(p->fate == SL_FATE_alive) & (p->steps >= max_steps), SL_FATE_max_steps, p->fate);
}

/* Defines sl_NAME_advance() of one particle by sl_NAME_step(). */
#if SL_SIMD_LANES == 1
#define SL_ADVANCE_BY_STEPS(name)                                                       \
	SL_HD void sl_##name##_advance(const struct sl_##name *r, sl_column_set wanted, \
		uint64_t seed, struct sl_particle *p, uint32_t n)                       \
	{                                                                               \
		while (n-- > 0 && p->fate == SL_FATE_alive)                             \
			sl_##name##_step(r, wanted, seed, p);                           \
	}
#else
#define SL_ADVANCE_BY_STEPS(name)
#endif

#endif
