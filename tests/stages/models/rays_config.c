/*
 * rays_config.c - tests that invalid scenes and cameras are refused, and what the model declares
 * about its particles.
 */
#include "tests/support/models/rays_check.h"

static const struct sl_model *const model = &sl_rays_model;

static void check_complaint(const struct sl_rays_config *c, const char *given, const char *want)
{
	struct model_check m;

	(void)rays_make(c, given, &m);
	assert_string_equal(want, m.messages);
}

TEST(bad_scenes_are_refused)
{
	static const char given[] = " camera.position camera.look_at ";
	const struct sl_rays_config none = rays_scene(vector(0, -3, 0), vector(0, 0, 0), 2);
	struct sl_rays_config c = none;

	rays_add(&c, 0, 0, 0);
	check_complaint(&c, given,
		"objects[0]: has no shape: an object is a sphere, a box or a plane; add sphere: {center: [0, 0, 0], radius: 1 cm}\n");
	c.object[0].sphere.radius = 1;
	check_complaint(
		&c, given, "objects[0].sphere.center: is missing: a sphere needs it; add it\n");
	c.object[0].plane.normal = vector(0, 0, 1);
	check_complaint(&c, given,
		"objects[0]: has more than one shape: an object is a sphere, a box or a plane; write one object for each\n");
	c = none;
	rays_add_sphere(&c, vector(100, 0, 0), 0.001, 0, 1, 0.5);
	check_complaint(&c, given,
		"objects[0].emission: is above 0 while reflectance is 1: no ray could end at this light; reduce one of them\n"
		"objects[0].sphere.radius: is too small this far from the origin: positions have 24 significant bits; make it at least 0.0061 cm, or move the scene\n");
	c = none;
	rays_add_box(&c, vector(0, 0, 0), vector(1, -1, 1), 0, 0, 0);
	rays_add_plane(&c, vector(0, 0, 0), vector(0, 0, 0), 0, 0, 0);
	check_complaint(&c, given,
		"objects[0].box.to: is not above box.from along y: a box needs a volume, and positions have 24 significant bits; make it larger by at least 6.1e-05 cm\n"
		"objects[1].plane.normal: has length 0: it is a direction; write for example [0, 0, 1]\n");
}

TEST(bad_cameras_are_refused)
{
	static const char given[] = " camera.position camera.look_at ";
	const struct sl_rays_config none = rays_scene(vector(0, -3, 0), vector(0, 0, 0), 2);
	struct sl_rays_config c = none;

	c.camera.look_at = c.camera.position;
	check_complaint(&c, given,
		"camera.look_at: equals camera.position: the camera has no direction; change one of them\n"
		"camera.up: is parallel to the line of sight: the camera has no upward direction; write for example [0, 1, 0]\n");
	c = none;
	c.camera.up = vector(0, -7, 0);
	c.camera.pixels.n = 1;
	check_complaint(&c, given,
		"camera.pixels: must be two numbers, width and height, and has 1; write for example [256, 256]\n");
	c.camera.pixels.n = 2;
	check_complaint(&c, given,
		"camera.up: is parallel to the line of sight: the camera has no upward direction; write for example [0, 0, 1]\n");
	c.source = SL_RAYS_AT_RANDOM;
	check_complaint(&c, given,
		"camera.position: has no effect here: only source: camera uses it; remove it or choose that\n"
		"camera.look_at: has no effect here: only source: camera uses it; remove it or choose that\n"
		"source: is random, but the scene has only planes: random rays need a sphere or a box to surround; add one, or write source: camera\n");
	c = none;
	c.camera.position = vector(NONE, NONE, NONE);
	check_complaint(
		&c, " camera.look_at ", "camera.position: is missing: a camera needs it; add it\n");
}

TEST(ranges_and_constants)
{
	struct sl_rays_config c = rays_scene(vector(0, -3, 0), vector(0, 0, 0), 16);
	struct sl_image image;
	struct sl_particle values;
	struct sl_rays r;
	double lo, hi;

	rays_add_sphere(&c, vector(0, 0, 0), 1, 0, 0.5, 2);
	r = rays_rules(&c);
	assert_int_equal(model->constants(&r, &values), SL_BIT(SL_COLUMN_weight));
	assert_true(values.weight == 1.0f && fabs(r.scale - 4) < 1e-15);
	c.sky = 1;
	r = rays_rules(&c);
	assert_int_equal(model->constants(&r, &values), 0);
	assert_true(r.sky == 0.25f && r.surface[0].light == 1.0f);
	check_range(model, &r, SL_COLUMN_v, -1, 1);
	check_range(model, &r, SL_COLUMN_weight, 0, 1);
	check_range(model, &r, SL_COLUMN_pixel, 0, 255);
	check_range(model, &r, SL_COLUMN_steps, 0, 1000);
	check_range(model, &r, SL_COLUMN_collisions, 0, 1000);
	check_range(model, &r, SL_COLUMN_fate, 0, SL_FATE_lit);
	assert_false(model->range(&r, SL_COLUMN_z, &lo, &hi));
	assert_true(model->image(&r, &image) && image.in_turn && image.width == 16 &&
		    image.height == 16 && image.fate == SL_FATE_lit);
}
