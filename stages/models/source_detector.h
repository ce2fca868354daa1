/*
 * source_detector.h - straight flight from a source past an optional stop to a detector.
 *
 * The source is at the origin; the axis is +z. A single step decides: the particle is blocked by the
 * stop, hits the detector, or misses it. Nothing scatters. Philox block 0 gives the start, block 1
 * the energy.
 */
#ifndef SL_STAGES_MODELS_SOURCE_DETECTOR_H
#define SL_STAGES_MODELS_SOURCE_DETECTOR_H

#include "stages/models/flight.h"

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

/*
 * The configuration of the model. Each part has a type; the check reports keys that belong to another
 * type, because they would have no effect.
 */
struct sl_source_detector_config {
	struct {
		int type;
		double radius, sigma, half_angle;
	} source;
	struct {
		int type;
		double distance, radius, width, height;
		struct sl_counts pixels;
	} detector;
	struct {
		int type;
		double distance, radius;
	} stop;
	struct {
		int type;
		double value, mean;
		struct sl_reals lines, intensities;
	} energy;
	double speed;
};

static const char *const sl_source_detector_sources[] = {"point", "disk", "beam", "sphere", NULL};
static const char *const sl_source_detector_detectors[] = {"sphere", "disk", "rectangle", NULL};
static const char *const sl_source_detector_stops[] = {"none", "disk", "aperture", NULL};
static const char *const sl_source_detector_spectra[] = {"fixed", "lines", "exponential", NULL};

/* Lengths are squared in single precision, so they are limited to 1e-18 to 1e18 cm. */
#define OPTION(...) SL_OPTION(sl_source_detector_config, __VA_ARGS__)
static const struct sl_option sl_source_detector_options[] = {
	OPTION(source.type, CHOICE, NUMBER, 0, 0, .fallback = "point",
		.choices = sl_source_detector_sources,
		.help = "point (isotropic), disk or sphere (Lambertian surfaces), beam (along the "
			"axis)"),
	OPTION(source.radius, REAL, LENGTH, 1e-18, 1e18, .help = "radius of a disk or a sphere"),
	OPTION(source.sigma, REAL, LENGTH, 0, 1e18, .fallback = "0 cm",
		.help = "standard deviation of a beam's profile in x and in y; 0 is a pencil beam"),
	OPTION(source.half_angle, REAL, ANGLE, 1e-6, 3.14159265358979323846, .fallback = "180 deg",
		.help = "a point source emits into a cone of this half angle about the axis"),
	OPTION(detector.type, CHOICE, NUMBER, 0, 0, .required = true,
		.choices = sl_source_detector_detectors,
		.help = "sphere (centred on the axis), disk or rectangle (perpendicular to the axis)"),
	OPTION(detector.distance, REAL, LENGTH, 1e-18, 1e18, .required = true,
		.help = "distance of its plane, or of the centre of a sphere, from the origin"),
	OPTION(detector.radius, REAL, LENGTH, 1e-18, 1e18, .help = "radius of a sphere or a disk"),
	OPTION(detector.width, REAL, LENGTH, 1e-18, 1e18, .help = "size of a rectangle along x"),
	OPTION(detector.height, REAL, LENGTH, 1e-18, 1e18, .help = "size of a rectangle along y"),
	OPTION(detector.pixels, COUNTS, NUMBER, 1, 65535, .fallback = "[1, 1]",
		.help = "pixels along x and y, of a rectangle or of the square around a disk"),
	OPTION(stop.type, CHOICE, NUMBER, 0, 0, .fallback = "none",
		.choices = sl_source_detector_stops,
		.help = "disk: an opaque disk; aperture: an opaque plane with a round hole"),
	OPTION(stop.distance, REAL, LENGTH, 1e-18, 1e18,
		.help = "distance of the stop from the origin"),
	OPTION(stop.radius, REAL, LENGTH, 1e-18, 1e18, .help = "radius of the disk or of the hole"),
	OPTION(energy.type, CHOICE, NUMBER, 0, 0, .fallback = "fixed",
		.choices = sl_source_detector_spectra,
		.help = "energy spectrum: one value, a list of lines, or exponential"),
	OPTION(energy.value, REAL, ENERGY, 0, 1e20, .fallback = "1 keV",
		.help = "energy; with type: fixed"),
	OPTION(energy.mean, REAL, ENERGY, 1e-20, 1e20,
		.help = "mean energy; with type: exponential"),
	OPTION(energy.lines, REALS, ENERGY, 0, 1e20,
		.help = "energies of the lines; with type: lines"),
	OPTION(energy.intensities, REALS, NUMBER, 0, 1e20,
		.help = "relative intensities, one per line; with type: lines; if left out, all are "
			"equal"),
	OPTION(speed, REAL, SPEED, 1e-15, 1e20, .fallback = "299792458 m/s",
		.help = "speed of the particles, for the time of flight"),
};
#undef OPTION

/* Makes the source. Particles start at the origin or, from a surface, around it. */
static void sl_source_detector_make_source(const struct sl_source_detector_config *c,
	struct sl_source_detector *r, const struct sl_model_check *check)
{
	bool round = c->source.type == SL_SOURCE_DISK || c->source.type == SL_SOURCE_SPHERE;
	float sine, cosine;

	sl_model_require_only_if(check, round, "source.radius", "a disk or a sphere");
	sl_model_refuse_unused(check, c->source.type == SL_SOURCE_BEAM, "source.sigma", "a beam");
	sl_model_refuse_unused(
		check, c->source.type == SL_SOURCE_POINT, "source.half_angle", "a point source");
	r->source = c->source.type;
	r->source_radius = (float)c->source.radius;
	r->sigma = (float)c->source.sigma;
	/* 1 - cos a = 2 sin^2(a/2), without cancellation */
	sl_sincospi((float)(c->source.half_angle / 6.28318530717958647692), &sine, &cosine);
	r->cone = 2.0f * (sine * sine);
	r->slowness = (float)(1 / c->speed);
}

/*
 * Makes the detector. It must lie outside the source, because the rules follow one straight flight from
 * the source to the detector and do not ask where it begins.
 */
static void sl_source_detector_make_detector(const struct sl_source_detector_config *c,
	struct sl_source_detector *r, const struct sl_model_check *check)
{
	bool rectangle = c->detector.type == SL_DETECTOR_RECTANGLE;
	bool sphere = c->detector.type == SL_DETECTOR_SPHERE;
	const struct sl_counts *pixels = &c->detector.pixels;

	sl_model_require_only_if(check, !rectangle, "detector.radius", "a sphere or a disk");
	sl_model_require_only_if(check, rectangle, "detector.width", "a rectangle");
	sl_model_require_only_if(check, rectangle, "detector.height", "a rectangle");
	sl_model_refuse_unused(check, !sphere, "detector.pixels", "a rectangle or a disk");
	if (pixels->n != 2)
		check->complain(check->ctx, "detector.pixels",
			"must be two numbers, one along x and one along y, and has %u; write for example [64, 64]",
			pixels->n);
	if (c->source.type == SL_SOURCE_SPHERE &&
		!(c->detector.distance - (sphere ? c->detector.radius : 0) >= c->source.radius) &&
		check->is_given(check->ctx, "source.radius"))
		check->complain(check->ctx, "detector.distance",
			"is inside the source, a sphere about the origin; increase the distance");
	if (sphere && c->detector.radius >= c->detector.distance)
		check->complain(check->ctx, "detector.radius",
			"reaches the origin, so the source would be inside the detector; make it "
			"smaller than detector.distance");
	r->detector = c->detector.type;
	r->distance = (float)c->detector.distance;
	r->radius = (float)c->detector.radius;
	r->half_width = rectangle ? (float)(c->detector.width / 2) : r->radius;
	r->half_height = rectangle ? (float)(c->detector.height / 2) : r->radius;
	r->pixels_x = pixels->n > 0 ? (uint32_t)pixels->at[0] : 1;
	r->pixels_y = pixels->n > 1 ? (uint32_t)pixels->at[1] : 1;
	r->pixels_per_x = (float)r->pixels_x / (r->half_width + r->half_width);
	r->pixels_per_y = (float)r->pixels_y / (r->half_height + r->half_height);
}

/*
 * Makes the stop. It must lie between source and detector: the rules test the stop first and would
 * otherwise block particles that reach the detector before it.
 */
static void sl_source_detector_make_stop(const struct sl_source_detector_config *c,
	struct sl_source_detector *r, const struct sl_model_check *check)
{
	bool any = c->stop.type != SL_STOP_NONE;
	double end = c->detector.type == SL_DETECTOR_SPHERE
	                     ? c->detector.distance - c->detector.radius
	                     : c->detector.distance;
	double start = c->source.type == SL_SOURCE_SPHERE ? c->source.radius : 0;

	sl_model_require_only_if(check, any, "stop.distance", "a stop");
	sl_model_require_only_if(check, any, "stop.radius", "a stop");
	if (any && (c->stop.distance >= end || c->stop.distance <= start))
		check->complain(check->ctx, "stop.distance",
			"is not between source and detector; give a value from %g cm to %g cm",
			start, end);
	r->stop = c->stop.type;
	r->stop_distance = (float)c->stop.distance;
	r->stop_radius = (float)c->stop.radius;
}

/*
 * Makes the spectrum. Lines are sampled by their cumulative intensities; the last one is set to exactly
 * 1, so that rounding cannot leave a random number without a line.
 */
static void sl_source_detector_make_spectrum(const struct sl_source_detector_config *c,
	struct sl_source_detector *r, const struct sl_model_check *check)
{
	const struct sl_reals *lines = &c->energy.lines, *intensities = &c->energy.intensities;
	bool fixed = c->energy.type == SL_SPECTRUM_FIXED,
	     listed = c->energy.type == SL_SPECTRUM_LINES;
	bool exponential = c->energy.type == SL_SPECTRUM_EXPONENTIAL;
	double sum = 0, below = 0;

	sl_model_refuse_unused(check, fixed, "energy.value", "type: fixed");
	sl_model_require_only_if(check, exponential, "energy.mean", "type: exponential");
	sl_model_require_only_if(check, listed, "energy.lines", "type: lines");
	sl_model_refuse_unused(check, listed, "energy.intensities", "type: lines");
	if (intensities->n != 0 && intensities->n != lines->n)
		check->complain(check->ctx, "energy.intensities",
			"has %u numbers for %u lines: each line needs one; make the lists equally "
			"long",
			intensities->n, lines->n);
	for (uint32_t i = 0; i < intensities->n; i++)
		sum += intensities->at[i];
	if (intensities->n != 0 && !(sum > 0))
		check->complain(check->ctx, "energy.intensities",
			"are all 0: no energy could be sampled; make at least one positive");
	r->spectrum = c->energy.type;
	r->energy = (float)(exponential ? c->energy.mean : c->energy.value);
	r->n_lines = lines->n;
	for (uint32_t i = 0; i < lines->n; i++) {
		below += intensities->n == lines->n ? intensities->at[i] / sum : 1.0 / lines->n;
		r->line[i] = (float)lines->at[i];
		r->cumulative[i] = i + 1 == lines->n ? 1.0f : (float)below;
	}
}

static void sl_source_detector_make(const void *config, const struct sl_model_common *common,
	void *rules, const struct sl_model_check *check)
{
	const struct sl_source_detector_config *c =
		(const struct sl_source_detector_config *)config;
	struct sl_source_detector *r = (struct sl_source_detector *)rules;

	(void)common;
	sl_source_detector_make_source(c, r, check);
	sl_source_detector_make_detector(c, r, check);
	sl_source_detector_make_stop(c, r, check);
	sl_source_detector_make_spectrum(c, r, check);
}

static bool sl_source_detector_range(
	const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_source_detector *r = (const struct sl_source_detector *)rules;

	*lo = 0;
	switch (column) {
	case SL_COLUMN_pixel:
		*hi = (double)r->pixels_x * r->pixels_y - 1;
		return true;
	case SL_COLUMN_energy:
		*hi = (double)r->energy;
		for (uint32_t i = 0; r->spectrum == SL_SPECTRUM_LINES && i < r->n_lines; i++)
			*hi = i == 0 || (double)r->line[i] > *hi ? (double)r->line[i] : *hi;
		return r->spectrum != SL_SPECTRUM_EXPONENTIAL && *hi > 0;
	default: /* x, y, z, time: a particle that missed keeps those of the source */
		return sl_model_common_range(column, 0, SL_FATES_source_detector, lo, hi);
	}
}

/* A fixed energy is the same in all particles, so it is not stored for each. */
static sl_column_set sl_source_detector_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_source_detector *r = (const struct sl_source_detector *)rules;

	values->weight = 1.0f;
	values->energy = r->energy;
	return SL_BIT(SL_COLUMN_weight) |
	       (r->spectrum == SL_SPECTRUM_FIXED ? SL_BIT(SL_COLUMN_energy) : 0);
}

/* A spherical detector has no pixels, and thus no image. */
static bool sl_source_detector_image(const void *rules, struct sl_image *p)
{
	const struct sl_source_detector *r = (const struct sl_source_detector *)rules;

	*p = (struct sl_image){.what = "weight",
		.upward = true,
		.width = r->pixels_x,
		.height = r->pixels_y,
		.scale = 1,
		.fate = SL_FATE_hit};
	return r->detector != SL_DETECTOR_SPHERE;
}

SL_MODEL(source_detector,
	.help = "straight flight from a source past a stop to a detector with pixels",
	.species = "photons", .steps = false, .image = sl_source_detector_image);

#endif /* SL_MODEL_HOST */
#endif
