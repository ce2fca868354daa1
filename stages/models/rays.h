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
 * mean weight of the rays of a pixel times scale is the radiance of the pixel (absorption estimator:
 * Spanier, Gelbard, Monte Carlo Principles and Neutron Transport Problems, 1969; Kajiya, The
 * rendering equation, SIGGRAPH 1986). scale is the largest such radiance of the scene, so that
 * weights are at most 1. All other rays keep weight 1. A ray that meets nothing is lit by the sky if
 * the sky has a radiance; otherwise its fate is escaped, with its last position and direction.
 *
 * With a camera, ray id belongs to pixel id modulo the number of pixels, row by row from the upper
 * left. With source: random, rays enter a sphere about all spheres and boxes as isotropic radiance
 * does, and there is one pixel.
 *
 * No ray meets a surface at the point where it has just left it, and none passes through one: after
 * a hit, the position is moved off the surface, to the side that the ray came from, by 2^-20 of the
 * size of the coordinates. That is at least sixteen floats, more than all rounding of the next
 * flight. Inside a sphere or a box the ray therefore always finds a wall.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 */
#ifndef SL_STAGES_MODELS_RAYS_H
#define SL_STAGES_MODELS_RAYS_H

#include "stages/models/flight.h"

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

enum sl_rays_source { SL_RAYS_FROM_CAMERA, SL_RAYS_AT_RANDOM };
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
};

/* --- starts ----------------------------------------------------------------------------------- */

/* Sets the direction of p to the unit vector along (a, b, c). */
SL_HD void sl_rays_aim(struct sl_particle *p, float a, float b, float c)
{
	float onto = 1.0f / sqrtf(fmaf(a, a, fmaf(b, b, c * c)));

	p->u = a * onto;
	p->v = b * onto;
	p->w = c * onto;
}

/* Starts p at the camera, through a random point of its pixel. */
SL_HD void sl_rays_start_at_camera(
	const struct sl_rays *r, struct sl_particle *p, const struct sl_words *random)
{
	float i = (float)(p->pixel % r->width) + sl_uniform(random->at[0]);
	float j = (float)(p->pixel / r->width) + sl_uniform(random->at[1]);

	p->x = r->eye[0];
	p->y = r->eye[1];
	p->z = r->eye[2];
	sl_rays_aim(p, fmaf(i, r->right[0], fmaf(j, r->down[0], r->corner[0])),
		fmaf(i, r->right[1], fmaf(j, r->down[1], r->corner[1])),
		fmaf(i, r->right[2], fmaf(j, r->down[2], r->corner[2])));
}

/* Starts p at a random point of the sphere about the scene, in a Lambertian direction about the
 * inward normal. */
SL_HD void sl_rays_start_around(
	const struct sl_rays *r, struct sl_particle *p, const struct sl_words *random)
{
	float cosine = fmaf(-2.0f, sl_uniform(random->at[2]), 1.0f), s, c;
	float sine = 2.0f * sqrtf(sl_uniform(random->at[2]) * sl_uniform(~random->at[2]));

	sl_sincospi(2.0f * sl_uniform(random->at[3]), &s, &c);
	p->x = fmaf(r->radius, sine * c, r->eye[0]);
	p->y = fmaf(r->radius, sine * s, r->eye[1]);
	p->z = fmaf(r->radius, cosine, r->eye[2]);
	sl_lambertian(p, -sine * c, -sine * s, -cosine, random->at[0], random->at[1]);
}

SL_HD struct sl_particle sl_rays_generate(
	const struct sl_rays *r, uint32_t wanted, uint64_t seed, uint64_t id)
{
	struct sl_words random = sl_draw(seed, id, 0);
	struct sl_particle p = {0};

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.weight = 1.0f;
	p.fate = SL_FATE_alive;
	p.pixel = (uint32_t)(id % ((uint64_t)r->width * r->height));
	if (r->source == SL_RAYS_FROM_CAMERA)
		sl_rays_start_at_camera(r, &p, &random);
	else
		sl_rays_start_around(r, &p, &random);
	return p;
}

/* --- flights ---------------------------------------------------------------------------------- */

/* Where a flight meets a surface. */
struct sl_rays_hit {
	float distance; /* negative: it does not */
	int axis;       /* of a box: the axis across which the face lies */
	bool behind;    /* the ray is inside a sphere or box, or on the back of a plane */
};

/* The hit of a sphere. A ray that starts inside always hits the far side, whatever the rounding. */
SL_HD struct sl_rays_hit sl_rays_hit_sphere(
	const struct sl_rays_surface *s, const struct sl_particle *p)
{
	float x = p->x - s->a[0], y = p->y - s->a[1], z = p->z - s->a[2];
	float along = -fmaf(x, p->u, fmaf(y, p->v, z * p->w)), inside, half;
	struct sl_rays_hit m = {-1.0f, 0, false};

	m.behind = fmaf(x, x, fmaf(y, y, z * z)) < s->reach * s->reach;
	x = fmaf(along, p->u, x);
	y = fmaf(along, p->v, y);
	z = fmaf(along, p->w, z);
	inside = fmaf(s->reach, s->reach, -fmaf(x, x, fmaf(y, y, z * z)));
	half = sqrtf(inside > 0.0f ? inside : 0.0f);
	if (m.behind)
		m.distance = along + half > 0.0f ? along + half : 0.0f;
	else if (inside >= 0.0f && along > 0.0f)
		m.distance = along - half > 0.0f ? along - half : 0.0f;
	return m;
}

/* The distances at which a flight enters and leaves the space between two parallel faces. */
SL_HD void sl_rays_hit_faces(
	float from, float to, float at, float cosine, float *enter, float *leave)
{
	*enter = ((cosine > 0.0f ? from : to) - at) / cosine;
	*leave = ((cosine > 0.0f ? to : from) - at) / cosine;
}

/* The hit of a box, by intersecting the intervals between its three pairs of faces. */
SL_HD struct sl_rays_hit sl_rays_hit_box(
	const struct sl_rays_surface *s, const struct sl_particle *p)
{
	const float at[3] = {p->x, p->y, p->z}, along[3] = {p->u, p->v, p->w};
	float first = -1.0f, last = sl_float(SL_INFINITY_BITS), enter, leave;
	struct sl_rays_hit m = {-1.0f, 0, true};
	int in = 0, out = 0;

	for (int k = 0; k < 3; k++)
		m.behind = m.behind && at[k] > s->a[k] && at[k] < s->b[k];
	for (int k = 0; k < 3; k++) {
		if (along[k] ==
			0.0f) { /* parallel to these faces: outside of them, or always between */
			if (at[k] < s->a[k] || at[k] > s->b[k])
				return m;
			continue;
		}
		sl_rays_hit_faces(s->a[k], s->b[k], at[k], along[k], &enter, &leave);
		in = enter > first ? k : in;
		first = enter > first ? enter : first;
		out = leave < last ? k : out;
		last = leave < last ? leave : last;
	}
	m.axis = m.behind ? out : in;
	if (m.behind)
		m.distance = last;
	else if (first <= last)
		m.distance = first;
	return m;
}

/* The signed distance of p from a plane. */
SL_HD float sl_rays_plane_height(const struct sl_rays_surface *s, const struct sl_particle *p)
{
	return fmaf(p->x, s->a[0], fmaf(p->y, s->a[1], fmaf(p->z, s->a[2], -s->reach)));
}

SL_HD struct sl_rays_hit sl_rays_hit_plane(
	const struct sl_rays_surface *s, const struct sl_particle *p)
{
	float height = sl_rays_plane_height(s, p);
	float rise = fmaf(p->u, s->a[0], fmaf(p->v, s->a[1], p->w * s->a[2]));
	struct sl_rays_hit m = {-1.0f, 0, false};

	m.behind = height < 0.0f;
	if (m.behind ? rise > 0.0f : rise < 0.0f)
		m.distance = -height / rise;
	return m;
}

SL_HD struct sl_rays_hit sl_rays_hit_surface(
	const struct sl_rays_surface *s, const struct sl_particle *p)
{
	if (s->shape == SL_RAYS_SPHERE)
		return sl_rays_hit_sphere(s, p);
	return s->shape == SL_RAYS_BOX ? sl_rays_hit_box(s, p) : sl_rays_hit_plane(s, p);
}

/* The index of the surface that p meets first, or -1. Of two at the same distance, the first of the
 * list. */
SL_HD int sl_rays_nearest_surface(
	const struct sl_rays *r, const struct sl_particle *p, struct sl_rays_hit *nearest)
{
	const struct sl_rays_hit none = {sl_float(SL_INFINITY_BITS), 0, false};
	int found = -1;

	*nearest = none;
	for (uint32_t i = 0; i < r->surfaces; i++) {
		struct sl_rays_hit m = sl_rays_hit_surface(&r->surface[i], p);

		if (m.distance >= 0.0f && m.distance < nearest->distance) {
			*nearest = m;
			found = (int)i;
		}
	}
	return found;
}

/* --- positions after a hit -------------------------------------------------------------------- */

/* Moves p, which has hit a sphere, off the surface, and sets the normal that points to p. */
SL_HD void sl_rays_place_on_sphere(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	struct sl_particle *p, float normal[3])
{
	float x = p->x - s->a[0], y = p->y - s->a[1], z = p->z - s->a[2];
	float onto = 1.0f / sqrtf(fmaf(x, x, fmaf(y, y, z * z)));
	float off = m->behind ? s->reach - s->skin : s->reach + s->skin;
	float sign = m->behind ? -1.0f : 1.0f;

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
SL_HD float sl_rays_place_on_face(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	int k, float at, float cosine, float *normal)
{
	float skin = m->behind ? -s->skin : s->skin;
	float from = s->a[k] - skin, to = s->b[k] + skin;
	bool upper = (cosine > 0.0f) == m->behind; /* of the two faces */

	*normal = 0.0f;
	if (k == m->axis) {
		*normal = cosine > 0.0f ? -1.0f : 1.0f;
		return upper ? to : from;
	}
	at = at > from ? at : from;
	return at < to ? at : to;
}

SL_HD void sl_rays_place_on_box(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	struct sl_particle *p, float normal[3])
{
	p->x = sl_rays_place_on_face(s, m, 0, p->x, p->u, &normal[0]);
	p->y = sl_rays_place_on_face(s, m, 1, p->y, p->v, &normal[1]);
	p->z = sl_rays_place_on_face(s, m, 2, p->z, p->w, &normal[2]);
}

/* A plane is unbounded, so the rounding error, and the offset, depend on the position. */
SL_HD void sl_rays_place_on_plane(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	struct sl_particle *p, float normal[3])
{
	float far = fabsf(p->x) + fabsf(p->y) + fabsf(p->z) + fabsf(s->reach);
	float sign = m->behind ? -1.0f : 1.0f;
	float up = fmaf(sign, fmaf(far, 0x1p-20f, 0x1p-100f), -sl_rays_plane_height(s, p));

	p->x = fmaf(up, s->a[0], p->x);
	p->y = fmaf(up, s->a[1], p->y);
	p->z = fmaf(up, s->a[2], p->z);
	for (int k = 0; k < 3; k++)
		normal[k] = sign * s->a[k];
}

SL_HD void sl_rays_place_on_surface(const struct sl_rays_surface *s, const struct sl_rays_hit *m,
	struct sl_particle *p, float normal[3])
{
	if (s->shape == SL_RAYS_SPHERE)
		sl_rays_place_on_sphere(s, m, p, normal);
	else if (s->shape == SL_RAYS_BOX)
		sl_rays_place_on_box(s, m, p, normal);
	else
		sl_rays_place_on_plane(s, m, p, normal);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Ends p: lit with the weight light, or, if light is 0, with the other fate. */
SL_HD void sl_rays_end(struct sl_particle *p, float light, enum sl_fate otherwise)
{
	p->fate = (uint8_t)(light > 0.0f ? SL_FATE_lit : otherwise);
	p->weight = light > 0.0f ? light : 1.0f;
}

/* Reflects p at a mirror. The direction is normalised again, because the rounding errors of hundreds
 * of reflections would add up. */
SL_HD void sl_rays_mirror(struct sl_particle *p, const float n[3])
{
	float twice = -2.0f * fmaf(p->u, n[0], fmaf(p->v, n[1], p->w * n[2]));

	sl_rays_aim(p, fmaf(twice, n[0], p->u), fmaf(twice, n[1], p->v), fmaf(twice, n[2], p->w));
}

/* One step: a flight to the nearest surface, then its reflection or end. */
SL_HD void sl_rays_step(const struct sl_rays *r, uint64_t seed, struct sl_particle *p)
{
	struct sl_words random = sl_draw(seed, p->id, 1 + (uint64_t)p->steps);
	struct sl_rays_hit m;
	int i = sl_rays_nearest_surface(r, p, &m);
	const struct sl_rays_surface *s;
	float n[3];

	p->steps++;
	if (i < 0) {
		sl_rays_end(p, r->sky, SL_FATE_escaped);
		return;
	}
	s = &r->surface[i];
	sl_fly(p, m.distance, r->slowness);
	sl_rays_place_on_surface(s, &m, p, n);
	p->collisions++;
	if (sl_uniform(random.at[0]) <= s->absorb)
		sl_rays_end(p, s->light, SL_FATE_absorbed);
	else if (s->finish == SL_RAYS_MIRROR)
		sl_rays_mirror(p, n);
	else
		sl_lambertian(p, n[0], n[1], n[2], random.at[1], random.at[2]);
}

/* Advances p by at most n steps. */
SL_HD void sl_rays_advance(
	const struct sl_rays *r, uint32_t wanted, uint64_t seed, struct sl_particle *p, uint32_t n)
{
	(void)wanted;
	while (n-- > 0 && p->fate == SL_FATE_alive) {
		sl_rays_step(r, seed, p);
		if (p->fate == SL_FATE_alive && p->steps >= r->max_steps)
			p->fate = SL_FATE_max_steps;
	}
}

#ifdef SL_MODEL_HOST
#include "stages/models/rays_config.h"
#endif
#endif
