/*
 * flight.h - motion of particles: straight flights and new directions, for the rules of all models.
 *
 * All functions run on host and device with the same bits. They draw no random numbers themselves;
 * the caller passes random words or uniform numbers.
 */
#ifndef SL_STAGES_MODELS_COMMON_FLIGHT_H
#define SL_STAGES_MODELS_COMMON_FLIGHT_H

#include "stages/particle/math.h"
#include "stages/particle/random.h"

/* What happened in one step, for callers that count it. */
struct sl_flight {
	sl_f32 length;     /* of the flight, cm */
	sl_mask collides;  /* it ended in a collision */
	sl_f32 deflection; /* 1 - cosine of the scattering angle; 0 if nothing was scattered */
};

/* Calls X(column number k) for each region of the models slab_paths and voxels_paths. */
#define SL_EVERY_REGION(X) X(1) X(2) X(3)
enum { SL_REGIONS = 3 };

#define SL_COLUMNS_OF_REGIONS                                                             \
	(SL_BIT(SL_COLUMN_path_1) | SL_BIT(SL_COLUMN_path_2) | SL_BIT(SL_COLUMN_path_3) | \
		SL_BIT(SL_COLUMN_collisions_1) | SL_BIT(SL_COLUMN_collisions_2) |         \
		SL_BIT(SL_COLUMN_collisions_3) | SL_BIT(SL_COLUMN_momentum_1) |           \
		SL_BIT(SL_COLUMN_momentum_2) | SL_BIT(SL_COLUMN_momentum_3))

/* Moves p by distance (cm) along its direction. slowness is 1/speed, in ns/cm. */
SL_HD void sl_fly(sl_lanes *p, sl_f32 distance, sl_f32 slowness)
{
	p->x = fmaf(distance, p->u, p->x);
	p->y = fmaf(distance, p->v, p->y);
	p->z = fmaf(distance, p->w, p->z);
	p->time = fmaf(distance, slowness, p->time);
}

/*
 * Sets the direction of p by polar angle and azimuth about the unit vector (a, b, c). sine and
 * cosine are those of the polar angle; the azimuth is half_turns * pi. The orthonormal basis is
 * that of Duff et al., Building an orthonormal basis, revisited, JCGT 6 (2017) 1, which needs no
 * branch.
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

/* Ends p if it is still alive after max_steps steps. */
SL_HD void sl_end_after(sl_lanes *p, uint32_t max_steps)
{
	p->fate = sl_select_fate(
		(p->fate == SL_FATE_alive) & (p->steps >= max_steps), SL_FATE_max_steps, p->fate);
}

/*
 * Calls a function of the rules r, which have so many media (model.h), with the constant `most`
 * that fits: a single medium needs no look-up, and few media a cheaper one.
 */
#define SL_BY_MEDIA(media, function, r, ...)                                               \
	((media) == 1                             ? (void)function(r, 1, __VA_ARGS__)      \
		: SL_FEW > 1 && (media) <= SL_FEW ? (void)function(r, SL_FEW, __VA_ARGS__) \
						  : (void)function(r, UINT32_MAX, __VA_ARGS__))

/* Defines sl_NAME_step() of a model with media. */
#define SL_STEP_BY_MEDIA(name)                                                               \
	SL_HD_PART void sl_##name##_step_by(                                                 \
		const struct sl_##name *r, uint32_t most, uint64_t seed, sl_lanes *p)        \
	{                                                                                    \
		struct sl_flight f;                                                          \
                                                                                             \
		(void)sl_##name##_step_in(                                                   \
			r, most, sl_##name##_medium_at(r, most, p), seed, p, &f);            \
	}                                                                                    \
                                                                                             \
	SL_HD void sl_##name##_step(                                                         \
		const struct sl_##name *r, sl_column_set wanted, uint64_t seed, sl_lanes *p) \
	{                                                                                    \
		(void)wanted;                                                                \
		SL_BY_MEDIA(sl_##name##_media(r), sl_##name##_step_by, r, seed, p);          \
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
