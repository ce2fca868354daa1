/*
 * slab_detector.c - tests the detector of the model slab: the fate hit goes to exactly those particles
 * that leave through its face, inside its outline and within its angle.
 */
#include "tests/support/models/slab_check.h"

enum { N = 50000, SEED = 6 };

/* What a detector must accept, written in double precision. */
typedef bool accepts(double x, double y, double sine);

static bool in_annulus(double x, double y, double sine)
{
	double radius = hypot(x - 0.1, y + 0.2);

	return radius >= 0.15 && radius < 0.4 && sine <= 2;
}

static bool in_disk(double x, double y, double sine)
{
	return hypot(x - 0.1, y + 0.2) < 0.4 && sine <= 0.5 / 1.2;
}

static bool in_rectangle(double x, double y, double sine)
{
	return fabs(x - 0.1) <= 0.25 && fabs(y + 0.2) <= 0.1 && sine <= 2;
}

static struct sl_slab_config with_detector(int type, int face)
{
	struct sl_slab_config c = slab_plain;

	c.mu_a.at[0] = 0.1;
	c.n.at[0] = 1.4;
	c.n_above = c.n_below = 1.2;
	c.separate_specular = true;
	c.detector.type = type;
	c.detector.face = face;
	c.detector.center_x = 0.1;
	c.detector.center_y = -0.2;
	c.detector.radius = 0.4;
	c.detector.inner_radius = 0.15;
	c.detector.width = 0.5;
	c.detector.height = 0.2;
	return c;
}

/* Compares the fates with those of the same slab without a detector; edges may round either way. */
static void check(struct sl_slab_config c, bool limited, accepts *accept)
{
	struct sl_slab_config bare = c;
	struct model_check m;
	struct sl_slab r, s;
	int hits = 0, edge = 0;

	bare.detector.type = 0;
	s = slab_rules(bare);
	memset(&r, 0, sizeof(r));
	model_check_begin(&m, limited ? " detector.na " : "");
	sl_slab_make(&c, &(const struct sl_model_common){.max_steps = 1000}, &r, &m.check);
	for (uint64_t id = 0; id < N; id++) {
		struct sl_particle p = sl_slab_generate(&r, SL_EVERY_COLUMN, SEED, id), q = p;
		enum sl_fate face = c.detector.face ? SL_FATE_transmitted : SL_FATE_reflected;
		bool want;

		sl_slab_advance(&r, SL_EVERY_COLUMN, SEED, &p, UINT32_MAX);
		sl_slab_advance(&s, SL_EVERY_COLUMN, SEED, &q, UINT32_MAX);
		want = q.fate == face &&
		       accept((double)q.x, (double)q.y, hypot((double)q.u, (double)q.v));
		edge += want != (p.fate == SL_FATE_hit);
		hits += want;
		p.fate = p.fate == SL_FATE_hit ? (uint8_t)face : p.fate;
		assert_memory_equal(&p, &q, sizeof(p));
	}
	assert_true(hits > 100 && edge <= 2);
}

TEST(outlines_and_faces)
{
	for (int face = 0; face < 2; face++) {
		struct sl_slab_config c = with_detector(1, face);

		c.detector.na = 0.5;
		check(c, true, in_disk);
		check(with_detector(2, face), false, in_annulus);
		check(with_detector(3, face), false, in_rectangle);
	}
}

/* The inner radius of an annulus belongs to it and the outer one does not, so that annuli can adjoin. */
TEST(adjoining_annuli_share_no_particle)
{
	struct sl_slab_config c = with_detector(2, 0);
	struct sl_particle p = {0};
	struct sl_slab inner, outer;

	c.detector.center_x = c.detector.center_y = 0;
	c.detector.radius = 0.5;
	c.detector.inner_radius = 0.25;
	inner = slab_rules(c);
	c.detector.radius = 1;
	c.detector.inner_radius = 0.5;
	outer = slab_rules(c);
	for (uint32_t k = 0; k < 4000; k++) {
		p.x = 0.25f + 0.75f * (float)k / 4000;
		assert_true(sl_slab_is_detected(&inner.detector, &p) !=
			    sl_slab_is_detected(&outer.detector, &p));
	}
	p.x = 0.5f;
	assert_true(sl_slab_is_detected(&outer.detector, &p));
	p.x = 1.0f;
	assert_false(sl_slab_is_detected(&outer.detector, &p));
}

TEST(bad_detectors_are_refused)
{
	struct sl_slab_config c = with_detector(2, 1);

	slab_expect_messages(
		c, " detector.face detector.center_x detector.radius detector.inner_radius ", "");
	c.detector.inner_radius = 0.4;
	slab_expect_messages(c, " detector.width detector.radius detector.inner_radius ",
		"detector.width: has no effect here: only detector.type: rectangle uses it; remove it or choose that\n"
		"detector.inner_radius: is not below detector.radius, which is 0.4 cm: the annulus would be empty; make it smaller\n");
	c = with_detector(3, 1);
	c.thickness.at[0] = HUGE_VAL;
	slab_expect_messages(c, " detector.inner_radius detector.width ",
		"detector.inner_radius: has no effect here: only detector.type: annulus uses it; remove it or choose that\n"
		"detector.height: is missing: detector.type: rectangle needs it; add it\n"
		"detector.face: is the far side, and the slab has none: its thickness is inf; use entrance, or a finite thickness\n");
	slab_expect_messages(slab_plain,
		" detector.face detector.center_x detector.radius detector.na ",
		"detector.face: has no effect here: only a detector.type other than none uses it; remove it or choose that\n"
		"detector.center_x: has no effect here: only a detector.type other than none uses it; remove it or choose that\n"
		"detector.na: has no effect here: only a detector.type other than none uses it; remove it or choose that\n"
		"detector.radius: has no effect here: only detector.type: disk or annulus uses it; remove it or choose that\n");
}
