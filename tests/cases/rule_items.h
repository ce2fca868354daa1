/*
 * rule_items.h - the parameters and items of rules.h. It uses headers alone, so that a compiler can
 * build a program of it (stages/bits_hash.c).
 */
#ifndef SL_TESTS_CASES_RULE_ITEMS_H
#define SL_TESTS_CASES_RULE_ITEMS_H

#define SL_MODEL_HOST
#include <math.h>

#include "stages/models/model.h"

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
 * second clear, every other one with implicit capture; the last is a half-space. Every third one
 * has a pencil beam, and every fourth one no detector.
 */
static void make_slab(int i, struct sl_slab *r)
{
	static const double scattering[] = {0, 0.75, -0.4}, indices[] = {1, 1.1, 1.5};
	uint32_t layers = 1 + (uint32_t)i / 2 % 4;
	struct sl_slab_config c = {
		.mu_a = {.n = layers, .at = {0.7, 0, 3, 0.7}},
		.mu_s = {.n = layers, .at = {9.3, 0, 40, 9.3}},
		.g = {.n = 1, .at = {scattering[i / 9 % 3]}},
		.thickness = {.n = layers, .at = {0.1, 0.08, 0.02, 0.1}},
		.n = {.n = layers, .at = {indices[i / 3 % 3], 1.5, 1.5, 1.2}},
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
	sl_slab_make(&c, &common, r, &check);
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
		.energy = {.type = i % 3,
			.value = 3,
			.mean = 7.7,
			.lines = {.n = 3, .at = {0.1, 0.3, 0.7}}},
		.speed = 29.9,
	};

	sl_source_detector_make(&c, &common, r, &check);
}

/* Set i of parameters: spheres and tubes, from wide to narrow. */
static void make_cavity(int i, struct sl_cavity *r)
{
	const struct sl_cavity_config c = {.radius = 0.7 * (1 + i),
		.length = 3.1,
		.port = 0.01 * i,
		.reflectance = 0.97,
		.speed = 29.9,
		.type = i % 2};

	sl_cavity_make(&c, &common, r, &check);
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
		.camera = {{{0.3, -2.1, 0.9}}, {{0.1, 0.2, 0.4}}, {{0.1, 0, 1}}, 0.9, {2, {7, 5}}},
		.sky = i < 3 ? 0.4 : 0,
		.n_objects = i < 3 ? 3 : 4,
		.object = {{{{{0.2, 0.3, 0.6}}, 0.55}, {no, no}, {no, no}, i % 2, 0.9, 0.3},
			{{no, none}, {{{-1, -0.3, -0.2}}, {{-0.3, 0.4, 0.7}}}, {no, no}, i / 3, 0.7,
				0},
			{{no, none}, {no, no}, {{{0.1, 0.1, -0.4}}, {{0.1, -0.2, 1}}}, 0, 0.8, 0.1},
			{{no, none}, {{{-2.9, -3.1, -2.7}}, {{3.3, 3.5, 3.1}}}, {no, no}, 0, 0.95,
				0}},
	};

	sl_rays_make(&c, &common, r, &check);
}

/* All parameters but the fields of keys. */
static void make_world(struct sl_rule_parameters *w)
{
	memset(w, 0, sizeof(*w));
	for (int i = 0; i < SL_RULE_SLABS; i++)
		make_slab(i, &w->slab[i]);
	for (int i = 0; i < SL_RULE_DETECTORS; i++)
		make_detector(i, &w->detector[i]);
	for (int i = 0; i < SL_RULE_CAVITIES; i++)
		make_cavity(i, &w->cavity[i]);
	for (int i = 0; i < SL_RULE_SCENES; i++)
		make_scene(i, &w->scene[i]);
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
	uint64_t mixed = sl_digest_mix(i, (uint64_t)k);

	if (i < PAIRS && k < 2)
		return special[k == 0 ? i % SPECIALS : i / SPECIALS];
	if (k == 0)
		return (uint32_t)((UINT64_C(1) << 32) / n * i + (mixed & 0xff));
	return mixed >> 60 == 0 ? special[(uint32_t)mixed % SPECIALS] : (uint32_t)mixed;
}

#endif
