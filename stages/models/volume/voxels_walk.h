/*
 * voxels_walk.h - the parameters and the volume of the model voxels, and the walk of a flight from
 * voxel to voxel (voxels.h describes both).
 */
#ifndef SL_STAGES_MODELS_VOLUME_VOXELS_WALK_H
#define SL_STAGES_MODELS_VOLUME_VOXELS_WALK_H

#include "stages/models/common/absorption.h"
#include "stages/models/common/list_source.h"

#define SL_COLUMNS_voxels                                                                         \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) |     \
		SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

/* The columns that a step changes, without the number of steps. */
#define SL_VOXELS_MOVED (SL_COLUMNS_voxels & ~(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_steps)))

#define SL_FATES_voxels                                                          \
	(SL_FATE_BIT(SL_FATE_escaped) | SL_FATE_BIT(SL_FATE_absorbed) |          \
		SL_FATE_BIT(SL_FATE_max_steps) | SL_FATE_BIT(SL_FATE_roulette) | \
		SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_specular) |       \
		SL_FATE_BIT(SL_FATE_missed) | SL_FATE_BIT(SL_FATE_max_time))

/* A history has dozens of flights, so a survivor is stored, not computed again. */
#define SL_RECOMPUTED_voxels false
#define SL_WEIGHTED_voxels   true

enum sl_voxels_source {
	SL_VOXELS_PENCIL,
	SL_VOXELS_GAUSSIAN,
	SL_VOXELS_DISK,
	SL_VOXELS_FIBRE,
	SL_VOXELS_ISOTROPIC,
	SL_VOXELS_CONE,
	SL_VOXELS_PLANAR,
	SL_VOXELS_LINE,
	SL_VOXELS_SLIT,
	SL_VOXELS_PATTERN
};

enum {
	SL_VOXELS_SIZE_MAX = 1024, /* voxels along an axis: a number of 10 bits */
	SL_VOXELS_MEDIA = 256,     /* labels, 0 included */
	SL_VOXELS_DETECTORS_MAX = 32
};
#define SL_VOXELS_CLEAR_PATH 1e30f /* cm: the mean free path of a clear medium */

/* 32 bytes, which a thread of a device reads at once. */
struct sl_voxels_medium {
	float mean_free_path, mu_t; /* cm, 1/cm: each other's inverse */
	float absorb, keep;         /* as of a layer of slab.h */
	float g, g_plus_1_squared_2;
	float n, slowness; /* n/c, ns/cm */
};

struct sl_voxels_detector {
	float x, y, z, radius2;
};

/*
 * The data of the rules: struct sl_voxels_medium[SL_VOXELS_MEDIA], by label, then a label of 8 bits
 * for each voxel, x first, of the volume with a layer of voxels of label 0 around it. The chances of
 * a pattern follow: of its rows, up to each of them, and then of the pixels of each row, in 2^-31.
 */
struct sl_voxels {
	struct sl_rules_data data;
	uint32_t row, plane;          /* labels from a voxel to the next one in y, in z */
	float nx, ny, nz;             /* voxels along each axis */
	float dx, dy, dz;             /* the edges of a voxel, cm */
	float per_dx, per_dy, per_dz; /* about 1/dx, ... */
	struct sl_roulette roulette;
	int source;                               /* enum sl_voxels_source */
	float position_x, position_y, position_z; /* cm */
	float direction_x, direction_y, direction_z;
	float size;   /* of a source: radius, or standard deviation, cm */
	float spread; /* fibre: squared sine of the half angle; cone: 1 - its cosine */
	float side_x[2], side_y[2], side_z[2]; /* the sides of a planar source, line or slit, cm */
	uint64_t pattern;                      /* where its chances are in the data */
	uint32_t rows, columns;                /* pixels along its sides */
	uint32_t detectors;
	struct sl_voxels_detector detector[SL_VOXELS_DETECTORS_MAX];
	float longest;  /* mean free path of a medium that is not clear, cm; 0: none */
	float max_time; /* ns; infinite: none */
	uint32_t max_steps;
};

/* --- the volume ------------------------------------------------------------------------------- */

#define SL_VOXELS_OF(r, label, name) \
	SL_MEMBER((const struct sl_voxels_medium *)(r)->data.at, label, name)

/* The number of a voxel in a word: 10 bits of x, y and z. */
SL_HD sl_u32 sl_voxels_pack(sl_f32 x, sl_f32 y, sl_f32 z)
{
	return sl_u32_of(x) | sl_u32_of(y) << 10 | sl_u32_of(z) << 20;
}

/* The place of the label of a voxel. */
SL_HD sl_u32 sl_voxels_place(const struct sl_voxels *r, sl_u32 voxel)
{
	return ((voxel & 1023u) + 1u) + ((voxel >> 10 & 1023u) + 1u) * r->row +
	       ((voxel >> 20) + 1u) * r->plane;
}

SL_HD sl_u32 sl_voxels_label(const struct sl_voxels *r, sl_u32 place)
{
	return SL_BYTE(
		(const uint8_t *)r->data.at + SL_VOXELS_MEDIA * sizeof(struct sl_voxels_medium),
		place);
}

/* The voxel of a coordinate on an axis of n voxels; along: it is flown in rising direction, or not
 * at all. The estimate is off by one at most, and faces decide. */
SL_HD sl_f32 sl_voxels_find(sl_f32 at, sl_f32 along, float n, float edge, float per_edge)
{
	sl_f32 i = at * per_edge;

	i = sl_select(i > 0.0f, i, 0.0f);
	i = sl_f32_of(sl_u32_of(sl_select(i < n - 1.0f, i, n - 1.0f)));
	i = sl_select((at >= (i + 1.0f) * edge) & (i < n - 1.0f), i + 1.0f, i);
	i = sl_select((at < i * edge) & (i > 0.0f), i - 1.0f, i);
	return sl_select((at == i * edge) & (along < 0.0f) & (i > 0.0f), i - 1.0f, i);
}

/* The voxel of p. */
SL_HD_PART sl_u32 sl_voxels_medium_at(const struct sl_voxels *r, uint32_t most, const sl_lanes *p)
{
	(void)most;
	return sl_voxels_pack(sl_voxels_find(p->x, p->u, r->nx, r->dx, r->per_dx),
		sl_voxels_find(p->y, p->v, r->ny, r->dy, r->per_dy),
		sl_voxels_find(p->z, p->w, r->nz, r->dz, r->per_dz));
}

/* --- the walk --------------------------------------------------------------------------------- */

/* A flight along one axis. */
struct sl_voxels_axis {
	sl_f32 way;     /* 1 or -1, the direction of the flight */
	sl_f32 face;    /* the number of the face ahead */
	sl_f32 inverse; /* 1/direction */
	sl_f32 at;      /* the distance to that face from the start, cm */
	sl_u32 places;  /* labels from a voxel to the next one, modulo 2^32 */
};

struct sl_voxels_walk {
	struct sl_voxels_axis x, y, z;
	sl_u32 place, label; /* of the voxel */
	sl_f32 length;       /* of the flight to the next collision in this medium, cm */
	sl_f32 latest;       /* the most that the flight may be */
	sl_f32 stopped;      /* where the walk has stopped at a face */
	sl_mask stops;       /* ... if it has, */
	sl_mask at_x, at_y;  /* and the axis of that face; else it is z */
};

/* voxel: the number of the voxel on the axis. Adding 0 makes 0 of -0. */
SL_HD struct sl_voxels_axis sl_voxels_axis_of(
	sl_f32 start, sl_f32 direction, sl_f32 voxel, float edge, uint32_t places)
{
	struct sl_voxels_axis a;
	sl_mask down = direction < 0.0f;

	a.way = sl_select(down, -1.0f, 1.0f);
	a.face = sl_select(down, voxel, voxel + 1.0f);
	a.inverse = 1.0f / (direction + 0.0f);
	a.at = (a.face * edge - start) * a.inverse;
	a.places = sl_select_u32(down, 0u - places, places);
	return a;
}

/* The walk of p from a voxel on. */
SL_HD_PART struct sl_voxels_walk sl_voxels_begin(
	const struct sl_voxels *r, const sl_lanes *p, sl_u32 voxel)
{
	struct sl_voxels_walk w;

	w.x = sl_voxels_axis_of(p->x, p->u, sl_f32_of(voxel & 1023u), r->dx, 1);
	w.y = sl_voxels_axis_of(p->y, p->v, sl_f32_of(voxel >> 10 & 1023u), r->dy, r->row);
	w.z = sl_voxels_axis_of(p->z, p->w, sl_f32_of(voxel >> 20), r->dz, r->plane);
	w.place = sl_voxels_place(r, voxel);
	w.label = sl_voxels_label(r, w.place);
	w.stops = w.at_x = w.at_y = sl_all_mask(false);
	w.stopped = sl_all(0.0f);
	return w;
}

/* What flights add up by region, for the model voxels_paths (voxels_paths.h). */
struct sl_voxels_sums {
	const uint8_t *region, *same; /* of each label: its region; the least label of its medium */
	sl_f32 since;                 /* where the walk has come to its label */
	sl_f32 path_1, path_2, path_3;
	sl_u32 region_at_end;
};

/* Adds the path of the walk in its label, up to the distance at. */
SL_HD_PART void sl_voxels_add_path(
	struct sl_voxels_sums *s, const struct sl_voxels_walk *w, sl_mask m, sl_f32 at)
{
	sl_u32 region = SL_BYTE(s->region, w->label);
	sl_f32 path = sl_select(m, at - s->since, 0.0f);

	s->path_1 += sl_select(region == 1, path, 0.0f);
	s->path_2 += sl_select(region == 2, path, 0.0f);
	s->path_3 += sl_select(region == 3, path, 0.0f);
	s->since = sl_select(m, at, s->since);
	s->region_at_end = region;
}

/* Crosses the face ahead on an axis in the lanes of m. */
SL_HD_PART void sl_voxels_cross(
	sl_mask m, sl_f32 start, float edge, struct sl_voxels_axis *a, sl_u32 *place)
{
	sl_f32 face = a->face + a->way;

	*place = sl_select_u32(m, *place + a->places, *place);
	a->face = sl_select(m, face, a->face);
	a->at = sl_select(m, (face * edge - start) * a->inverse, a->at);
}

/*
 * The lanes of changes have come to another label at the distance at. Those whose index of
 * refraction stays go on with the optical length that is left; the others stop. Nothing goes on
 * from the outside or to it. sums: NULL, a constant of the caller, or what the flight adds up; then
 * labels of equal media are not one, and the length is only computed again for another medium.
 */
SL_HD_PART void sl_voxels_change(const struct sl_voxels *r, struct sl_voxels_walk *w,
	sl_mask changes, sl_u32 next, sl_f32 at, struct sl_voxels_sums *sums)
{
	sl_mask on = changes & (next != 0) & (w->label != 0) &
	             (SL_VOXELS_OF(r, next, n) == SL_VOXELS_OF(r, w->label, n));
	sl_f32 left = (w->length - at) * SL_VOXELS_OF(r, w->label, mu_t);
	sl_mask other = on;

	if (sums) {
		other = on & (SL_BYTE(sums->same, next) != SL_BYTE(sums->same, w->label));
		sl_voxels_add_path(sums, w, on, at);
	}
	w->length =
		sl_select(other, fmaf(left, SL_VOXELS_OF(r, next, mean_free_path), at), w->length);
	w->label = sl_select_u32(on, next, w->label);
	w->stops = w->stops | (changes & sl_not(on));
	w->stopped = sl_select(changes & sl_not(on), at, w->stopped);
}

/*
 * Walks from voxel to voxel in the lanes of walks, until the flights end or stop at a face. The
 * threads of a warp cross faces of different axes, so a device computes all three and selects.
 */
SL_HD_PART void sl_voxels_go(const struct sl_voxels *r, const sl_lanes *p, struct sl_voxels_walk *w,
	sl_mask walks, struct sl_voxels_sums *sums)
{
	enum { ONE_LANE = SL_SIMD_LANES == 1 };

	for (;;) {
		sl_f32 at = sl_select(w->x.at <= w->y.at, w->x.at, w->y.at);
		sl_mask x = (w->x.at <= w->y.at) & (w->x.at <= w->z.at), y, z, changes;
		sl_f32 end = sl_select(w->length < w->latest, w->length, w->latest);
		sl_u32 next;

		at = sl_select(at <= w->z.at, at, w->z.at);
		walks = walks & (at < end);
		if (!sl_any(walks))
			return;
		y = walks & sl_not(x) & (w->y.at <= w->z.at);
		x = walks & x;
		z = walks & sl_not(x | y);
		if (ONE_LANE || sl_any(x))
			sl_voxels_cross(x, p->x, r->dx, &w->x, &w->place);
		if (ONE_LANE || sl_any(y))
			sl_voxels_cross(y, p->y, r->dy, &w->y, &w->place);
		if (ONE_LANE || sl_any(z))
			sl_voxels_cross(z, p->z, r->dz, &w->z, &w->place);
		next = sl_voxels_label(r, w->place);
		changes = walks & (next != w->label);
		if (sl_any(changes)) {
			sl_voxels_change(r, w, changes, next, at, sums);
			w->at_x = w->at_x | (w->stops & x);
			w->at_y = w->at_y | (w->stops & y);
			walks = walks & sl_not(w->stops);
		}
	}
}

/* The coordinate at the end of a flight: inside the voxel, or on the face at which it stops. */
SL_HD sl_f32 sl_voxels_end(const struct sl_voxels_axis *a, float edge, sl_mask on_face, sl_f32 at)
{
	sl_f32 up = sl_select(a->way > 0.0f, a->face, a->face + 1.0f);
	sl_f32 low = sl_float(sl_bits((up - 1.0f) * edge) + 1u);
	sl_f32 high = sl_float(sl_bits(up * edge) - 1u);

	at = sl_select(at < low, low, sl_select(at > high, high, at));
	return sl_select(on_face, (a->face - a->way) * edge, at);
}

/* Flies p by a length to the end of its walk, in a medium of this slowness. */
SL_HD_PART void sl_voxels_fly(const struct sl_voxels *r, const struct sl_voxels_walk *w,
	sl_lanes *p, sl_f32 length, sl_f32 slowness)
{
	sl_fly(p, length, slowness);
	p->x = sl_voxels_end(&w->x, r->dx, w->stops & w->at_x, p->x);
	p->y = sl_voxels_end(&w->y, r->dy, w->stops & w->at_y, p->y);
	p->z = sl_voxels_end(&w->z, r->dz, w->stops & sl_not(w->at_x) & sl_not(w->at_y), p->z);
}

/* The number of the voxel on an axis; back: the one before the last face. */
SL_HD sl_f32 sl_voxels_number(const struct sl_voxels_axis *a, sl_mask back)
{
	sl_f32 i = sl_select(a->way > 0.0f, a->face - 1.0f, a->face);

	return sl_select(back, i - a->way, i);
}

/* The voxel at the end of a walk; back: the one before its last face, because p is reflected. */
SL_HD_PART sl_u32 sl_voxels_of_walk(const struct sl_voxels_walk *w, sl_mask back)
{
	return sl_voxels_pack(sl_voxels_number(&w->x, back & w->at_x),
		sl_voxels_number(&w->y, back & w->at_y),
		sl_voxels_number(&w->z, back & sl_not(w->at_x) & sl_not(w->at_y)));
}

/*
 * Reflects p, which has come to the face at which its walk stopped, or refracts it from index n to
 * m. Returns whether it passes.
 */
SL_HD_PART sl_mask sl_voxels_refract(
	const struct sl_voxels_walk *w, sl_lanes *p, sl_f32 n, sl_f32 m, sl_f32 uniform)
{
	sl_f32 along = sl_select(w->at_x, p->u, sl_select(w->at_y, p->v, p->w)), beyond,
	       ratio = n / m;
	sl_mask passes = sl_not(uniform <= sl_fresnel(n, m, fabsf(along), &beyond));
	sl_lanes q = *p;

	beyond = sl_select(along < 0.0f, -beyond, beyond);
	sl_set_direction(&q, sl_select(w->at_x, beyond, ratio * p->u),
		sl_select(w->at_y, beyond, ratio * p->v),
		sl_select(w->at_x | w->at_y, ratio * p->w, beyond));
	p->u = sl_select(w->at_x, -p->u, p->u);
	p->v = sl_select(w->at_y, -p->v, p->v);
	p->w = sl_select(w->at_x | w->at_y, p->w, -p->w);
	sl_assign_some_if(
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w), passes, p, &q);
	return passes;
}

#endif
