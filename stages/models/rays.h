/*
 * rays.h - rays traced backwards, from a camera or from all around, through a scene of surfaces.
 *
 * The scene is of spheres, boxes along the axes and planes, each diffuse or a mirror, each with a
 * reflectance and with an emission: the radiance that it sends out evenly, on both sides. A ray
 * goes against the light: what it would meet is what its pixel sees. Each step is one flight to the
 * nearest surface. There the ray is reflected with probability reflectance, a diffuse surface sends
 * it into a Lambertian direction about its normal, or it ends. It is lit if the surface emits, and
 * its weight is then emission / (1 - reflectance) / scale: the mean over the rays of a pixel, times
 * scale, is the radiance there (the absorption estimator: Spanier, Gelbard, Monte Carlo Principles
 * and Neutron Transport Problems, 1969; Kajiya, The rendering equation, SIGGRAPH 1986). scale is
 * the largest such radiance of the scene, so that weights are at most 1. All other rays keep their
 * weight of 1. What meets nothing is lit by the sky, if that has a radiance, or has escaped, with
 * its last place and direction.
 *
 * Rays of a camera go through its pixels in turn: that of a ray is id modulo their number, row by
 * row from the upper left. source: random has rays enter a sphere about all spheres and boxes, as
 * isotropic radiance does, and one pixel.
 *
 * No ray meets a surface where it has just left it, nor goes through one: whatever rounding does to
 * a place, it is then put beside its surface, on the side that the ray came from, at a distance of
 * 2^-20 of the coordinates there: sixteen floats or more, above all rounding of the next flight.
 * Inside of a sphere or a box there is always a place where the ray comes to its wall.
 *
 * Steps draw one Philox block each: block 0 is the start, block 1 + steps the next flight's end.
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

/* A history is several flights past all surfaces. */
#define SL_REMADE_rays   false
#define SL_WEIGHTED_rays true

enum sl_rays_source { SL_RAYS_FROM_CAMERA, SL_RAYS_AT_RANDOM };
enum sl_rays_shape { SL_RAYS_SPHERE, SL_RAYS_BOX, SL_RAYS_PLANE };
enum sl_rays_finish { SL_RAYS_DIFFUSE, SL_RAYS_MIRROR };

enum { SL_RAYS_SURFACES_MAX = 32 };

struct sl_rays_surface {
	int shape, finish; /* enums above */
	float a[3];        /* centre of a sphere, from of a box, normal of a plane; cm */
	float b[3];        /* to of a box, cm */
	float reach;       /* radius of a sphere; the normal's part of a point of a plane; cm */
	float skin;        /* how far from it rays go on, cm; of a plane it depends on the place */
	float absorb;      /* 1 - reflectance */
	float light;       /* the weight of what ends here; 0: it does not emit */
};

struct sl_rays {
	int source;      /* enum sl_rays_source */
	float eye[3];    /* the camera, or the middle of all spheres and boxes, cm */
	float radius;    /* of the sphere that random rays enter, cm */
	float corner[3]; /* from the eye to the upper left of the picture, at any distance */
	float right[3];  /* from there to the next pixel */
	float down[3];   /* and to the next row */
	float sky;       /* the weight of what meets nothing; 0: it is dark */
	float slowness;  /* 1/speed, ns/cm */
	uint32_t width, height;
	uint32_t max_steps;
	uint32_t surfaces;
	struct sl_rays_surface surface[SL_RAYS_SURFACES_MAX];
	double scale; /* the radiance that a weight of 1 stands for; the host's */
};

/* --- starts ----------------------------------------------------------------------------------- */

/* Makes the direction of p a unit vector along (a, b, c). */
SL_HD void sl_rays_aim(struct sl_particle *p, float a, float b, float c)
{
	float onto = 1.0f / sqrtf(fmaf(a, a, fmaf(b, b, c * c)));

	p->u = a * onto;
	p->v = b * onto;
	p->w = c * onto;
}

/* Through a place anywhere in the pixel of p. */
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

/* Into the sphere about the scene, anywhere, in a Lambertian direction about its normal. */
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

	(void)wanted; /* all is of use on the way */
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
	float distance; /* negative: nowhere */
	int axis;       /* of a box: across which its face is */
	bool behind; /* inside of a sphere or box, on the side of a plane that its normal leaves */
};

/* The distance to a sphere: from inside to its far side, whatever rounding says. */
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

/* The distances at which a flight comes between two faces of a box and leaves. */
SL_HD void sl_rays_hit_faces(
	float from, float to, float at, float cosine, float *enter, float *leave)
{
	*enter = ((cosine > 0.0f ? from : to) - at) / cosine;
	*leave = ((cosine > 0.0f ? to : from) - at) / cosine;
}

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
		if (along[k] == 0.0f) { /* beside these faces, or between them all the way */
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

/* The height of p over a plane. */
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

/* The surface that p comes to first, of two at one place the first in the list; -1: none. */
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

/* --- landings --------------------------------------------------------------------------------- */

/* Puts p, which has come to a sphere, beside it, with the normal towards p. */
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

/* One coordinate of p on a box: across the face that was met, or along it, where it stays. */
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

/* Planes have no end, so what rounding may do depends on the place. */
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

/* Where p ends: at a light of that weight, unless it is 0. */
SL_HD void sl_rays_end(struct sl_particle *p, float light, enum sl_fate otherwise)
{
	p->fate = (uint8_t)(light > 0.0f ? SL_FATE_lit : otherwise);
	p->weight = light > 0.0f ? light : 1.0f;
}

/* Makes a unit vector of the direction again: hundreds of mirrors would add up what they round. */
SL_HD void sl_rays_mirror(struct sl_particle *p, const float n[3])
{
	float twice = -2.0f * fmaf(p->u, n[0], fmaf(p->v, n[1], p->w * n[2]));

	sl_rays_aim(p, fmaf(twice, n[0], p->u), fmaf(twice, n[1], p->v), fmaf(twice, n[2], p->w));
}

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

/* At most n steps. */
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
