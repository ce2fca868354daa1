/*
 * source_detector_config.c - tests keys without effect, missing keys, invalid values, and what the
 * model declares about its particles.
 */
#include "tests/support/models/source_detector_check.h"

static const struct sl_model *const model = &sl_source_detector_model;

static void check_complaint(
	const struct sl_source_detector_config *c, const char *given, const char *want)
{
	struct model_check m;

	(void)source_detector_make(c, given, &m);
	if (!strstr(m.messages, want) || m.n != 1)
		fail_msg("expected one message, '%s', but got %d: '%s'", want, m.n, m.messages);
}

TEST(keys_without_effect_are_refused)
{
	static const char *const cases[][2] = {
		{" source.radius ",
			"source.radius: has no effect here: only a disk or a sphere uses it"},
		{" source.sigma ", "source.sigma: has no effect here: only a beam uses it"},
		{" detector.width ",
			"detector.width: has no effect here: only a rectangle uses it"},
		{" detector.height ",
			"detector.height: has no effect here: only a rectangle uses it"},
		{" stop.radius ", "stop.radius: has no effect here: only a stop uses it"},
		{" stop.distance ", "stop.distance: has no effect here: only a stop uses it"},
		{" energy.mean ",
			"energy.mean: has no effect here: only type: exponential uses it"},
		{" energy.lines ", "energy.lines: has no effect here: only type: lines uses it"},
		{" energy.intensities ",
			"energy.intensities: has no effect here: only type: lines uses it"},
	};
	struct sl_source_detector_config c = source_detector_plain;
	char given[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(given, GIVEN);
		strcat(given, cases[i][0]);
		check_complaint(&source_detector_plain, given, cases[i][1]);
	}
	c.source.type = SL_SOURCE_BEAM;
	check_complaint(&c, GIVEN " source.half_angle ",
		"source.half_angle: has no effect here: only a point source uses it");
	c = source_detector_plain;
	c.detector.type = SL_DETECTOR_SPHERE;
	check_complaint(&c, GIVEN " detector.pixels ",
		"detector.pixels: has no effect here: only a rectangle or a disk uses it");
}

TEST(missing_keys_are_refused)
{
	struct sl_source_detector_config c = source_detector_plain;

	check_complaint(&c, "", "detector.radius: is missing: a sphere or a disk needs it; add it");
	c.source.type = SL_SOURCE_DISK;
	check_complaint(
		&c, GIVEN, "source.radius: is missing: a disk or a sphere needs it; add it");
	c = source_detector_plain;
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	check_complaint(&c, GIVEN, "energy.mean: is missing: type: exponential needs it");
	c.energy.type = SL_SPECTRUM_LINES;
	check_complaint(&c, GIVEN, "energy.lines: is missing: type: lines needs it");
	c = source_detector_plain;
	c.stop.type = SL_STOP_DISK;
	c.stop.distance = 1;
	check_complaint(&c, GIVEN " stop.distance ", "stop.radius: is missing: a stop needs it");
	c = source_detector_plain;
	c.detector.pixels.n = 1;
	check_complaint(&c, GIVEN,
		"detector.pixels: must be two numbers, one along x and one along y, and has 1");
}

TEST(invalid_values_are_refused)
{
	struct sl_source_detector_config c = source_detector_plain;

	c.source.type = SL_SOURCE_SPHERE;
	c.source.radius = 2.5;
	check_complaint(&c, GIVEN " source.radius ", "detector.distance: is inside the source");
	c = source_detector_plain;
	c.detector.type = SL_DETECTOR_SPHERE;
	c.detector.radius = 2;
	check_complaint(&c, GIVEN, "detector.radius: reaches the origin");
	c = source_detector_plain;
	c.stop.type = SL_STOP_APERTURE;
	c.stop.distance = 2;
	c.stop.radius = 1;
	check_complaint(&c, GIVEN " stop.distance stop.radius ",
		"stop.distance: is not between source and detector; give a value from 0 cm to 2 cm");
	c = source_detector_plain;
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = c.energy.intensities = (struct sl_reals){2, {0, 0}};
	check_complaint(&c, GIVEN " energy.lines energy.intensities ",
		"energy.intensities: are all 0: no energy could be sampled");
	c.energy.intensities = (struct sl_reals){1, {1}};
	check_complaint(&c, GIVEN " energy.lines energy.intensities ",
		"energy.intensities: has 1 numbers for 2 lines");
}

TEST(ranges_and_constants)
{
	struct sl_source_detector_config c = source_detector_plain;
	struct sl_source_detector r = source_detector_rectangle(1, 1, 64, 32);
	struct sl_particle values = {0};
	double lo, hi;

	assert_true(model->range(&r, SL_COLUMN_pixel, &lo, &hi) && lo == 0 && hi == 2047);
	assert_true(model->range(&r, SL_COLUMN_u, &lo, &hi) && lo == -1 && hi == 1);
	assert_true(model->range(&r, SL_COLUMN_energy, &lo, &hi) && lo == 0 && hi == 5);
	assert_false(model->range(&r, SL_COLUMN_time, &lo, &hi));
	assert_int_equal(
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_energy), model->constants(&r, &values));
	assert_true(values.weight == 1.0f && values.energy == 5.0f);
	c.energy.type = SL_SPECTRUM_LINES;
	c.energy.lines = (struct sl_reals){3, {1, 9, 2}};
	r = source_detector_rules(c, GIVEN " energy.lines ");
	assert_true(model->range(&r, SL_COLUMN_energy, &lo, &hi) && lo == 0 && hi == 9);
	assert_int_equal(SL_BIT(SL_COLUMN_weight), model->constants(&r, &values));
	c.energy.type = SL_SPECTRUM_EXPONENTIAL;
	c.energy.lines.n = 0;
	c.energy.mean = 1;
	r = source_detector_rules(c, GIVEN " energy.mean ");
	assert_false(model->range(&r, SL_COLUMN_energy, &lo, &hi));
}

/* Squares of lengths, and their sums, must be finite in single precision. */
TEST(lengths_whose_square_overflows_are_refused)
{
	int n = 0;

	for (size_t i = 0; i < model->n_options; i++)
		if (model->options[i].dimension == SL_DIM_LENGTH) {
			double lo = model->options[i].lo, hi = model->options[i].hi;

			assert_true(hi * hi < 0x1p124 && (lo == 0 || lo * lo > 0x1p-126));
			n++;
		}
	assert_int_equal(8, n);
}
