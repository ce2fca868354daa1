/*
 * slab.h - particles in a stack of infinite plane layers that absorb, scatter and refract.
 *
 * The slab fills 0 < z < thickness; particles enter through z = 0, or start at a point inside
 * (below). Each step is one flight whose length is exponentially distributed with mean 1/mu_t. It
 * ends in a collision (absorption with probability mu_a/mu_t, else scattering) or at the boundary
 * of the layer (reflection with Fresnel's probability for unpolarised light, else refraction into
 * the next layer or out of the slab). At a boundary the rest of the flight is drawn again, which is
 * exact because the exponential distribution has no memory.
 *
 * Adjacent layers of the same medium are merged when the rules are made. Splitting a layer in two
 * therefore changes no bit of any history, if the thicknesses add up to the same float.
 *
 * The layer of a particle follows from its depth, and on a boundary from its direction. Only
 * flights that were cut at a boundary end on it: collisions are kept one float away from inner
 * boundaries. A clear layer (mu_t = 0) has a mean free path of 1e30 cm and scatters only forward.
 *
 * With analogue absorption a collision absorbs whole particles, and weights stay 1. Implicit
 * capture removes the fraction mu_a/mu_t of the weight at each collision. A particle whose weight
 * is below a threshold plays Russian roulette: with probability survive its weight is multiplied by
 * 1/survive, otherwise it ends with weight 0. The expected sum of weights is unchanged, and the
 * weight missing from the number of particles has been absorbed.
 *
 * Clear layers above the first one that is not are a cover. A particle that returns without having
 * been below it was reflected specularly, as one that is reflected on entry. No column says so, but
 * its place does: such a particle begins each flight exactly on a boundary, and one that comes from
 * below the cover is kept one float away from boundaries there.
 *
 * A particle that leaves through the face and inside the outline of the detector gets the fate hit,
 * unless it was reflected specularly.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 * Block 2^32, which no flight can reach, gives the place of the start on a beam with a width.
 * (Wang, Jacques, Zheng, MCML, Comput. Meth. Prog. Biomed. 47 (1995) 131; Henyey, Greenstein,
 * Astrophys. J. 93 (1941) 70.)
 */
#ifndef SL_STAGES_MODELS_SLAB_H
#define SL_STAGES_MODELS_SLAB_H

#include "stages/models/common/absorption.h"
#include "stages/models/common/list_source.h"

#define SL_COLUMNS_slab                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) |     \
		SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

/* The columns that a step changes, without the number of steps. */
#define SL_SLAB_MOVED (SL_COLUMNS_slab & ~(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_steps)))

#define SL_FATES_slab                                                            \
	(SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) |     \
		SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps) | \
		SL_FATE_BIT(SL_FATE_roulette) | SL_FATE_BIT(SL_FATE_hit) |       \
		SL_FATE_BIT(SL_FATE_specular))

/* A history has dozens of flights, so a survivor is stored, not computed again. */
#define SL_RECOMPUTED_slab false
#define SL_WEIGHTED_slab   true

enum sl_slab_incidence { SL_SLAB_NORMAL, SL_SLAB_ANGLE, SL_SLAB_DIFFUSE };
enum sl_slab_source {
	SL_SLAB_PENCIL,
	SL_SLAB_GAUSSIAN,
	SL_SLAB_DISK,
	SL_SLAB_FIBRE,
	SL_SLAB_ISOTROPIC
};
enum sl_slab_outline { SL_SLAB_NO_DETECTOR, SL_SLAB_ANNULUS, SL_SLAB_RECTANGLE };

enum { SL_SLAB_LAYERS_MAX = 16 };
#define SL_SLAB_CLEAR_PATH 1e30f /* cm: the mean free path of a clear layer */

struct sl_slab_layer {
	float top, bottom;         /* depths, cm; the last bottom may be infinite */
	float first, last;         /* the depths between which collisions happen */
	float mean_free_path;      /* 1/mu_t, cm, stretched as bottom - top is by rounding */
	float absorb;              /* analogue: mu_a/mu_t, the probability; implicit: 0 */
	float keep;                /* implicit: mu_s/mu_t, the factor of a weight; analogue: 1 */
	float g;                   /* mean cosine of the scattering angle */
	float g_plus_1_squared_2;  /* 2 (1 + g)^2 */
	float n, n_above, n_below; /* refractive indices of the layer and of its neighbours */
	float slowness;            /* n/c, ns/cm */
	float region;              /* of slab_paths, see slab_paths.h */
};

/* The detector: a part of one face. */
struct sl_slab_detector {
	int outline;          /* enum sl_slab_outline */
	int entrance;         /* on the face z = 0; else on the far face */
	float x, y;           /* of its centre, cm */
	float inner2, outer2; /* squared radii of an annulus, cm^2; a disk has inner2 = 0 */
	float half_width, half_height; /* of a rectangle, cm */
	float sine2;                   /* squared sine of the largest angle that it accepts */
};

struct sl_slab {
	struct sl_slab_layer layer[SL_SLAB_LAYERS_MAX];
	uint32_t layers;
	struct sl_roulette roulette;
	float sin_in, cos_in; /* of the angle of incidence */
	int incidence;        /* enum sl_slab_incidence */
	int source;           /* enum sl_slab_source */
	float size;           /* radius, or standard deviation in x and in y, cm */
	float depth;          /* of an isotropic source, cm */
	float sine2;          /* of a fibre: squared sine of the half angle of its cone */
	enum sl_fate bounced; /* of a particle that is reflected on entry, or by the cover */
	uint32_t cover;       /* clear layers above the first one that is not; inside: 0 */
	struct sl_slab_detector detector;
	uint32_t max_steps;
	struct sl_rules_data data; /* of a list, if particles start from one */
};

/*
 * --- how particles start: on the surface z = 0, which reflects some of them, or at a point inside ---
 *
 *	pencil     at the origin
 *	gaussian   normally distributed in x and in y (Box and Muller, 1958)
 *	disk       uniformly over a disk about the origin
 *	fibre      uniformly over the end of a fibre about the origin, in directions within the cone
 *	           of its numerical aperture. The radiance is the same in the whole cone, so the
 *	           squared sine of the angle to the axis is uniformly distributed.
 *	isotropic  at a point on the axis inside the slab, in all directions
 *	list       where particles of a list are. One outside of the slab flies to its surface, or ends
 *	           where it is, if it does not fly towards the slab.
 */

/* The block of random words that gives the place on a source with a width: no flight reaches it. */
#define SL_SLAB_PLACE_BLOCK (UINT64_C(1) << 32)

/* Moves p from the origin to its place on a source with a width. */
SL_HD_PART void sl_slab_start_place(const struct sl_slab *r, sl_lanes *p, uint64_t seed)
{
	struct sl_words random = sl_draw(seed, p->id, sl_all_u64(SL_SLAB_PLACE_BLOCK));
	sl_f32 uniform = sl_uniform(random.at[0]), radius, sine, cosine;

	radius = r->size * sqrtf(r->source == SL_SLAB_GAUSSIAN ? -2.0f * sl_log(uniform) : uniform);
	sl_sincospi(2.0f * sl_uniform(random.at[1]), &sine, &cosine);
	p->x = radius * cosine;
	p->y = radius * sine;
}

/* Sets the direction in which p starts, before the surface refracts it. */
SL_HD_PART void sl_slab_start_direction(
	const struct sl_slab *r, sl_lanes *p, sl_u32 word0, sl_u32 word1)
{
	sl_f32 sine, s, c;

	p->u = sl_all(r->sin_in);
	p->w = sl_all(r->cos_in);
	if (r->source == SL_SLAB_FIBRE || r->source == SL_SLAB_ISOTROPIC) {
		sl_f32 uniform = sl_uniform(word0);

		if (r->source == SL_SLAB_FIBRE) {
			sine = sqrtf(r->sine2 * uniform);
			p->w = sqrtf(fmaf(-r->sine2, uniform, 1.0f));
		} else { /* 1 - uniform with full resolution at both ends, as in sl_lambertian() */
			sine = 2.0f * sqrtf(uniform * sl_uniform(~word0));
			p->w = fmaf(-2.0f, uniform, 1.0f);
		}
		sl_sincospi(2.0f * sl_uniform(word1), &s, &c);
		p->u = sine * c;
		p->v = sine * s;
	} else if (r->incidence == SL_SLAB_DIFFUSE) {
		sl_lambertian(p, sl_all(0.0f), sl_all(0.0f), sl_all(1.0f), word0, word1);
	}
}

/* The surface reflects p, or refracts it into the first layer. */
SL_HD_PART void sl_slab_enter(const struct sl_slab *r, sl_lanes *p, sl_f32 uniform)
{
	const float n_above = r->layer[0].n_above, n = r->layer[0].n;
	sl_lanes inside = *p;
	sl_f32 beyond;
	sl_mask reflects = uniform <= sl_fresnel(sl_all(n_above), sl_all(n), p->w, &beyond);

	sl_refract(&inside, sl_all(n_above / n), beyond);
	p->w = -p->w;
	p->fate = sl_all_fate(r->bounced);
	sl_assign_some_if(SL_SLAB_MOVED, sl_not(reflects), p, &inside);
}

/*
 * Starts p where a particle of the list is: inside, or after the surface that it comes to. The fate
 * of those that do not come in is that of particles which leave on their side.
 */
SL_HD_PART void sl_slab_start_listed(
	const struct sl_slab *r, sl_lanes *p, uint64_t seed, sl_f32 uniform)
{
	const struct sl_slab_layer *first = &r->layer[0], *last = &r->layer[r->layers - 1];
	const float per_c = 1 / 29.9792458f;
	sl_mask above, below, down, arrives, passes;
	sl_f32 face, outside, inside, beyond;
	sl_lanes q, in;

	sl_list_start(&r->data, seed, p);
	above = p->z <= 0.0f;
	below = p->z >= last->bottom;
	down = above & (p->w > 0.0f);
	arrives = down | (below & (p->w < 0.0f));
	p->fate = sl_select_fate(
		above, SL_FATE_reflected, sl_select_fate(below, SL_FATE_transmitted, p->fate));
	if (!sl_any(arrives))
		return;
	q = *p;
	face = sl_select(down, 0.0f, last->bottom);
	outside = sl_select(down, first->n_above, last->n_below);
	inside = sl_select(down, first->n, last->n);
	sl_fly(&q, (face - q.z) / q.w, outside * per_c);
	q.z = face;
	passes = sl_not(
		uniform <= sl_fresnel(outside, inside, sl_select(q.w < 0.0f, -q.w, q.w), &beyond));
	in = q;
	in.fate = sl_all_fate(SL_FATE_alive);
	sl_refract(&in, outside / inside, beyond);
	q.w = -q.w;
	sl_assign_some_if(SL_SLAB_MOVED, passes, &q, &in);
	sl_assign_some_if(SL_SLAB_MOVED, arrives, p, &q);
}

SL_HD sl_lanes sl_slab_generate(
	const struct sl_slab *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	if (r->data.list.n > 0) {
		sl_slab_start_listed(r, &p, seed, sl_uniform(random.at[0]));
		return p;
	}
	if (r->size > 0.0f)
		sl_slab_start_place(r, &p, seed);
	sl_slab_start_direction(r, &p, random.at[1], random.at[2]);
	if (r->source == SL_SLAB_ISOTROPIC)
		p.z = sl_all(r->depth);
	else
		sl_slab_enter(r, &p, sl_uniform(random.at[0]));
	return p;
}

/* The number of layers, which are the media of the model (model.h). */
SL_HD uint32_t sl_slab_media(const struct sl_slab *r)
{
	return r->layers;
}

/* The layer that p flies through. On a boundary, its direction decides. */
SL_HD_PART sl_u32 sl_slab_medium_at(const struct sl_slab *r, uint32_t most, const sl_lanes *p)
{
	sl_u32 i = sl_all_u32(0);

	for (uint32_t k = 0; most > 1 && k + 1 < r->layers; k++) {
		const float bottom = r->layer[k].bottom;

		i += sl_one_if((p->z > bottom) | ((p->z == bottom) & sl_not(p->w < 0.0f)));
	}
	return i;
}

/* A value of layer i of r. */
#define SL_SLAB_LAYER(i, name)                                      \
	(most == 1               ? sl_all(r->layer[0].name)         \
		: most <= SL_FEW ? SL_MEMBER_FEW(r->layer, i, name) \
				 : SL_MEMBER(r->layer, i, name))

/* Whether p, which has left the slab through the face of the detector, is inside its outline and
 * within the angle that it accepts. */
SL_HD_PART sl_mask sl_slab_is_detected(const struct sl_slab_detector *d, const sl_lanes *p)
{
	sl_f32 x = p->x - d->x, y = p->y - d->y, r2 = fmaf(x, x, y * y);
	sl_mask inside = (r2 >= d->inner2) & (r2 < d->outer2);

	if (d->outline == SL_SLAB_RECTANGLE)
		inside = (fabsf(x) <= d->half_width) & (fabsf(y) <= d->half_height);
	return inside & (fmaf(p->u, p->u, p->v * p->v) <= d->sine2);
}

/*
 * The fate of the particles of leaves, which have left the slab, upwards where up is set; deep:
 * they were below the cover.
 */
SL_HD_PART void sl_slab_leave(
	const struct sl_slab *r, sl_mask leaves, sl_mask up, sl_mask deep, sl_lanes *p)
{
	p->fate = sl_select_fate(leaves,
		sl_select_fate(deep, sl_select_fate(up, SL_FATE_reflected, SL_FATE_transmitted),
			sl_all_fate(r->bounced)),
		p->fate);
	if (r->detector.outline != SL_SLAB_NO_DETECTOR) {
		sl_mask there = leaves & deep & (r->detector.entrance ? up : sl_not(up));

		if (sl_any(there))
			p->fate = sl_select_fate(
				there & sl_slab_is_detected(&r->detector, p), SL_FATE_hit, p->fate);
	}
}

/*
 * Flies p to the upper or lower boundary of layer i, where it is reflected, enters the next layer
 * or leaves the slab. Sets *length to that of the flight. Returns the layer where p is then.
 */
SL_HD_PART sl_u32 sl_slab_cross_boundary(const struct sl_slab *r, uint32_t most, sl_u32 i,
	sl_lanes *p, sl_mask up, sl_f32 uniform, sl_f32 *length)
{
	sl_f32 n = SL_SLAB_LAYER(i, n);
	sl_f32 top = SL_SLAB_LAYER(i, top), bottom = SL_SLAB_LAYER(i, bottom);
	sl_f32 z = sl_select(up, top, bottom);
	sl_f32 m = sl_select(up, SL_SLAB_LAYER(i, n_above), SL_SLAB_LAYER(i, n_below));
	sl_f32 cosine = sl_select(p->w < 0.0f, -p->w, p->w), beyond;
	const uint32_t last = most == 1 ? 0 : r->layers - 1;
	sl_mask leaves = (up & (i == 0)) | (sl_not(up) & (i == last)), passes;
	sl_mask deep = sl_all_mask(true);
	sl_lanes q;

	if (most > 1 && r->cover > 0)
		deep = (i >= r->cover) | ((p->z != top) & (p->z != bottom));

	*length = (z - p->z) / p->w;
	sl_fly(p, *length, SL_SLAB_LAYER(i, slowness));
	p->z = z;
	passes = sl_not(uniform <= sl_fresnel(n, m, cosine, &beyond));
	q = *p;
	sl_refract(&q, n / m, beyond);
	sl_slab_leave(r, leaves, up, deep, &q);
	p->w = -p->w;
	sl_assign_some_if(SL_SLAB_MOVED, passes, p, &q);
	i = sl_select_u32(passes & sl_not(leaves), sl_select_u32(up, i - 1, i + 1), i);
	if (most > 1 && r->cover > 0) /* the next float inside the layer */
		p->z = sl_select(deep & (i < r->cover) & (p->fate == SL_FATE_alive),
			sl_float(sl_bits(z) + sl_select_u32(p->w < 0.0f, ~0u, 1u)), p->z);
	return i;
}

/* Flies p to a collision in layer i, which absorbs or scatters it. */
SL_HD_PART void sl_slab_collide(const struct sl_slab *r, uint32_t most, sl_u32 i, sl_lanes *p,
	struct sl_flight *f, const struct sl_words *random)
{
	sl_fly(p, f->length, SL_SLAB_LAYER(i, slowness));
	if (most > 1) {
		sl_f32 first = SL_SLAB_LAYER(i, first), last = SL_SLAB_LAYER(i, last);

		p->z = sl_select(p->z < first, first, sl_select(p->z > last, last, p->z));
	}
	p->collisions += 1;
	sl_absorb(&r->roulette, SL_SLAB_LAYER(i, absorb), SL_SLAB_LAYER(i, keep), p,
		sl_uniform(random->at[1]));
	if (sl_any(p->fate == SL_FATE_alive)) {
		sl_f32 cosine = sl_henyey_greenstein(SL_SLAB_LAYER(i, g),
			SL_SLAB_LAYER(i, g_plus_1_squared_2), sl_uniform(random->at[2]));
		sl_lanes q = *p;

		sl_scatter(&q, cosine, 2.0f * sl_uniform(random->at[3]));
		f->deflection = sl_select(p->fate == SL_FATE_alive, 1.0f - cosine, f->deflection);
		sl_assign_some_if(SL_SLAB_MOVED, p->fate == SL_FATE_alive, p, &q);
	}
}

/*
 * One step of p, which is alive and in layer i, described in *f. Returns the layer where it is
 * then.
 *
 * Whether the flight reaches a boundary is decided by lengths: the end of the flight is rounded to
 * the floats of its depth, which would make a thin layer at a great depth thicker. The first layer
 * begins at depth 0, where that is 2^-24 of its thickness at most, so the end itself is compared.
 */
SL_HD_PART sl_u32 sl_slab_step_in(const struct sl_slab *r, uint32_t most, sl_u32 i, uint64_t seed,
	sl_lanes *p, struct sl_flight *f)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(1, p->steps));
	sl_f32 flight = -SL_SLAB_LAYER(i, mean_free_path) * sl_log(sl_uniform(random.at[0]));
	sl_f32 from = sl_select(i == 0, 0.0f, p->z), length;
	sl_f32 end = fmaf(flight, p->w, p->z - from);
	sl_mask up = end < SL_SLAB_LAYER(i, top) - from;
	sl_mask crosses = up | (end > SL_SLAB_LAYER(i, bottom) - from);
	sl_lanes q;

	p->steps += 1;
	q = *p;
	f->length = flight;
	f->collides = sl_not(crosses);
	f->deflection = sl_all(0.0f);
	if (sl_any(f->collides))
		sl_slab_collide(r, most, i, p, f, &random);
	if (sl_any(crosses)) {
		sl_u32 next = sl_slab_cross_boundary(
			r, most, i, &q, up, sl_uniform(random.at[1]), &length);

		sl_assign_some_if(SL_SLAB_MOVED, crosses, p, &q);
		i = sl_select_u32(crosses, next, i);
		f->length = sl_select(crosses, length, f->length);
		f->deflection = sl_select(crosses, 0.0f, f->deflection);
	}
	sl_end_after(p, r->max_steps);
	return i;
}

SL_STEP_BY_MEDIA(slab)

#if SL_SIMD_LANES == 1
/* Advances p by at most n steps. The layer is known from step to step, and looked up only once. */
SL_HD_PART void sl_slab_take_steps(
	const struct sl_slab *r, uint32_t most, uint64_t seed, struct sl_particle *p, uint32_t n)
{
	uint32_t i = sl_slab_medium_at(r, most, p);
	struct sl_flight f;

	while (n-- > 0 && p->fate == SL_FATE_alive)
		i = sl_slab_step_in(r, most, i, seed, p, &f);
}

SL_HD void sl_slab_advance(const struct sl_slab *r, sl_column_set wanted, uint64_t seed,
	struct sl_particle *p, uint32_t n)
{
	(void)wanted;
	SL_BY_MEDIA(r->layers, sl_slab_take_steps, r, seed, p, n);
}
#endif

/*
 * --- scores: they follow from the particle before and after a step, so histories have the same
 * bits with and without them ---
 */

SL_HD uint32_t sl_slab_max_steps(const struct sl_slab *r)
{
	return r->max_steps;
}

SL_HD_PART sl_f32 sl_slab_slowness_in(const struct sl_slab *r, uint32_t most, sl_u32 i)
{
	return SL_SLAB_LAYER(i, slowness);
}

SL_HD_PART sl_f32 sl_slab_deposit_in(
	const struct sl_slab *r, uint32_t most, sl_u32 i, const sl_lanes *p, sl_f32 weight)
{
	return sl_deposit(&r->roulette, SL_SLAB_LAYER(i, keep), p, weight);
}

/* A clear layer has no mean free path, and so no estimate by collisions. */
SL_HD_PART sl_f32 sl_slab_fluence_in(
	const struct sl_slab *r, uint32_t most, sl_u32 i, sl_f32 weight)
{
	sl_f32 path = SL_SLAB_LAYER(i, mean_free_path);

	return weight * sl_select(path < SL_SLAB_CLEAR_PATH, path, 0.0f);
}

#ifdef SL_MODEL_HOST
#include "stages/models/model.h"

#include "stages/models/config/slab_config.h"
#endif
#endif
