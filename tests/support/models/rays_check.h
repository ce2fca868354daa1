/* rays_check.h - builds scenes and traces rays for the tests of the model rays. */
#ifndef SL_TESTS_SUPPORT_MODELS_RAYS_CHECK_H
#define SL_TESTS_SUPPORT_MODELS_RAYS_CHECK_H

#define SL_MODEL_HOST
#include "tests/support/basic/check.h"
#include "tests/support/models/model_check.h"

#include "stages/models/rays.h"

/* Number of rays of a statistical test. */
enum { RAYS = 200000 };

#define NONE ((double)NAN)

static inline struct sl_vector vector(double x, double y, double z)
{
	return (struct sl_vector){{x, y, z}};
}

/* Returns an empty scene with a camera at from that looks at to, with pixels * pixels pixels. */
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

/* Makes the rules of c with at most 1000 steps and the keys given; m records the messages. */
struct sl_rays rays_make(const struct sl_rays_config *c, const char *given, struct model_check *m);

/* Makes the rules of a valid configuration. */
struct sl_rays rays_rules(const struct sl_rays_config *c);

/* Traces a ray to its end; fails unless its fate is one of the model. */
struct sl_particle rays_trace(const struct sl_rays *r, uint64_t seed, uint64_t id);

#endif
