/* source_detector_check.c - see source_detector_check.h. */
#include "tests/support/models/source_detector_check.h"

const struct sl_source_detector_config source_detector_plain = {
	.source = {.type = SL_SOURCE_POINT, .half_angle = 3.14159265358979323846},
	.detector = {.type = SL_DETECTOR_DISK, .distance = 2, .radius = 1, .pixels = {2, {1, 1}}},
	.energy = {.type = SL_SPECTRUM_FIXED, .value = 5},
	.speed = 10,
};

struct sl_source_detector source_detector_make(
	const struct sl_source_detector_config *c, const char *given, struct model_check *m)
{
	static const struct sl_model_common common = {.max_steps = 1000};
	struct sl_source_detector r;

	memset(&r, 0, sizeof(r));
	model_check_begin(m, given);
	sl_source_detector_model.make(c, &common, &r, &m->check);
	return r;
}

struct sl_source_detector source_detector_rules(
	struct sl_source_detector_config c, const char *given)
{
	struct model_check m;
	struct sl_source_detector r = source_detector_make(&c, given, &m);

	assert_string_equal("", m.messages);
	return r;
}

struct sl_source_detector source_detector_rectangle(
	double width, double height, uint64_t nx, uint64_t ny)
{
	struct sl_source_detector_config c = source_detector_plain;

	c.detector.type = SL_DETECTOR_RECTANGLE;
	c.detector.width = width;
	c.detector.height = height;
	c.detector.pixels.at[0] = nx;
	c.detector.pixels.at[1] = ny;
	return source_detector_rules(c, " detector.width detector.height detector.pixels ");
}
