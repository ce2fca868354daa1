/* rules.c - see rules.h: the host's side, the items, and the comparison. */
#define SL_MODEL_HOST
#include <math.h>
#include <string.h>

#include "stages/models/model.h"

#include "inputs.h"
#include "rules.h"

/* --- the world -------------------------------------------------------------------------------- */

static bool none_given(void *of, const char *key)
{
	(void)of;
	(void)key;
	return false;
}

/* All parameters below are in range; complaints about missing keys are ignored. */
static void no_complaint(void *of, const char *key, const char *format, ...)
{
	(void)of;
	(void)key;
	(void)format;
}

static const struct sl_model_check check = {NULL, none_given, no_complaint};
static const struct sl_model_common common = {.max_steps = 30};

/*
 * Scattering, indices of refraction and incidence in all combinations, one to four layers, the
 * second clear, every other one with implicit capture; the last is a half-space. Every third one has
 * a pencil beam, and every fourth one no detector.
 */
static void make_slab(int i, struct sl_slab *r)
{
	static const double scattering[] = {0, 0.75, -0.4}, indices[] = {1, 1.1, 1.5};
	uint32_t layers = 1 + (uint32_t)i / 2 % 4;
	struct sl_slab_config c = {
		.mu_a = {layers, {0.7, 0, 3, 0.7}},
		.mu_s = {layers, {9.3, 0, 40, 9.3}},
		.g = {1, {scattering[i / 9 % 3]}},
		.thickness = {layers, {0.1, 0.08, 0.02, 0.1}},
		.n = {layers, {indices[i / 3 % 3], 1.5, 1.5, 1.2}},
		.n_above = 1.1,
		.n_below = 1.33,
		.angle = 0.6,
		.roulette = {.below = 0.3, .survive = 0.4},
		.incidence = i % 3,
		.absorption = i % 2,
		.source = {i % 3 ? i % 5 : 0, .radius = 0.3, .sigma = 0.2, .na = 0.7, .depth = 0.1},
		.separate_specular = i % 2,
		.detector = {i / 2 % 4, i % 2, 0.1, -0.1, .radius = 0.6, .inner_radius = 0.2,
			.width = 0.5, .height = 0.7},
		.regions = {layers, {1, 2, 3, 1}},
	};

	if (i + 1 == SL_RULE_SLABS) {
		c.mu_a.at[layers - 1] = 0.7;
		c.thickness.at[layers - 1] = HUGE_VAL;
	}
	sl_slab_model.make(&c, &common, r, &check);
}

/* Set i of parameters: sources, detectors, spectra and stops. */
static void make_detector(int i, struct sl_source_detector *r)
{
	const struct sl_source_detector_config c = {
		.source = {.type = i / 9, .radius = 0.7, .sigma = 0.6, .half_angle = 1.1},
		.detector = {.type = i / 3 % 3,
			.distance = 3.1,
			.radius = 1.7,
			.width = 2.9,
			.height = 3.3,
			.pixels = {2, {7, 13}}},
		.stop = {.type = (i + i / 9) % 3, .distance = 1.1, .radius = 0.3},
		.energy = {.type = i % 3, .value = 3, .mean = 7.7, .lines = {3, {0.1, 0.3, 0.7}}},
		.speed = 29.9,
	};

	sl_source_detector_model.make(&c, &common, r, &check);
}

/* Set i of parameters: spheres and tubes, from wide to narrow. */
static void make_cavity(int i, struct sl_cavity *r)
{
	const struct sl_cavity_config c = {
		.type = i % 2,
		.radius = 0.7 * (1 + i),
		.length = 3.1,
		.port = 0.01 * i,
		.reflectance = 0.97,
		.speed = 29.9,
	};

	sl_cavity_model.make(&c, &common, r, &check);
}

/*
 * Scenes of a sphere, a box and a tilted plane, inside a hollow box or in the open, with a camera
 * or random rays. Every other sphere is a mirror.
 */
static void make_scene(int i, struct sl_rays *r)
{
	const double none = (double)NAN;
	const struct sl_vector no = {{none, none, none}};
	const struct sl_rays_config c = {
		.source = i % 2,
		.camera = {.position = {{0.3, -2.1, 0.9}},
			.look_at = {{0.1, 0.2, 0.4}},
			.up = {{0.1, 0, 1}},
			.field_of_view = 0.9,
			.pixels = {2, {7, 5}}},
		.sky = i < 3 ? 0.4 : 0,
		.n_objects = i < 3 ? 3 : 4,
		.object = {{{{{0.2, 0.3, 0.6}}, 0.55}, {no, no}, {no, no}, i % 2, 0.9, 0.3},
			{{no, none}, {{{-1, -0.3, -0.2}}, {{-0.3, 0.4, 0.7}}}, {no, no}, i / 3, 0.7,
				0},
			{{no, none}, {no, no}, {{{0.1, 0.1, -0.4}}, {{0.1, -0.2, 1}}}, 0, 0.8, 0.1},
			{{no, none}, {{{-2.9, -3.1, -2.7}}, {{3.3, 3.5, 3.1}}}, {no, no}, 0, 0.95,
				0}},
	};

	sl_rays_model.make(&c, &common, r, &check);
}

static void make_world(struct sl_rule_parameters *w)
{
	static const struct sl_key_field fields[SL_RULE_FIELDS] = {
		{.column = SL_COLUMN_x, .bits = 1, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_y, .bits = 5, .lo = 0, .hi = 1},
		{.column = SL_COLUMN_z, .bits = 8, .lo = -1e30, .hi = 1e30},
		{.column = SL_COLUMN_u, .bits = 16, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_v, .bits = 24, .lo = -0.5, .hi = 1e-3},
		{.column = SL_COLUMN_w, .bits = 31, .lo = 0, .hi = 1e-40},
		{.column = SL_COLUMN_x, .bits = 32, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_steps, .bits = 13, .lo = 1000, .hi = 4e9},
	};

	for (int i = 0; i < SL_RULE_SLABS; i++)
		make_slab(i, &w->slab[i]);
	for (int i = 0; i < SL_RULE_DETECTORS; i++)
		make_detector(i, &w->detector[i]);
	for (int i = 0; i < SL_RULE_CAVITIES; i++)
		make_cavity(i, &w->cavity[i]);
	for (int i = 0; i < SL_RULE_SCENES; i++)
		make_scene(i, &w->scene[i]);
	for (int i = 0; i < SL_RULE_FIELDS; i++)
		w->field[i] = sl_key_rule_make(&fields[i]);
}

/* --- the items -------------------------------------------------------------------------------- */

/*
 * Bit patterns of floats at which functions change their behaviour: zeros, the smallest and largest
 * denormal and normal numbers, infinities, quiet and signalling NaNs; 1, 2/3 and 4/3, halves (ties
 * of rounding), 2^22 to 2^32, and the limits of overflow and underflow of exp. They also serve as
 * integers.
 */
static const uint32_t special[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff,
	0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f7fffff,
	0x3f800001, 0x3f2aaaaa, 0x3f2aaaab, 0x3faaaaaa, 0x3faaaaab, 0x3e800000, 0x3f000000,
	0x3f400000, 0x40200000, 0x4a7ffffd, 0x4a800000, 0x4a800001, 0x4b000000, 0x4b7fffff,
	0x4b800000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x42b17217, 0x42b17218,
	0xc2aeac50, 0xc2ce8ed0, 0xc2cff1b5, 0x7fffffff};

enum { SPECIALS = sizeof(special) / sizeof(special[0]), PAIRS = SPECIALS * SPECIALS };

/*
 * Word k of item i of n. The first items have every pair of special values in words 0 and 1. In the
 * others word 0 covers the whole range of bits, and the other words are random, sometimes special.
 */
static uint32_t word_of(uint32_t i, uint32_t n, int k)
{
	uint64_t mixed = sl_mixed((uint64_t)i * SL_RULE_IN + (uint64_t)k);

	if (i < PAIRS && k < 2)
		return special[k == 0 ? i % SPECIALS : i / SPECIALS];
	if (k == 0)
		return (uint32_t)((UINT64_C(1) << 32) / n * i + (mixed & 0xff));
	return mixed >> 60 == 0 ? special[(uint32_t)mixed % SPECIALS] : (uint32_t)mixed;
}

/* --- both sides ------------------------------------------------------------------------------- */

static void on_host(
	enum sl_rule rule, const struct sl_rule_parameters *w, const uint32_t *in, uint32_t *out)
{
	switch (rule) {
#define RULE(name, words)                   \
	case SL_RULE_##name:                \
		sl_rule_##name(w, in, out); \
		break;
		SL_RULES(RULE)
#undef RULE
	case SL_RULE_COUNT:
		break;
	}
}

static enum sl_status queue(enum sl_rule rule, const struct sl_rule_parameters *w,
	const uint32_t *in, uint32_t *out, uint32_t n)
{
	if (sl_device_is_emulated())
		return sl_queue_rule_emulated(rule, w, in, out, n, NULL);
#ifdef SL_WITH_CUDA
	return sl_queue_rule(rule, w, in, out, n, NULL);
#else
	return sl_fail(SL_NO_DEVICE, "built without CUDA");
#endif
}

/* The arrays of one comparison, in host memory and in device memory. */
struct sides {
	uint32_t n;
	struct sl_rule_parameters *world, *device_world;
	uint32_t *in, *device_in;
	uint32_t *out, *device_out;
};

static enum sl_status compare(enum sl_rule rule, const struct sides *s)
{
	static const struct {
		const char *name;
		uint32_t words;
	} facts[] = {
#define RULE(name, words) {#name, words},
		SL_RULES(RULE)
#undef RULE
	};

	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t *in = s->in + (size_t)i * SL_RULE_IN;
		const uint32_t *out = s->out + (size_t)i * SL_RULE_OUT;
		uint32_t want[SL_RULE_OUT];

		on_host(rule, s->world, in, want);
		for (uint32_t k = 0; k < facts[rule].words; k++)
			if (out[k] != want[k])
				return sl_fail(SL_CHECK_FAILED,
					"rule %s, item %u (%08x %08x %08x %08x %08x %08x %08x "
					"%08x): word %u is %08x on the device, %08x on the host",
					facts[rule].name, i, in[0], in[1], in[2], in[3], in[4],
					in[5], in[6], in[7], k, out[k], want[k]);
	}
	return SL_OK;
}

static enum sl_status run(enum sl_rule rule, const struct sides *s)
{
	size_t bytes = (size_t)s->n * SL_RULE_OUT * sizeof(uint32_t);

	SL_TRY(sl_fill(s->device_out, 0x5a, bytes, NULL));
	SL_TRY(queue(rule, s->device_world, s->device_in, s->device_out, s->n));
	SL_TRY(sl_copy(s->out, s->device_out, bytes, NULL));
	SL_TRY(sl_stream_wait(NULL));
	return compare(rule, s);
}

static enum sl_status get_sides(struct sides *s)
{
	size_t in_bytes = (size_t)s->n * SL_RULE_IN * sizeof(uint32_t);
	size_t out_bytes = (size_t)s->n * SL_RULE_OUT * sizeof(uint32_t);

	SL_TRY(sl_memory_get(SL_HOST, sizeof(*s->world), (void **)&s->world));
	SL_TRY(sl_memory_get(SL_DEVICE, sizeof(*s->world), (void **)&s->device_world));
	SL_TRY(sl_memory_get(SL_HOST, in_bytes, (void **)&s->in));
	SL_TRY(sl_memory_get(SL_DEVICE, in_bytes, (void **)&s->device_in));
	SL_TRY(sl_memory_get(SL_HOST, out_bytes, (void **)&s->out));
	SL_TRY(sl_memory_get(SL_DEVICE, out_bytes, (void **)&s->device_out));
	memset(s->world, 0, sizeof(*s->world));
	make_world(s->world);
	for (uint32_t i = 0; i < s->n; i++)
		for (int k = 0; k < SL_RULE_IN; k++)
			s->in[(size_t)i * SL_RULE_IN + (size_t)k] = word_of(i, s->n, k);
	SL_TRY(sl_copy(s->device_world, s->world, sizeof(*s->world), NULL));
	return sl_copy(s->device_in, s->in, in_bytes, NULL);
}

static void give_sides(struct sides *s)
{
	sl_memory_give(SL_HOST, s->world);
	sl_memory_give(SL_DEVICE, s->device_world);
	sl_memory_give(SL_HOST, s->in);
	sl_memory_give(SL_DEVICE, s->device_in);
	sl_memory_give(SL_HOST, s->out);
	sl_memory_give(SL_DEVICE, s->device_out);
}

enum sl_status sl_rules_agree(uint32_t n)
{
	struct sides s = {.n = n};
	enum sl_status status = get_sides(&s);

	for (int rule = 0; rule < SL_RULE_COUNT && status == SL_OK; rule++)
		status = run((enum sl_rule)rule, &s);
	give_sides(&s);
	return status;
}
