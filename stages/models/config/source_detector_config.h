/*
 * source_detector_config.h - the configuration of the model source_detector: option table, checks,
 * and the rules made from it. Host only; source_detector.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_SOURCE_DETECTOR_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_SOURCE_DETECTOR_CONFIG_H

/*
 * The configuration of the model. Each part has a type; the check reports keys that belong to
 * another type, because they would have no effect.
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
		.help = "point (isotropic), disk or sphere (Lambertian surfaces), beam (along the axis)"),
	OPTION(source.radius, REAL, LENGTH, 1e-18, 1e18, .help = "radius of a disk or a sphere"),
	OPTION(source.sigma, REAL, LENGTH, 0, 1e18, .fallback = "0 cm",
		.help = "standard deviation of a beam's profile in x and in y; 0 is a pencil beam"),
	OPTION(source.half_angle, REAL, ANGLE, 1e-6, 3.141592654, .fallback = "180 deg",
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
		.help = "relative intensities, one per line; with type: lines; if left out, all are equal"),
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
 * Makes the detector. It must lie outside the source, because the rules follow one straight flight
 * from the source to the detector and do not ask where it begins.
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
			"is not between source and detector; give a value above %.15g cm and below %.15g cm",
			start, end);
	r->stop = c->stop.type;
	r->stop_distance = (float)c->stop.distance;
	r->stop_radius = (float)c->stop.radius;
}

/*
 * Makes the spectrum. Lines are sampled by their cumulative intensities; the last one is set to
 * exactly 1, so that rounding cannot leave a random number without a line.
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
			"has %u numbers for %u lines: each line needs one; make the lists equally long",
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

#endif
