/* rays_check.h - builds scenes and traces rays for the tests of the model rays. */
#ifndef SL_TESTS_SUPPORT_MODELS_RAYS_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_RAYS_CHECK_H

#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"

#include "stages/models/rays.h"

/* That a test counts. */
enum { RAYS = 200000 };

/* A number that was not given. */
#define NONE ((double)NAN)

static inline struct sl_vector vector(double x, double y, double z)
{
	return (struct sl_vector){{x, y, z}};
}

/* A scene of nothing yet, seen from a place in a direction through so many pixels. */
struct sl_rays_config rays_scene(struct sl_vector from, struct sl_vector to, uint64_t pixels);

/* Adds an object without a shape. */
struct sl_rays_object *rays_add(
	struct sl_rays_config *c, int surface, double reflectance, double emission);

void rays_add_sphere(struct sl_rays_config *c, struct sl_vector center, double radius, int surface,
	double reflectance, double emission);
void rays_add_box(struct sl_rays_config *c, struct sl_vector from, struct sl_vector to, int surface,
	double reflectance, double emission);
void rays_add_plane(struct sl_rays_config *c, struct sl_vector point, struct sl_vector normal,
	int surface, double reflectance, double emission);

/* The rules of c, of 1000 steps at most, with those keys given; m has what is said of it. */
struct sl_rays rays_make(const struct sl_rays_config *c, const char *given, struct model_check *m);

/* The rules of a configuration that has nothing wrong. */
struct sl_rays rays_rules(const struct sl_rays_config *c);

/* A ray from its start to its end, which is one of the model's. */
struct sl_particle rays_trace(const struct sl_rays *r, uint64_t seed, uint64_t id);

#endif
