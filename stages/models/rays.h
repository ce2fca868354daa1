/*
 * rays.h - rays traced backwards through a scene of surfaces, from a camera or from all around.
 *
 * The scene consists of spheres, axis-aligned boxes and planes. Each is diffuse or a mirror and has
 * a reflectance and an emission: the radiance that it emits evenly on both sides. A ray travels
 * against the light, so that its pixel sees what the ray meets. Each step is one flight to the
 * nearest surface. There the ray is reflected with probability reflectance (a diffuse surface
 * reflects into a Lambertian direction about its normal), or it ends.
 *
 * If the surface emits, the fate is lit and the weight emission / (1 - reflectance) / scale. The
 * mean weight of the rays of a pixel times scale is the radiance of the pixel (absorption
 * estimator: Spanier, Gelbard, Monte Carlo Principles and Neutron Transport Problems, 1969; Kajiya,
 * The rendering equation, SIGGRAPH 1986). scale is the largest such radiance of the scene, so that
 * weights are at most 1. All other rays keep weight 1. A ray that meets nothing is lit by the sky
 * if the sky has a radiance; otherwise its fate is escaped, with its last position and direction.
 *
 * With a camera, ray id belongs to pixel id modulo the number of pixels, row by row from the upper
 * left. With source: random, rays enter a sphere about all spheres and boxes as isotropic radiance
 * does, and with source: list they start where the particles of a list are; there is one pixel.
 *
 * No ray meets a surface at the point where it has just left it, and none passes through one: after
 * a hit, the position is moved off the surface, to the side that the ray came from, by 2^-20 of the
 * size of the coordinates. That is at least sixteen floats, more than all rounding of the next
 * flight. Inside a sphere or a box the ray therefore always finds a wall. Where surfaces meet,
 * rounding can move the hit of one beyond another one; then it is moved back along the flight. So a
 * ray begins and ends each flight on the same side of every surface, and cannot leave a closed
 * room, whichever surfaces it is made of.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 */
#ifndef SL_STAGES_MODELS_RAYS_H
#define SL_STAGES_MODELS_RAYS_H

#include "stages/models/common/list_source.h"

#define SL_COLUMNS_rays                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_pixel) |     \
		SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_rays                                                                              \
	(SL_FATE_BIT(SL_FATE_lit) | SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_escaped) | \
		SL_FATE_BIT(SL_FATE_max_steps))

/* A history has several flights, each tested against all surfaces: survivors are stored. */
#define SL_RECOMPUTED_rays false
#define SL_WEIGHTED_rays   true

enum sl_rays_source { SL_RAYS_FROM_CAMERA, SL_RAYS_AT_RANDOM, SL_RAYS_FROM_LIST };
enum sl_rays_shape { SL_RAYS_SPHERE, SL_RAYS_BOX, SL_RAYS_PLANE };
enum sl_rays_finish { SL_RAYS_DIFFUSE, SL_RAYS_MIRROR };

enum { SL_RAYS_SURFACES_MAX = 32 };

struct sl_rays_surface {
	int shape, finish; /* enums above */
	float a[3];        /* centre of a sphere, corner "from" of a box, cm; normal of a plane */
	float b[3];        /* corner "to" of a box, cm */
	float reach;       /* radius of a sphere; signed distance of a plane from the origin; cm */
	float skin;        /* distance from the surface at which rays continue, cm; planes compute
	                      it for each hit */
	float absorb;      /* 1 - reflectance */
	float light;       /* weight of rays that end here; 0: it does not emit */
};

struct sl_rays {
	int source;      /* enum sl_rays_source */
	float eye[3];    /* the camera, or the centre of all spheres and boxes, cm */
	float radius;    /* of the sphere that random rays enter, cm */
	float corner[3]; /* from the eye to the upper left of the image, at any distance */
	float right[3];  /* from a pixel to the next one in the row */
	float down[3];   /* from a row to the next one */
	float sky;       /* weight of rays that meet nothing; 0: the sky is dark */
	float slowness;  /* 1/speed, ns/cm */
	uint32_t width, height;
	uint32_t max_steps;
	uint32_t surfaces;
	struct sl_rays_surface surface[SL_RAYS_SURFACES_MAX];
	double scale; /* the radiance that a weight of 1 stands for; used on the host only */
	struct sl_rules_data data; /* of a list, if rays start from one */
};

/* --- starts ----------------------------------------------------------------------------------- */

/* Sets the direction of p to the unit vector along (a, b, c). */
SL_HD void sl_rays_aim(sl_lanes *p, sl_f32 a, sl_f32 b, sl_f32 c)
{
	sl_f32 onto = 1.0f / sqrtf(fmaf(a, a, fmaf(b, b, c * c)));

	p->u = a * onto;
	p->v = b * onto;
	p->w = c * onto;
}

/* Starts p at the camera, through a random point of its pixel. */
SL_HD void sl_rays_start_at_camera(
	const struct sl_rays *r, sl_lanes *p, const struct sl_words *random)
{
	sl_f32 i = sl_f32_of(p->pixel % r->width) + sl_uniform(random->at[0]);
	sl_f32 j = sl_f32_of(p->pixel / r->width) + sl_uniform(random->at[1]);

	p->x = sl_all(r->eye[0]);
	p->y = sl_all(r->eye[1]);
	p->z = sl_all(r->eye[2]);
	sl_rays_aim(p, fmaf(i, r->right[0], fmaf(j, r->down[0], r->corner[0])),
		fmaf(i, r->right[1], fmaf(j, r->down[1], r->corner[1])),
		fmaf(i, r->right[2], fmaf(j, r->down[2], r->corner[2])));
}

/* Starts p at a random point of the sphere about the scene, in a Lambertian direction about the
 * inward normal. */
SL_HD void sl_rays_start_around(const struct sl_rays *r, sl_lanes *p, const struct sl_words *random)
{
	sl_f32 cosine = fmaf(-2.0f, sl_uniform(random->at[2]), 1.0f), s, c;
	sl_f32 sine = 2.0f * sqrtf(sl_uniform(random->at[2]) * sl_uniform(~random->at[2]));

	sl_sincospi(2.0f * sl_uniform(random->at[3]), &s, &c);
	p->x = fmaf(r->radius, sine * c, r->eye[0]);
	p->y = fmaf(r->radius, sine * s, r->eye[1]);
	p->z = fmaf(r->radius, cosine, r->eye[2]);
	sl_lambertian(p, -sine * c, -sine * s, -cosine, random->at[0], random->at[1]);
}

SL_HD sl_lanes sl_rays_generate(
	const struct sl_rays *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = sl_all(1.0f);
	p.fate = sl_all_fate(SL_FATE_alive);
	p.pixel = sl_remainder(id, (uint64_t)r->width * r->height);
	if (r->source == SL_RAYS_FROM_CAMERA)
		sl_rays_start_at_camera(r, &p, &random);
	else if (r->source == SL_RAYS_FROM_LIST)
		sl_list_start(&r->data, seed, &p);
	else
		sl_rays_start_around(r, &p, &random);
	return p;
}

/* --- flights ---------------------------------------------------------------------------------- */

/* Where a flight meets a surface. */
struct sl_rays_hit {
	sl_f32 distance; /* negative: it does not */
	sl_u32 axis;     /* of a box: the axis across which the face lies */
	sl_mask behind;  /* the ray is inside a sphere or box, or on the back of a plane */
	sl_u32 sides;    /* bit i: it is behind surface i; set by sl_rays_nearest_surface() */
};

/* The hit of a sphere. A ray that starts inside always hits the far side, whatever the rounding. */
SL_HD struct sl_rays_hit sl_rays_hit_sphere(const struct sl_rays_surface *s, const sl_lanes *p)
{
	sl_f32 x = p->x - s->a[0], y = p->y - s->a[1], z = p->z - s->a[2];
	sl_f32 along = -fmaf(x, p->u, fmaf(y, p->v, z * p->w)), inside, half, near, far;
	struct sl_rays_hit m;

	m.axis = sl_all_u32(0);
	m.behind = fmaf(x, x, fmaf(y, y, z * z)) < s->reach * s->reach;
	x = fmaf(along, p->u, x);
	y = fmaf(along, p->v, y);
	z = fmaf(along, p->w, z);
	inside = fmaf(s->reach, s->reach, -fmaf(x, x, fmaf(y, y, z * z)));
	half = sqrtf(sl_select(inside > 0.0f, inside, 0.0f));
	near = sl_select(along - half > 0.0f, along - half, 0.0f);
	far = sl_select(along + half > 0.0f, along + half, 0.0f);
	m.distance =
		sl_select(m.behind, far, sl_select((inside >= 0.0f) & (along > 0.0f), near, -1.0f));
	return m;
}

/* The hit of a box, by intersecting the intervals between its three pairs of faces. */
SL_HD struct sl_rays_hit sl_rays_hit_box(const struct sl_rays_surface *s, const sl_lanes *p)
{
	const sl_f32 at[3] = {p->x, p->y, p->z}, along[3] = {p->u, p->v, p->w};
	sl_f32 first = sl_all(-1.0f), last = sl_all(sl_float(SL_INFINITY_BITS));
	sl_u32 in = sl_all_u32(0), out = sl_all_u32(0);
	sl_mask passes = sl_all_mask(false);
	struct sl_rays_hit m;

	m.behind = sl_all_mask(true);
	for (uint32_t k = 0; k < 3; k++) {
		const float from = s->a[k], to = s->b[k];
		sl_mask forward = along[k] > 0.0f, parallel = along[k] == 0.0f;
		sl_f32 enter = (sl_select(forward, from, to) - at[k]) / along[k];
		sl_f32 leave = (sl_select(forward, to, from) - at[k]) / along[k];
		sl_mask later = (enter > first) & sl_not(parallel);
		sl_mask sooner = (leave < last) & sl_not(parallel);

		m.behind = m.behind & (at[k] > from) & (at[k] < to);
		passes = passes | (parallel & ((at[k] < from) | (at[k] > to)));
		in = sl_select_u32(later, k, in);
		first = sl_select(later, enter, first);
		out = sl_select_u32(sooner, k, out);
		last = sl_select(sooner, leave, last);
	}
	m.axis = sl_select_u32(m.behind, out, in);
	m.distance = sl_select(m.behind, last, sl_select(first <= last, first, -1.0f));
	m.distance = sl_select(passes, -1.0f, m.distance);
	return m;
}

/* The signed distance of p from a plane. */
SL_HD sl_f32 sl_rays_plane_height(const struct sl_rays_surface *s, const sl_lanes *p)
{
	return fmaf(p->x, s->a[0], fmaf(p->y, s->a[1], fmaf(p->z, s->a[2], -s->reach)));
}

SL_HD struct sl_rays_hit sl_rays_hit_plane(const struct sl_rays_surface *s, const sl_lanes *p)
{
	sl_f32 height = sl_rays_plane_height(s, p);
	sl_f32 rise = fmaf(p->u, s->a[0], fmaf(p->v, s->a[1], p->w * s->a[2]));
	sl_mask above;
	struct sl_rays_hit m;

	m.axis = sl_all_u32(0);
	m.behind = height < 0.0f;
	above = sl_not(m.behind);
	m.distance = sl_select(
		(m.behind & (rise > 0.0f)) | (above & (rise < 0.0f)), -height / rise, -1.0f);
	return m;
}

SL_HD struct sl_rays_hit sl_rays_hit_surface(const struct sl_rays_surface *s, const sl_lanes *p)
{
	if (s->shape == SL_RAYS_SPHERE)
		return sl_rays_hit_sphere(s, p);
	return s->shape == SL_RAYS_BOX ? sl_rays_hit_box(s, p) : sl_rays_hit_plane(s, p);
}

/* The index of the surface that p meets first, or the number of surfaces. Of two at the same
 * distance, the first of the list. */
SL_HD sl_u32 sl_rays_nearest_surface(
	const struct sl_rays *r, const sl_lanes *p, struct sl_rays_hit *nearest)
{
	sl_u32 found = sl_all_u32(r->surfaces);

	nearest->distance = sl_all(sl_float(SL_INFINITY_BITS));
	nearest->axis = sl_all_u32(0);
	nearest->behind = sl_all_mask(false);
	nearest->sides = sl_all_u32(0);
	for (uint32_t i = 0; i < r->surfaces; i++) {
		struct sl_rays_hit m = sl_rays_hit_surface(&r->surface[i], p);
		sl_mask nearer = (m.distance >= 0.0f) & (m.distance < nearest->distance);

		nearest->sides |= sl_one_if(m.behind) << i;
		if (sl_any(nearer)) {
			nearest->distance = sl_select(nearer, m.distance, nearest->distance);
			nearest->axis = sl_select_u32(nearer, m.axis, nearest->axis);
			nearest->behind = (nearer & m.behind) | (sl_not(nearer) & nearest->behind);
			found = sl_select_u32(nearer, i, found);
		}
	}
	return found;
}

/* --- positions after a hit -------------------------------------------------------------------- */

/* Moves p, which has hit a sphere, off the surface, and sets the normal that points to p. */
SL_HD void sl_rays_place_on_sphere(
	const struct sl_rays_surface *s, const struct sl_rays_hit *m, sl_lanes *p, sl_f32 normal[3])
{
	sl_f32 x = p->x - s->a[0], y = p->y - s->a[1], z = p->z - s->a[2];
	sl_f32 onto = 1.0f / sqrtf(fmaf(x, x, fmaf(y, y, z * z)));
	sl_f32 off = sl_select(m->behind, s->reach - s->skin, s->reach + s->skin);
	sl_f32 sign = sl_select(m->behind, -1.0f, 1.0f);

	x *= onto;
	y *= onto;
	z *= onto;
	p->x = fmaf(off, x, s->a[0]);
	p->y = fmaf(off, y, s->a[1]);
	p->z = fmaf(off, z, s->a[2]);
	normal[0] = sign * x;
	normal[1] = sign * y;
	normal[2] = sign * z;
}

/* One coordinate of p after the hit of a box: off the face, or, along the face, within it. */
SL_HD sl_f32 sl_rays_place_on_face(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	uint32_t k, sl_f32 at, sl_f32 cosine, sl_f32 *normal)
{
	sl_f32 skin = sl_select(m->behind, -s->skin, s->skin);
	sl_f32 from = s->a[k] - skin, to = s->b[k] + skin;
	sl_mask across = m->axis == k, forward = cosine > 0.0f;
	sl_mask upper = forward == m->behind; /* of the two faces */

	*normal = sl_select(across, sl_select(forward, -1.0f, 1.0f), 0.0f);
	at = sl_select(at > from, at, from);
	at = sl_select(at < to, at, to);
	return sl_select(across, sl_select(upper, to, from), at);
}

SL_HD void sl_rays_place_on_box(
	const struct sl_rays_surface *s, const struct sl_rays_hit *m, sl_lanes *p, sl_f32 normal[3])
{
	p->x = sl_rays_place_on_face(s, m, 0, p->x, p->u, &normal[0]);
	p->y = sl_rays_place_on_face(s, m, 1, p->y, p->v, &normal[1]);
	p->z = sl_rays_place_on_face(s, m, 2, p->z, p->w, &normal[2]);
}

/* A plane is unbounded, so the rounding error, and the offset, depend on the position. */
SL_HD void sl_rays_place_on_plane(
	const struct sl_rays_surface *s, const struct sl_rays_hit *m, sl_lanes *p, sl_f32 normal[3])
{
	sl_f32 far = fabsf(p->x) + fabsf(p->y) + fabsf(p->z) + fabsf(s->reach);
	sl_f32 sign = sl_select(m->behind, -1.0f, 1.0f);
	sl_f32 up = fmaf(sign, fmaf(far, 0x1p-20f, 0x1p-100f), -sl_rays_plane_height(s, p));

	p->x = fmaf(up, s->a[0], p->x);
	p->y = fmaf(up, s->a[1], p->y);
	p->z = fmaf(up, s->a[2], p->z);
	for (int k = 0; k < 3; k++)
		normal[k] = sign * s->a[k];
}

SL_HD void sl_rays_place_on_surface(
	const struct sl_rays_surface *s, const struct sl_rays_hit *m, sl_lanes *p, sl_f32 normal[3])
{
	if (s->shape == SL_RAYS_SPHERE)
		sl_rays_place_on_sphere(s, m, p, normal);
	else if (s->shape == SL_RAYS_BOX)
		sl_rays_place_on_box(s, m, p, normal);
	else
		sl_rays_place_on_plane(s, m, p, normal);
}

/* As the member behind of the hit of s. */
SL_HD sl_mask sl_rays_is_behind(const struct sl_rays_surface *s, const sl_lanes *p)
{
	sl_f32 x = p->x - s->a[0], y = p->y - s->a[1], z = p->z - s->a[2];

	if (s->shape == SL_RAYS_PLANE)
		return sl_rays_plane_height(s, p) < 0.0f;
	if (s->shape == SL_RAYS_SPHERE)
		return fmaf(x, x, fmaf(y, y, z * z)) < s->reach * s->reach;
	return (p->x > s->a[0]) & (p->x < s->b[0]) & (p->y > s->a[1]) & (p->y < s->b[1]) &
	       (p->z > s->a[2]) & (p->z < s->b[2]);
}

/* Whether p is on another side of any surface than the set of sides says. */
SL_HD sl_mask sl_rays_has_crossed(const struct sl_rays *r, sl_u32 sides, const sl_lanes *p)
{
	sl_u32 now = sl_all_u32(0);

	for (uint32_t i = 0; i < r->surfaces; i++)
		now |= sl_one_if(sl_rays_is_behind(&r->surface[i], p)) << i;
	return now != sides;
}

/* Moves p back along its flight, which began at start, to where it has crossed no surface. */
SL_HD void sl_rays_keep_sides(
	const struct sl_rays *r, const sl_lanes *start, sl_u32 sides, sl_lanes *p)
{
	sl_mask crossed = sl_rays_has_crossed(r, sides, p);
	const sl_f32 x = p->x, y = p->y, z = p->z;

	for (float back = 0x1p-22f; back <= 1 && sl_any(crossed); back *= 4) {
		const float on = 1 - back; /* 0 in the end: nothing is crossed at the start */

		p->x = sl_select(crossed, fmaf(back, start->x, on * x), p->x);
		p->y = sl_select(crossed, fmaf(back, start->y, on * y), p->y);
		p->z = sl_select(crossed, fmaf(back, start->z, on * z), p->z);
		crossed = sl_rays_has_crossed(r, sides, p);
	}
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Ends p: lit with the weight light, or, if light is 0, with the other fate. */
SL_HD void sl_rays_end(sl_lanes *p, float light, enum sl_fate otherwise)
{
	p->fate = sl_all_fate(light > 0.0f ? SL_FATE_lit : otherwise);
	p->weight = sl_all(light > 0.0f ? light : 1.0f);
}

/*
 * Reflects p at a mirror. The direction is normalised again, because the rounding errors of
 * hundreds of reflections would add up.
 */
SL_HD void sl_rays_mirror(sl_lanes *p, const sl_f32 n[3])
{
	sl_f32 twice = -2.0f * fmaf(p->u, n[0], fmaf(p->v, n[1], p->w * n[2]));

	sl_rays_aim(p, fmaf(twice, n[0], p->u), fmaf(twice, n[1], p->v), fmaf(twice, n[2], p->w));
}

/* Flies p to its hit of the surface s, where it is reflected or ends. */
SL_HD void sl_rays_meet_surface(const struct sl_rays *r, const struct sl_rays_surface *s,
	const struct sl_rays_hit *m, sl_lanes *p, const struct sl_words *random)
{
	sl_mask ends = sl_uniform(random->at[0]) <= s->absorb;
	sl_lanes q;
	sl_f32 n[3];

	sl_fly(p, m->distance, sl_all(r->slowness));
	sl_rays_place_on_surface(s, m, p, n);
	p->collisions += 1;
	q = *p;
	if (sl_any(ends))
		sl_rays_end(p, s->light, SL_FATE_absorbed);
	if (sl_any(sl_not(ends))) {
		if (s->finish == SL_RAYS_MIRROR)
			sl_rays_mirror(&q, n);
		else
			sl_lambertian(&q, n[0], n[1], n[2], random->at[1], random->at[2]);
		sl_assign_if(sl_not(ends), p, &q);
	}
}

/* One step of p, which is alive: a flight to the nearest surface, then its reflection or end. */
SL_HD void sl_rays_step(const struct sl_rays *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(1, p->steps));
	struct sl_rays_hit m;
	sl_u32 found = sl_rays_nearest_surface(r, p, &m);
	sl_mask left = found < r->surfaces, here;
	sl_lanes q;

	(void)wanted;
	p->steps += 1;
	q = *p;
	if (sl_any(sl_not(left)))
		sl_rays_end(p, r->sky, SL_FATE_escaped);
	while (sl_any(left)) { /* once for each surface that a lane meets */
		const uint32_t i = sl_first(left, found);
		sl_lanes met = q;

		here = left & (found == i);
		left = left & sl_not(here);
		sl_rays_meet_surface(r, &r->surface[i], &m, &met, &random);
		sl_assign_if(here, p, &met);
	}
	sl_rays_keep_sides(r, &q, m.sides, p);
	sl_end_after(p, r->max_steps);
}

SL_ADVANCE_BY_STEPS(rays)

#ifdef SL_MODEL_HOST
#include "stages/models/config/rays_config.h"
#endif
#endif
