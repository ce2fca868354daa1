/* rays_check.c - see rays_check.h. */
#include "tests/support/models/rays_check.h"

#define NO                               \
	{                                \
		{                        \
			NONE, NONE, NONE \
		}                        \
	}

struct sl_rays_config rays_scene(struct sl_vector from, struct sl_vector to, uint64_t pixels)
{
	return (struct sl_rays_config){.camera = {.position = from,
					       .look_at = to,
					       .up = vector(0.1, 0.2, 1),
					       .field_of_view = 0.7,
					       .pixels = {2, {pixels, pixels}}}};
}

struct sl_rays_object *rays_add(
	struct sl_rays_config *c, int surface, double reflectance, double emission)
{
	static const struct sl_rays_object nothing = {{NO, NONE}, {NO, NO}, {NO, NO}, 0, 0, 0};
	struct sl_rays_object *o = &c->object[c->n_objects++];

	*o = nothing;
	o->surface = surface;
	o->reflectance = reflectance;
	o->emission = emission;
	return o;
}

void rays_add_sphere(struct sl_rays_config *c, struct sl_vector center, double radius, int surface,
	double reflectance, double emission)
{
	struct sl_rays_object *o = rays_add(c, surface, reflectance, emission);

	o->sphere.center = center;
	o->sphere.radius = radius;
}

void rays_add_box(struct sl_rays_config *c, struct sl_vector from, struct sl_vector to, int surface,
	double reflectance, double emission)
{
	struct sl_rays_object *o = rays_add(c, surface, reflectance, emission);

	o->box.from = from;
	o->box.to = to;
}

void rays_add_plane(struct sl_rays_config *c, struct sl_vector point, struct sl_vector normal,
	int surface, double reflectance, double emission)
{
	struct sl_rays_object *o = rays_add(c, surface, reflectance, emission);

	o->plane.point = point;
	o->plane.normal = normal;
}

struct sl_rays rays_make(const struct sl_rays_config *c, const char *given, struct model_check *m)
{
	static const struct sl_model_common common = {.max_steps = 1000};
	struct sl_rays r;

	memset(&r, 0, sizeof(r));
	model_check_begin(m, given);
	sl_rays_model.make(c, &common, &r, &m->check);
	return r;
}

struct sl_rays rays_rules(const struct sl_rays_config *c)
{
	struct model_check m;
	struct sl_rays r = rays_make(
		c, c->source == SL_RAYS_FROM_CAMERA ? " camera.position camera.look_at " : "", &m);

	assert_string_equal("", m.messages);
	return r;
}

struct sl_particle rays_trace(const struct sl_rays *r, uint64_t seed, uint64_t id)
{
	struct sl_particle p = sl_rays_generate(r, SL_EVERY_COLUMN, seed, id);

	sl_rays_advance(r, SL_EVERY_COLUMN, seed, &p, UINT32_MAX);
	assert_true(p.fate != SL_FATE_alive && SL_HAS(SL_FATES_rays, p.fate));
	assert_true(p.weight >= 0.0f && p.weight <= 1.0f);
	return p;
}
