/* source_detector_check.h - sources and detectors that the tests of their model share. */
#ifndef SL_TESTS_SUPPORT_MODELS_SOURCE_DETECTOR_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_SOURCE_DETECTOR_CHECK_H

#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"

#include "stages/models/source_detector.h"

/* That a test counts. */
enum { N = 200000 };

/* A point, and a disk of radius 1 at z = 2. */
extern const struct sl_source_detector_config source_detector_plain;

/* The keys of source_detector_plain that tell of its detector. */
#define GIVEN " detector.type detector.distance detector.radius "

/* The rules of c, of 1000 steps at most, with those keys given; m has what is said of it. */
struct sl_source_detector source_detector_make(
	const struct sl_source_detector_config *c, const char *given, struct model_check *m);

/* The same where nothing is wrong. */
struct sl_source_detector source_detector_rules(
	struct sl_source_detector_config c, const char *given);

/* The plain source, and a rectangle in pixels. */
struct sl_source_detector source_detector_rectangle(
	double width, double height, uint64_t nx, uint64_t ny);

/* Of p's direction and another one. */
static inline double dot(const struct sl_particle *p, double x, double y, double z)
{
	return (double)p->u * x + (double)p->v * y + (double)p->w * z;
}

#endif
