/*
 * stages/models/source_detector.c - sources, stops, detectors and spectra on hard values: at rims,
 * tangents, corners and ends of ranges.
 */
#define SL_MODEL_HOST
#include "tests/support/check.h"
#include "tests/support/model_check.h"

#include "stages/models/source_detector.h"

static const struct sl_model *const model = &sl_source_detector_model;
static const struct sl_common common = {.max_steps = 1000};

enum { N = 200000 };

static const struct sl_source_detector_config plain = {
	.source = {.type = SL_SOURCE_POINT, .half_angle = 3.14159265358979323846},
	.detector = {.type = SL_DETECTOR_DISK, .distance = 2, .radius = 1, .pixels = {2, {1, 1}}},
	.energy = {.type = SL_SPECTRUM_FIXED, .value = 5},
	.speed = 10,
};

/* Keys without which plain is refused. */
#define GIVEN " detector.type detector.distance detector.radius "

static struct sl_source_detector rules_of(struct sl_source_detector_config c, const char *given)
{
	struct model_check m;
	struct sl_source_detector r;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, given);
	model->make(&c, &common, &r, &m.check);
	assert_string_equal("", m.said);
	return r;
}

/* --- sources ---------------------------------------------------------------------------------- */

static double dot(const struct sl_particle *p, double x, double y, double z)
{
	return (double)p->u * x + (double)p->v * y + (double)p->w * z;
}

/* A start with given words, on its way with a length of 1. */
static struct sl_particle start(
	const struct sl_source_detector *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct sl_particle p = {0};
	struct sl_words words = {{a, b, c, d}};

	sl_source_start(r, &p, words);
	assert_true(is_finite(&p) && fabs(excess_length(&p)) < 1e-6);
	return p;
}

/* A cone's directions are even in the cosine, also within a cone of 1e-6. */
static void point_source_fills_its_cone(void **state)
{
	const double angles[] = {1e-6, 1e-3, 0.1, 1, 3.14159265358979323846};

	(void)state;
	for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
		struct sl_source_detector_config c = plain;
		struct sl_source_detector r;
		double depth, across = 0;

		c.source.half_angle = angles[i];
		r = rules_of(c, GIVEN);
		depth = 2 * pow(sin(angles[i] / 2), 2);
		for (uint64_t word = 0; word <= UINT32_MAX; word += UINT32_MAX / N) {
			struct sl_particle p =
				start(&r, (uint32_t)word, (uint32_t)word * 2654435761u, 0, 0);
			double t = depth * ((double)word + 0.5) * 0x1p-32, sine2 = t * (2 - t);
			double u = (double)p.u, v = (double)p.v;

			assert_true(p.x == 0.0f && p.y == 0.0f && p.z == 0.0f);
			assert_true(fabs((double)p.w - (1 - t)) < 3e-7);
			assert_true(fabs(u * u + v * v - sine2) < 2e-6 * sine2 + 1e-6 * t * t);
			across += u + v;
		}
		assert_true(fabs(across / N) < 0.01 * sin(fmin(angles[i], 1)));
	}
}

/* Lambertian about +z: the square of the sine is even, near the normal too. */
static void disk_source_is_lambertian(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;

	(void)state;
	c.source.type = SL_SOURCE_DISK;
	c.source.radius = 3;
	r = rules_of(c, GIVEN " source.radius ");
	for (uint64_t word = 0; word <= UINT32_MAX; word += UINT32_MAX / N) {
		uint32_t other = (uint32_t)word * 2654435761u;
		struct sl_particle p = start(&r, (uint32_t)word, other, other, (uint32_t)word);
		double sine2 = 1 - ((double)word + 0.5) * 0x1p-32;
		double u = (double)p.u, v = (double)p.v, x = (double)p.x, y = (double)p.y;

		assert_true(p.w > 0.0f && p.z == 0.0f);
		assert_true(fabs(u * u + v * v - sine2) < 1e-6 * sine2);
		assert_true(fabs(x * x + y * y - 9 * ((double)other + 0.5) * 0x1p-32) < 1e-5);
	}
}

/* On the surface, even in z, outward; about each normal as about +z. */
static void sphere_source_shines_outward(void **state)
{
	const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	double cosine = 0, height = 0;

	(void)state;
	c.source.type = SL_SOURCE_SPHERE;
	c.source.radius = 0.5;
	r = rules_of(c, GIVEN " source.radius ");
	for (uint64_t id = 0; id < N + 6 * 6 * 6 * 6; id++) {
		struct sl_words random = sl_draw(1, id, 0);
		uint64_t k = id < N ? 0 : id - N;
		struct sl_particle p;
		double x, y, z, out, want, across2;

		for (int i = 0; id >= N && i < 4; i++, k /= 6)
			random.at[i] = ends[k % 6];
		p = start(&r, random.at[0], random.at[1], random.at[2], random.at[3]);
		x = 2 * (double)p.x;
		y = 2 * (double)p.y;
		z = 2 * (double)p.z;
		out = dot(&p, x, y, z);
		want = sqrt(((double)random.at[0] + 0.5) * 0x1p-32);
		across2 = ((double)random.at[2] + 0.5) * 0x1p-32;
		across2 = 4 * across2 * (1 - across2); /* x^2 + y^2, not on rings at the poles */
		assert_true(fabs(x * x + y * y - across2) < 1e-6 * across2);
		assert_true(fabs(x * x + y * y + z * z - 1) < 1e-6);
		assert_true(out > 0 && fabs(out - want) < 5e-7);
		cosine += id < N ? out : 0;
		height += id < N ? z : 0;
	}
	assert_true(fabs(cosine / N - 2.0 / 3) < 4 * sqrt(1.0 / 18 / N));
	assert_true(fabs(height / N) < 4 * sqrt(1.0 / 3 / N));
}

static void beams_fly_along_the_axis(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	double square = 0, fourth = 0, product = 0;

	(void)state;
	c.source.type = SL_SOURCE_BEAM;
	r = rules_of(c, GIVEN);
	for (uint32_t word = 0; word < 1000; word++) { /* a pencil */
		struct sl_particle p = start(&r, word, word, ~word, word << 22);

		assert_true(p.x == 0.0f && p.y == 0.0f && p.w == 1.0f && p.u == 0.0f);
	}
	c.source.sigma = 2;
	r = rules_of(c, GIVEN " source.sigma ");
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, id);
		double x = (double)p.x / 2, y = (double)p.y / 2;

		assert_true(p.w == 1.0f && p.u == 0.0f && p.v == 0.0f && p.z == 0.0f);
		square += x * x + y * y;
		fourth += x * x * x * x;
		product += x * y;
	}
	assert_true(fabs(square / N - 2) < 4 * 2 / sqrt(N));
	assert_true(fabs(fourth / N - 3) < 4 * sqrt(96.0 / N));
	assert_true(fabs(product / N) < 4 / sqrt(N));
	assert_true(fabsf(start(&r, 0, 0, 0, 0).x - 2 * 6.764f) < 0.01f); /* the farthest */
	assert_true(start(&r, 0, 0, UINT32_MAX, 0).x == 0.0f);
}

/* --- detectors -------------------------------------------------------------------------------- */

/* p after its one step. */
static struct sl_particle flown(const struct sl_source_detector *r, struct sl_particle p)
{
	sl_source_detector_advance(r, SL_EVERY_COLUMN, 1, &p, 1);
	return p;
}

static struct sl_particle ray(float x, float y, float z, float u, float v, float w)
{
	struct sl_particle p = {.x = x, .y = y, .z = z, .u = u, .v = v, .w = w};

	return p;
}

static int fate_of(const struct sl_source_detector *r, struct sl_particle p)
{
	return flown(r, p).fate;
}

/* The detector's rim belongs to it. */
static void disk_detector_has_its_rim(void **state)
{
	struct sl_source_detector r = rules_of(plain, GIVEN);
	struct sl_particle p;

	(void)state;
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(0, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(1, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(-0.6f, 0.79999995f, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(1.000001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 1, 0, 0)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 1, 0, 1e-30f)));
	p = flown(&r, ray(-1, 0, 0, 0.6f, 0, 0.8f));
	assert_int_equal(SL_FATE_hit, p.fate);
	assert_true(fabsf(p.x - 0.5f) < 1e-6f && p.z == 2.0f);
	assert_true(fabsf(p.time - 0.25f) < 1e-7f); /* 2.5 cm at 10 cm/ns */
}

static void sphere_detector_is_met_in_front(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	struct sl_particle p;

	(void)state;
	c.detector.type = SL_DETECTOR_SPHERE;
	c.detector.distance = 5;
	r = rules_of(c, GIVEN);
	p = flown(&r, ray(0, 0, 0, 0, 0, 1));
	assert_true(p.fate == SL_FATE_hit && p.z == 4.0f && p.time == 0.4f && p.pixel == 0);
	p = flown(&r, ray(1, 0, 0, 0, 0, 1)); /* tangent */
	assert_true(p.fate == SL_FATE_hit && p.z == 5.0f && p.x == 1.0f);
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(1.000001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 7, 0, 0, 1))); /* it is behind */
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 5, 0, 0, 1))); /* from inside */
	for (uint64_t id = 0; id < N; id++) {
		double a, b, d;

		p = flown(&r, sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, id));
		a = (double)p.x;
		b = (double)p.y;
		d = (double)p.z - 5;
		if (p.fate == SL_FATE_hit) /* on the near side of the surface */
			assert_true(
				fabs(a * a + b * b + d * d - 1) < 1e-4 && dot(&p, a, b, d) < 1e-2);
	}
}

static struct sl_source_detector rectangle(double width, double height, uint64_t nx, uint64_t ny)
{
	struct sl_source_detector_config c = plain;

	c.detector.type = SL_DETECTOR_RECTANGLE;
	c.detector.width = width;
	c.detector.height = height;
	c.detector.pixels.at[0] = nx;
	c.detector.pixels.at[1] = ny;
	return rules_of(c, " detector.width detector.height detector.pixels ");
}

static void rectangle_has_its_edges(void **state)
{
	struct sl_source_detector r = rectangle(2, 1, 4, 3);

	(void)state;
	for (int i = 0; i < 4; i++) {
		float x = i & 1 ? 1.0f : -1.0f, y = i & 2 ? 0.5f : -0.5f;
		struct sl_particle p = flown(&r, ray(x, y, 0, 0, 0, 1));

		assert_int_equal(SL_FATE_hit, p.fate);
		assert_int_equal((i & 1 ? 3 : 0) + 4 * (i & 2 ? 2 : 0), p.pixel);
		p = ray(nextafterf(x, 2 * x), y, 0, 0, 0, 1);
		assert_int_equal(SL_FATE_missed, fate_of(&r, p));
		p = ray(x, nextafterf(y, 2 * y), 0, 0, 0, 1);
		assert_int_equal(SL_FATE_missed, fate_of(&r, p));
	}
	/* a pixel has its lower edge */
	assert_int_equal(4 + 2, flown(&r, ray(0, 0, 0, 0, 0, 1)).pixel);
	assert_int_equal(4 + 1, flown(&r, ray(-0x1p-20f, 0, 0, 0, 0, 1)).pixel);
}

/* Whatever size and number: in range, never falling, and all of them there. */
static void pixels_are_in_range(void **state)
{
	const double sizes[] = {1e-18, 1e-7, 0.3, 1, 3, 1e7, 1e18};
	const uint32_t numbers[] = {1, 2, 3, 7, 64, 1000, 65535};

	(void)state;
	for (int i = 0; i < 7 * 7; i++) {
		uint32_t n = numbers[i % 7], last = 0, steps = 4 * n;
		struct sl_source_detector r = rectangle(sizes[i / 7], 1, n, 1);
		float half = r.half_width;

		for (uint32_t k = 0; k <= steps; k++) {
			float x = half * ((float)k * (2.0f / (float)steps) - 1.0f);
			uint32_t at = sl_pixel(x, half, r.pixels_per_x, n);

			assert_true(at < n && at >= last && at - last <= 1);
			last = at;
		}
		assert_int_equal(n - 1, last);
		assert_int_equal(0, sl_pixel(-half, half, r.pixels_per_x, n));
		assert_int_equal(n - 1, sl_pixel(half, half, r.pixels_per_x, n));
		assert_int_equal(0, sl_pixel(NAN, half, r.pixels_per_x, n));
	}
}

static void stops_stop(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	struct sl_particle p;

	(void)state;
	c.stop.type = SL_STOP_DISK;
	c.stop.distance = 1;
	c.stop.radius = 0.25;
	r = rules_of(c, GIVEN " stop.distance stop.radius ");
	p = flown(&r, ray(0.25f, 0, 0, 0, 0, 1)); /* its rim is opaque */
	assert_true(p.fate == SL_FATE_blocked && p.z == 1.0f && p.time == 0.1f);
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(0.2500001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
	c.stop.type = SL_STOP_APERTURE;
	r = rules_of(c, GIVEN " stop.distance stop.radius ");
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(0.25f, 0, 0, 0, 0, 1))); /* of the hole */
	assert_int_equal(SL_FATE_blocked, fate_of(&r, ray(0.2500001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_blocked, fate_of(&r, ray(0, 0, 0, 1, 0, 1e-30f)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
}

static void one_step_decides(void **state)
{
	struct sl_source_detector r = rules_of(plain, GIVEN);
	struct sl_particle p = sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, 0), q = p;

	(void)state;
	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &q, 0);
	assert_memory_equal(&p, &q, sizeof(p));
	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &p, 1);
	q = p;
	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &q, UINT32_MAX);
	assert_memory_equal(&p, &q, sizeof(p));
}

/* Everything finite, every fate one of the model's, hits where the detector is. */
static void lives_at_the_ends_of_ranges(void **state)
{
	const double sizes[] = {1e-18, 1, 1e18};

	(void)state;
	for (int i = 0; i < 3 * 3 * 3 * 4 * 2; i++) {
		struct sl_source_detector_config c = plain;
		struct sl_source_detector r;
		struct model_check m;

		c.source.type = i / 27 % 4;
		c.source.radius = c.source.sigma = sizes[i % 3];
		c.detector.distance = sizes[i / 3 % 3];
		c.detector.radius = sizes[i / 9 % 3];
		c.detector.type = i / 108 ? SL_DETECTOR_DISK : SL_DETECTOR_SPHERE;
		model_check_begin(&m, " source.radius ");
		memset(&r, 0, sizeof(r));
		model->make(&c, &common, &r, &m.check);
		if (strstr(m.said, "is inside") || strstr(m.said, "reaches"))
			continue;
		for (uint64_t id = 0; id < 1000; id++) {
			struct sl_particle p =
				flown(&r, sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, id));

			assert_true(is_finite(&p) && SL_HAS(SL_FATES_source_detector, p.fate));
			assert_int_equal(0, p.pixel);
			if (p.fate == SL_FATE_hit && c.detector.type == SL_DETECTOR_DISK)
				assert_true(fabsf(p.z / r.distance - 1) < 1e-5f);
		}
	}
}

/* --- energies --------------------------------------------------------------------------------- */

static void lines_come_with_their_intensities(void **state)
{
	const double intensities[] = {0, 1, 10, 0.1, 0, 88.9, 0};
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	double count[7] = {0}, chi2 = 0;

	(void)state;
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines.n = c.energy.intensities.n = 7;
	for (int i = 0; i < 7; i++) {
		c.energy.lines.at[i] = i;
		c.energy.intensities.at[i] = intensities[i];
	}
	r = rules_of(c, GIVEN " energy.lines energy.intensities ");
	for (uint64_t id = 0; id < N; id++)
		count[(int)sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, id).energy]++;
	for (int i = 0; i < 7; i++)
		if (intensities[i] > 0)
			chi2 += pow(count[i] - N * intensities[i] / 100, 2) /
			        (N * intensities[i] / 100);
		else
			assert_true(count[i] == 0);
	print_message("chi-square %.2f of 3 degrees\n", chi2);
	assert_true(chi2 < 18); /* chance 4e-4 */
}

static void lines_are_equal_without_intensities(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r;
	int count[3] = {0};

	(void)state;
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = (struct sl_reals){3, {0, 1, 2}};
	r = rules_of(c, GIVEN " energy.lines ");
	assert_true(r.cumulative[2] == 1.0f);
	for (uint64_t id = 0; id < N; id++)
		count[(int)sl_source_energy(&r, 1, id)]++;
	for (int i = 0; i < 3; i++)
		assert_true(fabs(count[i] - N / 3.0) < 4 * sqrt(N * 2.0 / 9));
	c.energy.lines.n = 1;
	r = rules_of(c, GIVEN " energy.lines ");
	assert_true(sl_source_energy(&r, 1, 0) == 0.0f);
}

static void energies_fixed_or_exponential(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r = rules_of(c, GIVEN);
	double sum = 0, square = 0;

	(void)state;
	assert_true(sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, 2).energy == 5.0f);
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	c.energy.mean = 7;
	r = rules_of(c, GIVEN " energy.mean ");
	for (uint64_t id = 0; id < N; id++) {
		double e =
			(double)sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, id).energy / 7;

		assert_true(e >= 0 && e < 23);
		sum += e;
		square += e * e;
	}
	assert_true(fabs(sum / N - 1) < 4 / sqrt(N));
	assert_true(fabs(square / N - 2) < 4 * sqrt(20.0 / N));
}

/* --- the configuration ------------------------------------------------------------------------ */

static void check_complaint(
	const struct sl_source_detector_config *c, const char *given, const char *want)
{
	struct sl_source_detector r;
	struct model_check m;

	model_check_begin(&m, given);
	model->make(c, &common, &r, &m.check);
	if (!strstr(m.said, want) || m.n != 1)
		fail_msg("%d complaints, not one: '%s' but: '%s'", m.n, want, m.said);
}

static void what_has_no_use_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{" source.radius ",
			"source.radius: does nothing here (it is for a disk or a sphere)"},
		{" source.sigma ", "source.sigma: does nothing here (it is for a beam)"},
		{" detector.width ", "detector.width: does nothing here (it is for a rectangle)"},
		{" detector.height ", "detector.height: does nothing here (it is for a rectangle)"},
		{" stop.radius ", "stop.radius: does nothing here (it is for a stop)"},
		{" stop.distance ", "stop.distance: does nothing here (it is for a stop)"},
		{" energy.mean ", "energy.mean: does nothing here (it is for type: exponential)"},
		{" energy.lines ", "energy.lines: does nothing here (it is for type: lines)"},
		{" energy.intensities ",
			"energy.intensities: does nothing here (it is for type: lines)"},
	};
	struct sl_source_detector_config c = plain;
	char given[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(given, GIVEN);
		strcat(given, cases[i][0]);
		check_complaint(&plain, given, cases[i][1]);
	}
	c.source.type = SL_SOURCE_BEAM;
	check_complaint(&c, GIVEN " source.half_angle ",
		"source.half_angle: does nothing here (it is for a point source)");
	c = plain;
	c.detector.type = SL_DETECTOR_SPHERE;
	check_complaint(&c, GIVEN " detector.pixels ",
		"detector.pixels: does nothing here (it is for a rectangle or a disk)");
}

static void what_is_missing_is_refused(void **state)
{
	struct sl_source_detector_config c = plain;

	(void)state;
	check_complaint(&c, "", "detector.radius: is missing (disk needs it), add it");
	c.source.type = SL_SOURCE_DISK;
	check_complaint(&c, GIVEN, "source.radius: is missing (disk needs it), add it");
	c = plain;
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	check_complaint(&c, GIVEN, "energy.mean: is missing (type: exponential needs it)");
	c.energy.type = SL_SPECTRUM_LINES;
	check_complaint(&c, GIVEN, "energy.lines: is missing (type: lines needs it)");
	c = plain;
	c.stop.type = SL_STOP_DISK;
	c.stop.distance = 1;
	check_complaint(&c, GIVEN " stop.distance ", "stop.radius: is missing (a stop needs it)");
	c = plain;
	c.detector.pixels.n = 1;
	check_complaint(&c, GIVEN, "detector.pixels: has 1 numbers (one along x and one along y");
}

static void what_cannot_be_is_refused(void **state)
{
	struct sl_source_detector_config c = plain;

	(void)state;
	c.source.type = SL_SOURCE_SPHERE;
	c.source.radius = 2.5;
	check_complaint(&c, GIVEN " source.radius ", "detector.distance: is inside the source");
	c = plain;
	c.detector.type = SL_DETECTOR_SPHERE;
	c.detector.radius = 2;
	check_complaint(&c, GIVEN, "detector.radius: reaches the origin");
	c = plain;
	c.stop.type = SL_STOP_APERTURE;
	c.stop.distance = 2;
	c.stop.radius = 1;
	check_complaint(&c, GIVEN " stop.distance stop.radius ",
		"stop.distance: is not between source and detector (0 cm to 2 cm), move the stop");
	c = plain;
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = c.energy.intensities = (struct sl_reals){2, {0, 0}};
	check_complaint(&c, GIVEN " energy.lines energy.intensities ",
		"energy.intensities: are all 0 (no line would be drawn)");
	c.energy.intensities = (struct sl_reals){1, {1}};
	check_complaint(&c, GIVEN " energy.lines energy.intensities ",
		"energy.intensities: has 1 numbers for 2 lines");
}

static void ranges_and_constants(void **state)
{
	struct sl_source_detector_config c = plain;
	struct sl_source_detector r = rectangle(1, 1, 64, 32);
	struct sl_particle values = {0};
	double lo, hi;

	(void)state;
	assert_true(model->range(&r, SL_COLUMN_pixel, &lo, &hi) && lo == 0 && hi == 2047);
	assert_true(model->range(&r, SL_COLUMN_u, &lo, &hi) && lo == -1 && hi == 1);
	assert_true(model->range(&r, SL_COLUMN_energy, &lo, &hi) && lo == 0 && hi == 5);
	assert_false(model->range(&r, SL_COLUMN_time, &lo, &hi));
	assert_int_equal(
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_energy), model->constants(&r, &values));
	assert_true(values.weight == 1.0f && values.energy == 5.0f);
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = (struct sl_reals){3, {1, 9, 2}};
	r = rules_of(c, GIVEN " energy.lines ");
	assert_true(model->range(&r, SL_COLUMN_energy, &lo, &hi) && lo == 0 && hi == 9);
	assert_int_equal(SL_BIT(SL_COLUMN_weight), model->constants(&r, &values));
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	c.energy.lines.n = 0;
	c.energy.mean = 1;
	r = rules_of(c, GIVEN " energy.mean ");
	assert_false(model->range(&r, SL_COLUMN_energy, &lo, &hi));
}

/* Squares of lengths, and their sums, must be numbers in single precision. */
static void lengths_can_be_squared(void **state)
{
	int n = 0;

	(void)state;
	for (size_t i = 0; i < model->n_options; i++)
		if (model->options[i].dimension == SL_DIM_LENGTH) {
			double lo = model->options[i].lo, hi = model->options[i].hi;

			assert_true(hi * hi < 0x1p124 && (lo == 0 || lo * lo > 0x1p-126));
			n++;
		}
	assert_int_equal(8, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(point_source_fills_its_cone),
		cmocka_unit_test(disk_source_is_lambertian),
		cmocka_unit_test(sphere_source_shines_outward),
		cmocka_unit_test(beams_fly_along_the_axis),
		cmocka_unit_test(disk_detector_has_its_rim),
		cmocka_unit_test(sphere_detector_is_met_in_front),
		cmocka_unit_test(rectangle_has_its_edges),
		cmocka_unit_test(pixels_are_in_range),
		cmocka_unit_test(stops_stop),
		cmocka_unit_test(one_step_decides),
		cmocka_unit_test(lives_at_the_ends_of_ranges),
		cmocka_unit_test(lines_come_with_their_intensities),
		cmocka_unit_test(lines_are_equal_without_intensities),
		cmocka_unit_test(energies_fixed_or_exponential),
		cmocka_unit_test(what_has_no_use_is_refused),
		cmocka_unit_test(what_is_missing_is_refused),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(ranges_and_constants),
		cmocka_unit_test(lengths_can_be_squared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
