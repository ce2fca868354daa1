/* source_detector_check.h - sources and detectors that the tests of their model share. */
#ifndef SL_TESTS_SUPPORT_MODELS_SOURCE_DETECTOR_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_SOURCE_DETECTOR_CHECK_H

#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"

#include "stages/models/source_detector.h"

/* Number of particles of a statistical test. */
enum { N = 200000 };

/* A point source, and a disk detector of radius 1 at z = 2. */
extern const struct sl_source_detector_config source_detector_plain;

/* Keys of the detector of source_detector_plain. */
#define GIVEN " detector.type detector.distance detector.radius "

/* Makes the rules of c with at most 1000 steps and the keys given; m records the messages. */
struct sl_source_detector source_detector_make(
	const struct sl_source_detector_config *c, const char *given, struct model_check *m);

/* The same for a configuration that must be valid. */
struct sl_source_detector source_detector_rules(
	struct sl_source_detector_config c, const char *given);

/* The plain source with a rectangular detector of nx * ny pixels. */
struct sl_source_detector source_detector_rectangle(
	double width, double height, uint64_t nx, uint64_t ny);

/* Dot product of the direction of p and (x, y, z). */
static inline double dot(const struct sl_particle *p, double x, double y, double z)
{
	return (double)p->u * x + (double)p->v * y + (double)p->w * z;
}

#endif
