/*
 * source_detector_sources.c - tests the start position, direction and energy of particles, also
 * for extreme random words and at the poles.
 */
#include "tests/support/models/source_detector_check.h"

/* --- places and directions -------------------------------------------------------------------- */

/* Starts a particle with given random words and checks the length of its direction. */
static struct sl_particle start(
	const struct sl_source_detector *r, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	struct sl_particle p = {0};
	struct sl_words words = {{a, b, c, d}};

	sl_source_detector_start(r, &p, words);
	assert_true(is_finite(&p) && fabs(excess_length(&p)) < 1e-6);
	return p;
}

/* Directions are uniform in the cosine, also for a cone of 1e-6. */
TEST(point_source_fills_its_cone)
{
	const double angles[] = {1e-6, 1e-3, 0.1, 1, 3.14159265358979323846};

	for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
		struct sl_source_detector_config c = source_detector_plain;
		struct sl_source_detector r;
		double depth, across = 0;

		c.source.half_angle = angles[i];
		r = source_detector_rules(c, GIVEN);
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

/* Lambertian about +z: the squared sine is uniform, also near the normal. */
TEST(disk_source_is_lambertian)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;

	c.source.type = SL_SOURCE_DISK;
	c.source.radius = 3;
	r = source_detector_rules(c, GIVEN " source.radius ");
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

/* Starts are uniform in z on the surface and directed outward, Lambertian about each normal. */
TEST(sphere_source_emits_outward)
{
	const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	double cosine = 0, height = 0;

	c.source.type = SL_SOURCE_SPHERE;
	c.source.radius = 0.5;
	r = source_detector_rules(c, GIVEN " source.radius ");
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

TEST(beams_are_parallel_to_the_axis)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	double square = 0, fourth = 0, product = 0;

	c.source.type = SL_SOURCE_BEAM;
	r = source_detector_rules(c, GIVEN);
	for (uint32_t word = 0; word < 1000; word++) { /* a pencil */
		struct sl_particle p = start(&r, word, word, ~word, word << 22);

		assert_true(p.x == 0.0f && p.y == 0.0f && p.w == 1.0f && p.u == 0.0f);
	}
	c.source.sigma = 2;
	r = source_detector_rules(c, GIVEN " source.sigma ");
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

/* --- energies --------------------------------------------------------------------------------- */

TEST(lines_have_their_intensities)
{
	const double intensities[] = {0, 1, 10, 0.1, 0, 88.9, 0};
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	double count[7] = {0}, chi2 = 0;

	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines.n = c.energy.intensities.n = 7;
	for (int i = 0; i < 7; i++) {
		c.energy.lines.at[i] = i;
		c.energy.intensities.at[i] = intensities[i];
	}
	r = source_detector_rules(c, GIVEN " energy.lines energy.intensities ");
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

TEST(lines_are_equal_without_intensities)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	int count[3] = {0};

	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = (struct sl_reals){3, {0, 1, 2}};
	r = source_detector_rules(c, GIVEN " energy.lines ");
	assert_true(r.cumulative[2] == 1.0f);
	for (uint64_t id = 0; id < N; id++)
		count[(int)sl_source_detector_energy(&r, 1, id)]++;
	for (int i = 0; i < 3; i++)
		assert_true(fabs(count[i] - N / 3.0) < 4 * sqrt(N * 2.0 / 9));
	c.energy.lines.n = 1;
	r = source_detector_rules(c, GIVEN " energy.lines ");
	assert_true(sl_source_detector_energy(&r, 1, 0) == 0.0f);
}

TEST(energies_fixed_or_exponential)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r = source_detector_rules(c, GIVEN);
	double sum = 0, square = 0;

	assert_true(sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, 2).energy == 5.0f);
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	c.energy.mean = 7;
	r = source_detector_rules(c, GIVEN " energy.mean ");
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
