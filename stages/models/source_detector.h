/*
 * source_detector.h - straight flight from a source past an optional stop to a detector.
 *
 * The source is at the origin; the axis is +z. A single step decides: the particle is blocked by
 * the stop, hits the detector, or misses it. Nothing scatters. Philox block 0 gives the start,
 * block 1 the energy.
 */
#ifndef SL_STAGES_MODELS_SOURCE_DETECTOR_H
#define SL_STAGES_MODELS_SOURCE_DETECTOR_H

#include "stages/models/common/flight.h"

#define SL_COLUMNS_source_detector                                                                \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_energy) | SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) |    \
		SL_BIT(SL_COLUMN_pixel) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_source_detector \
	(SL_FATE_BIT(SL_FATE_hit) | SL_FATE_BIT(SL_FATE_missed) | SL_FATE_BIT(SL_FATE_blocked))

/* A particle has one step, so survivors are computed again, not stored. */
#define SL_RECOMPUTED_source_detector true
#define SL_WEIGHTED_source_detector   false

enum sl_source_type { SL_SOURCE_POINT, SL_SOURCE_DISK, SL_SOURCE_BEAM, SL_SOURCE_SPHERE };
enum sl_detector_type { SL_DETECTOR_SPHERE, SL_DETECTOR_DISK, SL_DETECTOR_RECTANGLE };
enum sl_stop_type { SL_STOP_NONE, SL_STOP_DISK, SL_STOP_APERTURE };
enum sl_spectrum_type { SL_SPECTRUM_FIXED, SL_SPECTRUM_LINES, SL_SPECTRUM_EXPONENTIAL };

enum { SL_SPECTRUM_LINES_MAX = 32 };

struct sl_source_detector {
	int source, detector, stop, spectrum; /* enums above */
	float source_radius;                  /* cm */
	float sigma;                          /* of the beam's profile, cm; 0: a pencil beam */
	float cone;                           /* 1 - cos(half angle) of a point source */
	float distance; /* of the detector's plane, or centre, from the origin, cm */
	float radius, half_width, half_height; /* of the detector, cm */
	float pixels_per_x, pixels_per_y;      /* pixels per cm */
	uint32_t pixels_x, pixels_y;
	float stop_distance, stop_radius; /* cm */
	float slowness;                   /* 1/speed, ns/cm */
	float energy;                     /* the fixed energy, or the mean, keV */
	uint32_t n_lines;
	float line[SL_SPECTRUM_LINES_MAX]; /* keV */
	float cumulative
		[SL_SPECTRUM_LINES_MAX]; /* share of the lines up to this one; the last is 1 */
};

/* Sets the position and direction in which p starts. */
SL_HD void sl_source_detector_start(
	const struct sl_source_detector *r, sl_lanes *p, struct sl_words random)
{
	sl_f32 radius, sine, cosine, s, c;

	if (r->source == SL_SOURCE_POINT) {
		sl_f32 u = sl_uniform(random.at[0]);

		cosine = fmaf(-u, r->cone, 1.0f);
		sine = sqrtf(u * r->cone * fmaf(-u, r->cone, 2.0f));
		sl_sincospi(2.0f * sl_uniform(random.at[1]), &s, &c);
		p->u = sine * c;
		p->v = sine * s;
		p->w = cosine;
		return;
	}
	sl_sincospi(2.0f * sl_uniform(random.at[3]), &s, &c);
	if (r->source == SL_SOURCE_SPHERE) {
		cosine = fmaf(-2.0f, sl_uniform(random.at[2]), 1.0f);
		sine = 2.0f * sqrtf(sl_uniform(random.at[2]) * sl_uniform(~random.at[2]));
		p->x = r->source_radius * (sine * c);
		p->y = r->source_radius * (sine * s);
		p->z = r->source_radius * cosine;
		sl_lambertian(p, sine * c, sine * s, cosine, random.at[0], random.at[1]);
		return;
	}
	if (r->source == SL_SOURCE_DISK) {
		radius = r->source_radius * sqrtf(sl_uniform(random.at[2]));
		sl_lambertian(
			p, sl_all(0.0f), sl_all(0.0f), sl_all(1.0f), random.at[0], random.at[1]);
	} else { /* a beam: normally distributed in x and y (Box and Muller, 1958) */
		radius = r->sigma * sqrtf(-2.0f * sl_log(sl_uniform(random.at[2])));
		p->w = sl_all(1.0f);
	}
	p->x = radius * c;
	p->y = radius * s;
}

SL_HD sl_f32 sl_source_detector_energy(const struct sl_source_detector *r, uint64_t seed, sl_u64 id)
{
	sl_u32 line = sl_all_u32(0);
	sl_f32 uniform;

	if (r->spectrum == SL_SPECTRUM_FIXED)
		return sl_all(r->energy);
	uniform = sl_uniform(sl_draw(seed, id, sl_all_u64(1)).at[0]);
	if (r->spectrum == SL_SPECTRUM_EXPONENTIAL)
		return -r->energy * sl_log(uniform);
	for (uint32_t i = 0; i + 1 < r->n_lines; i++)
		line += sl_one_if(uniform > r->cumulative[i]);
	return SL_ITEM(r->line, line);
}

SL_HD sl_lanes sl_source_detector_generate(
	const struct sl_source_detector *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	sl_lanes p = {0};

	p.id = id;
	p.weight = sl_all(1.0f);
	if (SL_HAS(wanted, SL_COLUMN_energy))
		p.energy = sl_source_detector_energy(r, seed, id);
	p.fate = sl_all_fate(SL_FATE_alive);
	sl_source_detector_start(r, &p, sl_draw(seed, id, sl_all_u64(0)));
	return p;
}

/* The distance to the plane at z; negative if p does not fly towards it. */
SL_HD sl_f32 sl_source_detector_to_plane(const sl_lanes *p, float z)
{
	return sl_select(p->w > 0.0f, (z - p->z) / p->w, -1.0f);
}

/* The squared distance of p from the axis after flying the given distance. */
SL_HD sl_f32 sl_source_detector_radius2_after(const sl_lanes *p, sl_f32 distance)
{
	sl_f32 x = fmaf(distance, p->u, p->x), y = fmaf(distance, p->v, p->y);

	return fmaf(x, x, y * y);
}

/* The distance to the sphere of the given radius about (0, 0, z); negative if p misses it. */
SL_HD sl_f32 sl_source_detector_to_sphere(const sl_lanes *p, float z, float radius)
{
	sl_f32 a = p->z - z, along = -fmaf(p->x, p->u, fmaf(p->y, p->v, a * p->w));
	sl_f32 x = fmaf(along, p->u, p->x), y = fmaf(along, p->v, p->y), c = fmaf(along, p->w, a);
	sl_f32 inside = fmaf(radius, radius, -fmaf(x, x, fmaf(y, y, c * c)));

	return sl_select(inside >= 0.0f, along - sqrtf(inside), -1.0f);
}

/* The pixel, of n, of a coordinate v from -half to half; rounding outside goes to the first or last
 * pixel. */
SL_HD sl_u32 sl_source_detector_pixel(sl_f32 v, float half, float per_cm, uint32_t n)
{
	sl_f32 at = (v + half) * per_cm;
	sl_u32 i = sl_u32_of(sl_select(at > 0.0f, at, 0.0f));

	return sl_select_u32(i < n, i, n - 1);
}

/* The distance to the detector along the direction of p; negative if p misses it. */
SL_HD sl_f32 sl_source_detector_to_detector(const struct sl_source_detector *r, const sl_lanes *p)
{
	sl_f32 distance, x, y;
	sl_mask hits;

	if (r->detector == SL_DETECTOR_SPHERE)
		return sl_source_detector_to_sphere(p, r->distance, r->radius);
	distance = sl_source_detector_to_plane(p, r->distance);
	if (r->detector == SL_DETECTOR_DISK) {
		hits = sl_source_detector_radius2_after(p, distance) <= r->radius * r->radius;
	} else {
		x = fmaf(distance, p->u, p->x);
		y = fmaf(distance, p->v, p->y);
		hits = (fabsf(x) <= r->half_width) & (fabsf(y) <= r->half_height);
	}
	return sl_select(hits, distance, -1.0f);
}

/* The distance to the stop along the direction of p; negative if it does not block p. */
SL_HD sl_f32 sl_source_detector_to_stop(const struct sl_source_detector *r, const sl_lanes *p)
{
	sl_f32 distance = sl_source_detector_to_plane(p, r->stop_distance);
	sl_mask inside =
		sl_source_detector_radius2_after(p, distance) <= r->stop_radius * r->stop_radius;

	return sl_select(r->stop == SL_STOP_DISK ? inside : sl_not(inside), distance, -1.0f);
}

/* The pixel of the detector that p, which has hit it, is in. */
SL_HD sl_u32 sl_source_detector_pixel_of(const struct sl_source_detector *r, const sl_lanes *p)
{
	return sl_source_detector_pixel(p->y, r->half_height, r->pixels_per_y, r->pixels_y) *
	               r->pixels_x +
	       sl_source_detector_pixel(p->x, r->half_width, r->pixels_per_x, r->pixels_x);
}

/* The single step of p: to the stop, to the detector, or past it. */
SL_HD void sl_source_detector_step(
	const struct sl_source_detector *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	sl_f32 distance = sl_source_detector_to_detector(r, p), to_stop = sl_all(-1.0f);
	sl_mask blocked, hits;
	sl_lanes q;

	(void)seed;
	if (r->stop != SL_STOP_NONE)
		to_stop = sl_source_detector_to_stop(r, p);
	blocked = to_stop >= 0.0f;
	hits = sl_not(blocked) & (distance >= 0.0f);
	p->fate = sl_select_fate(
		blocked, SL_FATE_blocked, sl_select_fate(hits, SL_FATE_hit, SL_FATE_missed));
	if (sl_any(blocked | hits)) { /* others stay at the source */
		q = *p;
		sl_fly(&q, sl_select(blocked, to_stop, distance), sl_all(r->slowness));
		sl_assign_if(blocked | hits, p, &q);
	}
	if (SL_HAS(wanted, SL_COLUMN_pixel) && sl_any(hits))
		p->pixel = sl_select_u32(hits, sl_source_detector_pixel_of(r, p), p->pixel);
}

SL_ADVANCE_BY_STEPS(source_detector)

#ifdef SL_MODEL_HOST
#include "stages/models/config/source_detector_config.h"
#endif
#endif
