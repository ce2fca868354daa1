/*
 * bits_hash.c - prints one hash over millions of results of math.h, random.h and the models.
 *
 * tests/stages/bits.c builds it with several compilers and options and expects the same number from
 * each. It is plain C without a test framework, so that a compiler alone can build it.
 */
#define SL_MODEL_HOST
#include <inttypes.h>
#include <stdio.h>

#include "stages/particle/digest.h"
#include "stages/particle/math.h"
#include "stages/models/model.h"
#include "stages/models/cavity.h"
#include "stages/models/rays.h"
#include "stages/models/slab.h"
#include "stages/models/slab_paths.h"
#include "stages/models/source_detector.h"
#include "stages/particle/random.h"

enum { N_FLIGHTS = 200000, STRIDE = 5003, N_PARTICLES = 5000 }; /* a prime: all low bits occur */

static uint64_t hash, n_hashed;

static void add(float x)
{
	hash += sl_digest_mix(n_hashed++, sl_bits(x));
}

/* Floats of every magnitude and sign, infinities and NaNs included. */
static void add_floats(void)
{
	for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STRIDE) {
		float x = sl_float((uint32_t)bits), s, c;

		sl_sincospi(x, &s, &c);
		add(sl_log(x));
		add(s);
		add(c);
	}
}

/* A random walk with absorption: results go into products and sums, as in a model. */
static void add_flights(void)
{
	float x = 0, y = 0;

	for (uint64_t id = 0; id < N_FLIGHTS; id++) {
		struct sl_words random = sl_draw(1234, id, 0);
		float length = -sl_log(sl_uniform(random.at[0])), weight, s, c;

		sl_sincospi(2 * sl_uniform(random.at[1]), &s, &c);
		weight = sl_uniform(random.at[2]);
		x = fmaf(length, c, x);
		y = fmaf(length, s, y);
		add(length * c);
		add(weight * s);
		add(x);
		add(y);
	}
}

/* All columns except those that are read from files. */
static void add_particle(const struct sl_particle *p)
{
	const sl_column_set computed =
		SL_COLUMNS_source_detector | SL_COLUMNS_slab | SL_COLUMNS_cavity | SL_COLUMNS_rays;

#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(computed, SL_COLUMN_##name))           \
		add_##type(p->name);
#define add_float(value)    add(value)
#define add_uint64_t(value) (hash += sl_digest_mix(n_hashed++, value))
#define add_int32_t(value)  add_uint64_t((uint32_t)(value))
#define add_uint32_t        add_uint64_t
#define add_uint8_t         add_uint64_t
#include "stages/particle/columns.def"
#undef COLUMN
}

static bool none_given(void *of, const char *key)
{
	(void)of;
	(void)key;
	return false;
}

static void no_complaint(void *of, const char *key, const char *format, ...)
{
	(void)of;
	(void)key;
	(void)format;
}

static const struct sl_model_check check = {NULL, none_given, no_complaint};
static const struct sl_model_common common = {.max_steps = 30};

/* Adds starts and ends of the particles of a model. c is its configuration. */
#define ADD_HISTORIES(model, c)                                                          \
	do {                                                                             \
		struct sl_##model r;                                                     \
                                                                                         \
		memset(&r, 0, sizeof(r));                                                \
		sl_##model##_make(&(c), &common, &r, &check);                            \
		for (uint64_t id = 0; id < N_PARTICLES; id++) {                          \
			struct sl_particle p =                                           \
				sl_##model##_generate(&r, SL_EVERY_COLUMN, 1234, id);    \
                                                                                         \
			add_particle(&p);                                                \
			sl_##model##_advance(&r, SL_EVERY_COLUMN, 1234, &p, UINT32_MAX); \
			add_particle(&p);                                                \
		}                                                                        \
	} while (0)

/* Paths in three layers, which refract. */
static void add_paths(int absorption)
{
	const struct sl_slab_paths_config c = {{.mu_a = {3, {0.7, 3, 0.2}},
		.mu_s = {3, {9.3, 40, 9.3}},
		.g = {1, {0.75}},
		.thickness = {3, {0.1, 0.02, 0.1}},
		.n = {3, {1.1, 1.5, 1.2}},
		.n_above = 1,
		.n_below = 1,
		.roulette = {0.3, 0.4},
		.absorption = absorption}};
	struct sl_slab_paths r;

	sl_slab_paths_make(&c, &common, &r, &check);
	for (uint64_t id = 0; id < N_PARTICLES; id++) {
		struct sl_particle p = sl_slab_paths_generate(&r, SL_EVERY_COLUMN, 1234, id);

		sl_slab_paths_advance(&r, SL_EVERY_COLUMN, 1234, &p, UINT32_MAX);
#define REGION(k) add(p.path_##k), add(p.momentum_##k), add_uint64_t(p.collisions_##k);
		SL_SLAB_EVERY_REGION(REGION)
#undef REGION
	}
}

/* One that refracts on both sides. */
static void add_slab(double g, double n, int incidence)
{
	const struct sl_slab_config c = {.mu_a = {1, {0.7}},
		.mu_s = {1, {9.3}},
		.g = {1, {g}},
		.thickness = {1, {0.35}},
		.n = {1, {n}},
		.n_above = 1.1,
		.n_below = 1.33,
		.angle = 0.6,
		.incidence = incidence};

	ADD_HISTORIES(slab, c);
}

/* Four layers, the second clear, with analogue absorption or implicit capture. */
static void add_layers(int incidence, int absorption)
{
	const struct sl_slab_config c = {.mu_a = {4, {0.7, 0, 3, 0.7}},
		.mu_s = {4, {9.3, 0, 40, 9.3}},
		.g = {4, {0.75, 0, -0.4, 0}},
		.thickness = {4, {0.1, 0.08, 0.02, 0.1}},
		.n = {4, {1.1, 1.5, 1.5, 1.2}},
		.n_above = 1.1,
		.n_below = 1.33,
		.angle = 0.6,
		.roulette = {0.3, 0.4},
		.incidence = incidence,
		.absorption = absorption};

	ADD_HISTORIES(slab, c);
}

/* Sources and detectors of a slab that refracts. */
static void add_slab_parts(int source, int detector)
{
	const struct sl_slab_config c = {.mu_a = {1, {0.7}},
		.mu_s = {1, {9.3}},
		.g = {1, {0.75}},
		.thickness = {1, {0.35}},
		.n = {1, {1.5}},
		.n_above = 1.1,
		.n_below = 1.33,
		.source = {source, .radius = 0.3, .sigma = 0.2, .na = 0.7, .depth = 0.1},
		.separate_specular = true,
		.detector = {detector, detector % 2, 0.1, -0.1, .radius = 0.6, .inner_radius = 0.2,
			.width = 0.5, .height = 0.7}};

	ADD_HISTORIES(slab, c);
}

/* Flights from a source past a stop to a detector. */
static void add_source_detector(int source, int detector, int spectrum)
{
	const struct sl_source_detector_config c = {
		.source = {source, .radius = 0.7, .sigma = 0.6, .half_angle = 1.1},
		.detector = {detector, 3.1, 1.7, 2.9, 3.3, .pixels = {2, {7, 13}}},
		.stop = {SL_STOP_DISK, .distance = 1.1, .radius = 0.3},
		.energy = {spectrum, .value = 3, .mean = 7.7, .lines = {3, {0.1, 0.3, 0.7}}},
		.speed = 29.9,
	};

	ADD_HISTORIES(source_detector, c);
}

/* Flights between walls. */
static void add_cavity(int type, double radius)
{
	const struct sl_cavity_config c = {.type = type,
		.radius = radius,
		.length = 3.1,
		.port = 0.02,
		.reflectance = 0.97,
		.speed = 29.9};

	ADD_HISTORIES(cavity, c);
}

/* A sphere, a box and a tilted plane inside a box, with a camera or random rays. */
static void add_scene(int source, int surface, double sky)
{
	const double none = (double)NAN;
	const struct sl_vector no = {{none, none, none}};
	const struct sl_rays_config c = {
		.source = source,
		.camera = {.position = {{0.3, -2.1, 0.9}},
			.look_at = {{0.1, 0.2, 0.4}},
			.up = {{0.1, 0, 1}},
			.field_of_view = 0.9,
			.pixels = {2, {7, 5}}},
		.sky = sky,
		.n_objects = sky > 0 ? 3 : 4,
		.object = {{{{{0.2, 0.3, 0.6}}, 0.55}, {no, no}, {no, no}, surface, 0.9, 0.3},
			{{no, none}, {{{-1, -0.3, -0.2}}, {{-0.3, 0.4, 0.7}}}, {no, no}, 0, 0.7, 0},
			{{no, none}, {no, no}, {{{0.1, 0.1, -0.4}}, {{0.1, -0.2, 1}}}, surface, 0.8,
				0.1},
			{{no, none}, {{{-2.9, -3.1, -2.7}}, {{3.3, 3.5, 3.1}}}, {no, no}, 0, 0.95,
				0}},
	};

	ADD_HISTORIES(rays, c);
}

static void add_models(void)
{
	const double scattering[] = {0, 0.75, -0.4}, indices[] = {1, 1.1, 1.5};

	for (int i = 0; i < 3 * 3 * 3; i++)
		add_slab(scattering[i / 9], indices[i / 3 % 3], i % 3);
	for (int i = 0; i < 4 * 3 * 3; i++)
		add_source_detector(i / 9, i / 3 % 3, i % 3);
	for (int i = 0; i < 2 * 3; i++)
		add_cavity(i % 2, 0.3 * (1 + i));
	for (int i = 0; i < 3 * 2; i++)
		add_layers(i / 2, i % 2);
	for (int i = 0; i < 5 * 4; i++)
		add_slab_parts(i / 4, i % 4);
	add_paths(SL_SLAB_ANALOGUE);
	add_paths(SL_SLAB_IMPLICIT);
	for (int i = 0; i < 2 * 2 * 2; i++)
		add_scene(i % 2, i / 2 % 2, i / 4 * 0.4);
}

int main(void)
{
	add_floats();
	add_flights();
	add_models();
	printf("hash %016" PRIx64 "\n", hash);
	return 0;
}
