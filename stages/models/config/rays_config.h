/*
 * rays_config.h - the configuration of the model rays: option table, checks, and the rules made
 * from it. Host only; rays.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_RAYS_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_RAYS_CONFIG_H

#include <stdio.h>

#include "stages/models/config/list_config.h"

/*
 * An object as configured. Keys that are not set are NaN; the one shape that is set is the object.
 */
struct sl_rays_object {
	struct {
		struct sl_vector center;
		double radius;
	} sphere;
	struct {
		struct sl_vector from, to;
	} box;
	struct {
		struct sl_vector point, normal;
	} plane;
	int surface;
	double reflectance, emission;
};

struct sl_rays_config {
	int source;
	struct sl_source_config list;
	struct {
		struct sl_vector position, look_at, up;
		double field_of_view;
		struct sl_counts pixels;
	} camera;
	double sky;
	uint64_t n_objects;
	struct sl_rays_object object[SL_RAYS_SURFACES_MAX];
};

static const char *const sl_rays_sources[] = {"camera", "random", "list", NULL};
static const char *const sl_rays_finishes[] = {"diffuse", "mirror", NULL};

#define OPTION(...) SL_OPTION(sl_rays_config, __VA_ARGS__)
#define OF_OBJECT(path, ...)                                                             \
	SL_OPTION_NAMED("objects[]." #path, sl_rays_config, object[0].path, __VA_ARGS__, \
		.stride = sizeof(struct sl_rays_object))
/* Lengths are squared in single precision. */
#define PLACE(make, path, ...) make(path, VECTOR, LENGTH, -1e15, 1e15, __VA_ARGS__)
static const struct sl_option sl_rays_options[] = {
	OPTION(source, CHOICE, NUMBER, 0, 0, .fallback = "camera", .choices = sl_rays_sources,
		.help = "where rays start: at a camera, or at random around the scene (isotropic "
			"radiance that enters a sphere about all spheres and boxes), or where particles "
			"of a list are (list.files)"),
#define OF_LIST(key, path, ...) \
	SL_OPTION_NAMED("list." #key, sl_rays_config, list.path, __VA_ARGS__),
#include "stages/models/config/list_source_options.def"
#undef OF_LIST
	PLACE(OPTION, camera.position, .help = "position of the camera: x, y, z"),
	PLACE(OPTION, camera.look_at, .help = "the point in the centre of the image"),
	OPTION(camera.up, VECTOR, NUMBER, -1e15, 1e15, .fallback = "[0, 0, 1]",
		.help = "the direction that points up in the image"),
	OPTION(camera.field_of_view, REAL, ANGLE, 1e-6, 3.1, .fallback = "40 deg",
		.help = "horizontal field of view"),
	OPTION(camera.pixels, COUNTS, NUMBER, 1, 65535, .fallback = "[256, 256]",
		.help = "width and height of the image in pixels; rays are assigned to pixels in turn"),
	OPTION(sky, REAL, NUMBER, 0, 1e30, .fallback = "0",
		.help = "radiance of rays that meet no surface"),
	SL_OPTION_NAMED("objects", sl_rays_config, n_objects, ITEMS, NUMBER, 1,
		SL_RAYS_SURFACES_MAX, .required = true,
		.help = "the surfaces of the scene, each a sphere, a box or a plane: [{sphere: "
			"{center: [0, 0, 1 cm], radius: 1 cm}, reflectance: 0.5}]"),
	PLACE(OF_OBJECT, sphere.center, .help = "centre of a sphere"),
	OF_OBJECT(sphere.radius, REAL, LENGTH, 1e-15, 1e15, .help = "radius of a sphere"),
	PLACE(OF_OBJECT, box.from, .help = "corner of a box with the smallest x, y and z"),
	PLACE(OF_OBJECT, box.to, .help = "the opposite corner of the box"),
	PLACE(OF_OBJECT, plane.point, .help = "any point of a plane"),
	OF_OBJECT(plane.normal, VECTOR, NUMBER, -1e15, 1e15,
		.help = "normal of the plane, of any length"),
	OF_OBJECT(surface, CHOICE, NUMBER, 0, 0, .fallback = "diffuse", .choices = sl_rays_finishes,
		.help = "how the surface reflects: diffuse (Lambertian) or mirror"),
	OF_OBJECT(reflectance, REAL, NUMBER, 0, 1, .fallback = "0",
		.help = "fraction of light that the surface reflects; it absorbs the rest"),
	OF_OBJECT(emission, REAL, NUMBER, 0, 1e30, .fallback = "0",
		.help = "radiance that the surface emits, in any unit; the image has the same unit"),
};
#undef PLACE
#undef OF_OBJECT
#undef OPTION

/* --- vectors ---------------------------------------------------------------------------------- */

static double sl_rays_max(double a, double b)
{
	return a > b ? a : b;
}

static double sl_rays_dot(const struct sl_vector *a, const struct sl_vector *b)
{
	return fma(a->at[0], b->at[0], fma(a->at[1], b->at[1], a->at[2] * b->at[2]));
}

/* The largest absolute coordinate of v. */
static double sl_rays_largest_coordinate(const struct sl_vector *v)
{
	return sl_rays_max(fabs(v->at[0]), sl_rays_max(fabs(v->at[1]), fabs(v->at[2])));
}

/* Scales v to length 1; returns false if v is 0. */
static bool sl_rays_normalize(struct sl_vector *v)
{
	double most = sl_rays_largest_coordinate(v), length;

	for (int k = 0; k < 3 && most > 0; k++)
		v->at[k] /= most; /* so that the square neither overflows nor vanishes */
	length = sqrt(sl_rays_dot(v, v));
	for (int k = 0; k < 3 && most > 0; k++)
		v->at[k] /= length;
	return most > 0;
}

/* The cross product of two vectors. */
static struct sl_vector sl_rays_cross(const struct sl_vector *a, const struct sl_vector *b)
{
	struct sl_vector c;

	for (int k = 0; k < 3; k++) {
		int i = (k + 1) % 3, j = (k + 2) % 3;

		c.at[k] = fma(a->at[i], b->at[j], -(a->at[j] * b->at[i]));
	}
	return c;
}

static void sl_rays_to_floats(const struct sl_vector *v, double by, float to[3])
{
	for (int k = 0; k < 3; k++)
		to[k] = (float)(v->at[k] * by);
}

/* --- surfaces --------------------------------------------------------------------------------- */

/* The key of a part of object i, "objects[3].sphere.radius"; of the object itself if of is "". */
static const char *sl_rays_object_key(uint64_t i, const char *of, char key[64])
{
	snprintf(key, 64, "objects[%d]%s%s", (int)i, *of ? "." : "", of);
	return key;
}

/* The two keys of each shape, relative to the object. A key that is not set reads as NaN. */
struct sl_rays_part {
	const char *key;
	double value; /* the first coordinate of a vector */
};

/* Sets the shape of an object. Reports a problem and returns false if the object has no shape, more
 * than one, or an incomplete one. */
static bool sl_rays_shape_of(const struct sl_rays_object *o, uint64_t i,
	const struct sl_model_check *check, enum sl_rays_shape *shape)
{
	static const char *const names[] = {
		[SL_RAYS_SPHERE] = "sphere", [SL_RAYS_BOX] = "box", [SL_RAYS_PLANE] = "plane"};
	const struct sl_rays_part parts[][2] = {
		[SL_RAYS_SPHERE] = {{"sphere.center", o->sphere.center.at[0]},
			{"sphere.radius", o->sphere.radius}},
		[SL_RAYS_BOX] = {{"box.from", o->box.from.at[0]}, {"box.to", o->box.to.at[0]}},
		[SL_RAYS_PLANE] = {{"plane.point", o->plane.point.at[0]},
			{"plane.normal", o->plane.normal.at[0]}}};
	int shapes = 0, missing = 0;
	char key[64];

	for (int s = 0; s < 3; s++)
		if (!isnan(parts[s][0].value) || !isnan(parts[s][1].value)) {
			*shape = (enum sl_rays_shape)s;
			shapes++;
		}
	if (shapes != 1) {
		check->complain(check->ctx, sl_rays_object_key(i, "", key),
			shapes ? "has more than one shape: an object is a sphere, a box or "
				 "a plane; write one object for each"
			       : "has no shape: an object is a sphere, a box or a plane; "
				 "add sphere: {center: [0, 0, 0], radius: 1 cm}");
		return false;
	}
	for (int k = 0; k < 2; k++)
		if (isnan(parts[*shape][k].value)) {
			check->complain(check->ctx,
				sl_rays_object_key(i, parts[*shape][k].key, key),
				"is missing: a %s needs it; add it", names[*shape]);
			missing++;
		}
	return missing == 0;
}

/* Makes a sphere; refuses one that single precision cannot resolve at its distance. */
static void sl_rays_make_sphere(const struct sl_rays_object *o, uint64_t i,
	struct sl_rays_surface *s, const struct sl_model_check *check)
{
	double far = sl_rays_largest_coordinate(&o->sphere.center);
	char key[64];

	if (o->sphere.radius < far * 0x1p-14)
		check->complain(check->ctx, sl_rays_object_key(i, "sphere.radius", key),
			"is too small this far from the origin: positions have 24 significant bits; make it at "
			"least %.3g cm, or move the scene",
			sl_model_at_least(far * 0x1p-14));
	sl_rays_to_floats(&o->sphere.center, 1, s->a);
	s->reach = (float)o->sphere.radius;
	s->skin = (float)((far + o->sphere.radius) * 0x1p-20);
}

/* Makes a box; refuses one without volume, or with edges too short for single precision. */
static void sl_rays_make_box(const struct sl_rays_object *o, uint64_t i, struct sl_rays_surface *s,
	const struct sl_model_check *check)
{
	double far = sl_rays_max(
		sl_rays_largest_coordinate(&o->box.from), sl_rays_largest_coordinate(&o->box.to));
	char key[64];

	for (int k = 0; k < 3; k++) {
		double size = o->box.to.at[k] - o->box.from.at[k];

		if (size < far * 0x1p-14) {
			check->complain(check->ctx, sl_rays_object_key(i, "box.to", key),
				"is %s box.from along %c: a box needs a volume, and positions have 24 "
				"significant bits; make it larger by at least %.3g cm",
				size > 0 ? "too close to" : "not above", "xyz"[k],
				sl_model_at_least(far * 0x1p-14 - size));
			break;
		}
	}
	sl_rays_to_floats(&o->box.from, 1, s->a);
	sl_rays_to_floats(&o->box.to, 1, s->b);
	s->skin = (float)(far * 0x1p-20);
}

/*
 * Makes a plane from a point and a normal: reach is its distance from the origin along the normal.
 */
static void sl_rays_make_plane(const struct sl_rays_object *o, uint64_t i,
	struct sl_rays_surface *s, const struct sl_model_check *check)
{
	struct sl_vector normal = o->plane.normal;
	char key[64];

	if (!sl_rays_normalize(&normal))
		check->complain(check->ctx, sl_rays_object_key(i, "plane.normal", key),
			"has length 0: it is a direction; write for example [0, 0, 1]");
	sl_rays_to_floats(&normal, 1, s->a);
	s->reach = (float)sl_rays_dot(&normal, &o->plane.point);
}

/* The radiance inside an enclosure whose walls are all like this surface. */
static double sl_rays_object_radiance(const struct sl_rays_object *o)
{
	return o->emission > 0 && o->reflectance < 1 ? o->emission / (1 - o->reflectance) : 0;
}

/*
 * Makes surface i. light is relative to the largest radiance of the scene (scale), so that weights
 * are at most 1.
 */
static void sl_rays_make_object(const struct sl_rays_object *o, uint64_t i, struct sl_rays *r,
	const struct sl_model_check *check)
{
	struct sl_rays_surface *s = &r->surface[i];
	enum sl_rays_shape shape;
	char key[64];

	if (o->emission > 0 && !(o->reflectance < 1))
		check->complain(check->ctx, sl_rays_object_key(i, "emission", key),
			"is above 0 while reflectance is 1: no ray could end at this light; reduce one of them");
	s->finish = o->surface;
	s->absorb = (float)(1 - o->reflectance);
	s->light = r->scale > 0 ? (float)(sl_rays_object_radiance(o) / r->scale) : 0.0f;
	if (!sl_rays_shape_of(o, i, check, &shape))
		return;
	s->shape = (int)shape;
	if (shape == SL_RAYS_SPHERE)
		sl_rays_make_sphere(o, i, s, check);
	else if (shape == SL_RAYS_BOX)
		sl_rays_make_box(o, i, s, check);
	else
		sl_rays_make_plane(o, i, s, check);
}

/* --- sources ---------------------------------------------------------------------------------- */

/*
 * Makes the camera: the position, the direction to the upper left corner of the image plane at
 * distance 1, and the steps to the next pixel to the right and to the next row.
 */
static void sl_rays_make_camera(
	const struct sl_rays_config *c, struct sl_rays *r, const struct sl_model_check *check)
{
	const struct sl_counts *pixels = &c->camera.pixels;
	struct sl_vector ahead = c->camera.look_at, right, up;
	float sine, cosine;
	double half, step;

	sl_model_require(check, isnan(c->camera.position.at[0]), "camera.position", "a camera");
	sl_model_require(check, isnan(c->camera.look_at.at[0]), "camera.look_at", "a camera");
	if (isnan(c->camera.position.at[0]) || isnan(c->camera.look_at.at[0]))
		return;
	if (pixels->n != 2) {
		check->complain(check->ctx, "camera.pixels",
			"must be two numbers, width and height, and has %u; write for example [256, 256]",
			pixels->n);
		return;
	}
	for (int k = 0; k < 3; k++)
		ahead.at[k] -= c->camera.position.at[k];
	if (!sl_rays_normalize(&ahead))
		check->complain(check->ctx, "camera.look_at",
			"equals camera.position: the camera has no direction; change one of them");
	right = sl_rays_cross(&ahead, &c->camera.up);
	if (!sl_rays_normalize(&right))
		check->complain(check->ctx, "camera.up",
			"is parallel to the line of sight: the camera has no upward direction; write for example %s",
			fabs(c->camera.up.at[2]) > 0 ? "[0, 1, 0]" : "[0, 0, 1]");
	up = sl_rays_cross(&right, &ahead);
	r->width = (uint32_t)pixels->at[0];
	r->height = (uint32_t)pixels->at[1];
	/* not tan(), whose bits differ between C libraries */
	sl_sincospi((float)(c->camera.field_of_view / 6.28318530717958647692), &sine, &cosine);
	half = (double)sine / (double)cosine;
	step = 2 * half / r->width;
	for (int k = 0; k < 3; k++)
		ahead.at[k] =
			fma(-half, right.at[k], fma(step * r->height / 2, up.at[k], ahead.at[k]));
	sl_rays_to_floats(&c->camera.position, 1, r->eye);
	sl_rays_to_floats(&ahead, 1, r->corner);
	sl_rays_to_floats(&right, step, r->right);
	sl_rays_to_floats(&up, -step, r->down);
}

/* Sets the bounding box of an object; returns false for a plane, which has none. */
static bool sl_rays_extent(
	const struct sl_rays_object *o, struct sl_vector *from, struct sl_vector *to)
{
	*from = o->box.from;
	*to = o->box.to;
	for (int k = 0; k < 3 && !isnan(o->sphere.radius); k++) {
		from->at[k] = o->sphere.center.at[k] - o->sphere.radius;
		to->at[k] = o->sphere.center.at[k] + o->sphere.radius;
	}
	return !isnan(from->at[0]);
}

/* The distance from a point to the farthest point of an object. */
static double sl_rays_farthest_distance(const struct sl_rays_object *o,
	const struct sl_vector *from, const struct sl_vector *to, const struct sl_vector *point)
{
	bool round = !isnan(o->sphere.radius);
	struct sl_vector off;

	for (int k = 0; k < 3; k++)
		off.at[k] =
			round ? fabs(o->sphere.center.at[k] - point->at[k])
			      : sl_rays_max(to->at[k] - point->at[k], point->at[k] - from->at[k]);
	return sqrt(sl_rays_dot(&off, &off)) + (round ? o->sphere.radius : 0);
}

/* The sphere about all spheres and boxes, centred on their common bounding box. It is 0.1 % larger
 * than necessary, so that rounding leaves nothing outside. */
static void sl_rays_make_around(
	const struct sl_rays_config *c, struct sl_rays *r, const struct sl_model_check *check)
{
	struct sl_vector from, to, least = {{0}}, most = {{0}}, middle = {{0}};
	double radius = 0;
	bool any = false;

	for (uint64_t i = 0; i < c->n_objects; i++) {
		if (!sl_rays_extent(&c->object[i], &from, &to))
			continue;
		for (int k = 0; k < 3; k++) {
			least.at[k] = any ? -sl_rays_max(-least.at[k], -from.at[k]) : from.at[k];
			most.at[k] = any ? sl_rays_max(most.at[k], to.at[k]) : to.at[k];
			middle.at[k] = (least.at[k] + most.at[k]) / 2;
		}
		any = true;
	}
	if (!any)
		check->complain(check->ctx, "source",
			"is random, but the scene has only planes: random rays need a sphere or a "
			"box to surround; add one, or write source: camera");
	for (uint64_t i = 0; any && i < c->n_objects; i++)
		if (sl_rays_extent(&c->object[i], &from, &to))
			radius = sl_rays_max(radius,
				sl_rays_farthest_distance(&c->object[i], &from, &to, &middle));
	sl_rays_to_floats(&middle, 1, r->eye);
	r->radius = (float)(radius * 1.001);
	r->width = r->height = 1;
}

static void sl_rays_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	static const char *const of_camera[] = {"camera.position", "camera.look_at", "camera.up",
		"camera.field_of_view", "camera.pixels"};
	const struct sl_rays_config *c = (const struct sl_rays_config *)config;
	struct sl_rays *r = (struct sl_rays *)rules;
	bool camera = c->source == SL_RAYS_FROM_CAMERA;

	r->scale = c->sky;
	for (uint64_t i = 0; i < c->n_objects; i++)
		r->scale = sl_rays_max(r->scale, sl_rays_object_radiance(&c->object[i]));
	r->surfaces = (uint32_t)c->n_objects;
	for (uint64_t i = 0; i < c->n_objects; i++)
		sl_rays_make_object(&c->object[i], i, r, check);
	r->source = c->source;
	r->sky = r->scale > 0 ? (float)(c->sky / r->scale) : 0.0f;
	r->slowness = (float)(1 / 29.9792458); /* of light */
	r->max_steps = (uint32_t)common->max_steps;
	for (int k = 0; k < 5; k++)
		sl_model_refuse_unused(check, camera, of_camera[k], "source: camera");
	sl_model_require_only_if(
		check, c->source == SL_RAYS_FROM_LIST, "list.files", "source: list");
	r->data = (struct sl_rules_data){0};
	sl_source_make(&c->list, "list", 0, &r->data, check);
	if (camera)
		sl_rays_make_camera(c, r, check);
	else if (c->source == SL_RAYS_AT_RANDOM)
		sl_rays_make_around(c, r, check);
	else
		r->width = r->height = 1;
}

/* --- the model -------------------------------------------------------------------------------- */

/* x, y, z and time are unbounded, because planes are. */
static bool sl_rays_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_rays *r = (const struct sl_rays *)rules;

	if (column != SL_COLUMN_pixel)
		return sl_model_common_range(column, r->max_steps, SL_FATES_rays, lo, hi);
	*lo = 0;
	*hi = (double)r->width * r->height - 1;
	return true;
}

/* If all lights of the scene have the same radiance, all weights are 1. */
static sl_column_set sl_rays_constants(const void *rules, struct sl_particle *values)
{
	const struct sl_rays *r = (const struct sl_rays *)rules;
	bool one = !(r->sky > 0.0f && r->sky < 1.0f);

	for (uint32_t i = 0; i < r->surfaces; i++)
		one = one && !(r->surface[i].light > 0.0f && r->surface[i].light < 1.0f);
	values->weight = 1.0f;
	return one ? SL_BIT(SL_COLUMN_weight) : 0;
}

static bool sl_rays_image(const void *rules, struct sl_image *p)
{
	const struct sl_rays *r = (const struct sl_rays *)rules;

	*p = (struct sl_image){.what = "radiance",
		.width = r->width,
		.height = r->height,
		.scale = r->scale,
		.fate = SL_FATE_lit,
		.in_turn = true};
	return r->source == SL_RAYS_FROM_CAMERA;
}

/* The records of a list. */
static struct sl_rules_data *sl_rays_data(void *rules)
{
	struct sl_rays *r = (struct sl_rays *)rules;

	return r->data.bytes > 0 ? &r->data : NULL;
}

SL_MODEL(rays,
	.help = "rays of a camera, traced backwards through spheres, boxes and planes to lights",
	.species = "rays", .steps = true, .image = sl_rays_image, .data = sl_rays_data,
	.source = offsetof(struct sl_rays_config, list), .source_key = "list");

#endif
