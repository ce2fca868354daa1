/*
 * source_detector.c - tests detectors and beam stops on edge cases: at rims, tangents, corners and
 * limits of ranges.
 */
#include "tests/support/models/source_detector_check.h"

/* Returns p after its only step. */
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

/* The rim is part of the detector. */
TEST(disk_detector_includes_its_rim)
{
	struct sl_source_detector r = source_detector_rules(source_detector_plain, GIVEN);
	struct sl_particle p;

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

TEST(sphere_detector_is_hit_in_front)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	struct sl_particle p;

	c.detector.type = SL_DETECTOR_SPHERE;
	c.detector.distance = 5;
	r = source_detector_rules(c, GIVEN);
	p = flown(&r, ray(0, 0, 0, 0, 0, 1));
	assert_true(p.fate == SL_FATE_hit && p.z == 4.0f && p.time == 0.4f && p.pixel == 0);
	p = flown(&r, ray(1, 0, 0, 0, 0, 1)); /* tangent */
	assert_true(p.fate == SL_FATE_hit && p.z == 5.0f && p.x == 1.0f);
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(1.000001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
	assert_int_equal(SL_FATE_missed,
		fate_of(&r, ray(0, 0, 7, 0, 0, 1))); /* the detector is at the back */
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

TEST(rectangle_includes_its_edges)
{
	struct sl_source_detector r = source_detector_rectangle(2, 1, 4, 3);

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
	/* the lower edge is part of a pixel */
	assert_int_equal(4 + 2, flown(&r, ray(0, 0, 0, 0, 0, 1)).pixel);
	assert_int_equal(4 + 1, flown(&r, ray(-0x1p-20f, 0, 0, 0, 0, 1)).pixel);
}

/* For any size and number, pixel indices are in range, monotonic and complete. */
TEST(pixels_are_in_range)
{
	const double sizes[] = {1e-18, 1e-7, 0.3, 1, 3, 1e7, 1e18};
	const uint32_t numbers[] = {1, 2, 3, 7, 64, 1000, 65535};

	for (int i = 0; i < 7 * 7; i++) {
		uint32_t n = numbers[i % 7], last = 0, steps = 4 * n;
		struct sl_source_detector r = source_detector_rectangle(sizes[i / 7], 1, n, 1);
		float half = r.half_width;

		for (uint32_t k = 0; k <= steps; k++) {
			float x = half * ((float)k * (2.0f / (float)steps) - 1.0f);
			uint32_t at = sl_source_detector_pixel(x, half, r.pixels_per_x, n);

			assert_true(at < n && at >= last && at - last <= 1);
			last = at;
		}
		assert_int_equal(n - 1, last);
		assert_int_equal(0, sl_source_detector_pixel(-half, half, r.pixels_per_x, n));
		assert_int_equal(n - 1, sl_source_detector_pixel(half, half, r.pixels_per_x, n));
		assert_int_equal(0, sl_source_detector_pixel(NAN, half, r.pixels_per_x, n));
	}
}

TEST(beam_stops_absorb)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r;
	struct sl_particle p;

	c.stop.type = SL_STOP_DISK;
	c.stop.distance = 1;
	c.stop.radius = 0.25;
	r = source_detector_rules(c, GIVEN " stop.distance stop.radius ");
	p = flown(&r, ray(0.25f, 0, 0, 0, 0, 1)); /* its rim is opaque */
	assert_true(p.fate == SL_FATE_blocked && p.z == 1.0f && p.time == 0.1f);
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(0.2500001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
	c.stop.type = SL_STOP_APERTURE;
	r = source_detector_rules(c, GIVEN " stop.distance stop.radius ");
	assert_int_equal(SL_FATE_hit, fate_of(&r, ray(0.25f, 0, 0, 0, 0, 1))); /* of the hole */
	assert_int_equal(SL_FATE_blocked, fate_of(&r, ray(0.2500001f, 0, 0, 0, 0, 1)));
	assert_int_equal(SL_FATE_blocked, fate_of(&r, ray(0, 0, 0, 1, 0, 1e-30f)));
	assert_int_equal(SL_FATE_missed, fate_of(&r, ray(0, 0, 0, 0, 0, -1)));
}

TEST(one_step_ends_a_history)
{
	struct sl_source_detector r = source_detector_rules(source_detector_plain, GIVEN);
	struct sl_particle p = sl_source_detector_generate(&r, SL_EVERY_COLUMN, 1, 0), q = p;

	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &q, 0);
	assert_memory_equal(&p, &q, sizeof(p));
	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &p, 1);
	q = p;
	sl_source_detector_advance(&r, SL_EVERY_COLUMN, 1, &q, UINT32_MAX);
	assert_memory_equal(&p, &q, sizeof(p));
}

/* All values are finite, each fate is one of the model, and hits are on the detector. */
TEST(histories_at_the_limits_of_ranges)
{
	const double sizes[] = {1e-18, 1, 1e18};

	for (int i = 0; i < 3 * 3 * 3 * 4 * 2; i++) {
		struct sl_source_detector_config c = source_detector_plain;
		struct sl_source_detector r;
		struct model_check m;

		c.source.type = i / 27 % 4;
		c.source.radius = c.source.sigma = sizes[i % 3];
		c.detector.distance = sizes[i / 3 % 3];
		c.detector.radius = sizes[i / 9 % 3];
		c.detector.type = i / 108 ? SL_DETECTOR_DISK : SL_DETECTOR_SPHERE;
		r = source_detector_make(&c, " source.radius ", &m);
		if (strstr(m.messages, "is inside") || strstr(m.messages, "reaches"))
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
