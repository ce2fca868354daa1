/*
 * slab.c - tests the rules of the slab at surfaces and boundaries of layers, its sources and its
 * detector. What holds for every model is in histories.c.
 */
#define SL_MODEL_HOST
#include <stdio.h>

#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

#include "stages/models/slab.h"

enum { N = 25000 };

#define PLAIN "mu_a: 1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 1 cm"
#define STACK                                                                   \
	"mu_a: [1 /cm, 0, 2 /cm], mu_s: [9 /cm, 0, 38 /cm], g: [0.5, 0.9, 0], " \
	"n: [1.5, 1, 1.4], n_above: 1.1, n_below: 1.2, thickness: [0.1 cm, 0.05 cm, 0.2 cm]"

/* --- the rules -------------------------------------------------------------------------------- */

/* Layers that differ in one property stay separate. */
TEST(layers_are_adjacent)
{
	static const char *const media[] = {"mu_a: [1 /cm, 1.5 /cm], mu_s: 9 /cm",
		"mu_a: 1 /cm, mu_s: [9 /cm, 9.5 /cm]", "mu_a: 1 /cm, mu_s: 9 /cm, g: [0.5, 0.6]",
		"mu_a: 1 /cm, mu_s: 9 /cm, n: [1, 1.5]"};
	static const float want[3][6] = {{0, 0.1f, 1.1f, 1.5f, 1, 0.1f},
		{0.1f, (float)(0.1 + 0.05), 1.5f, 1, 1.4f, 0},
		{(float)(0.1 + 0.05), (float)(0.1 + 0.05 + 0.2), 1, 1.4f, 1.2f, 0.05f}};
	struct sl_slab r = RULES(slab, STACK);

	assert_int_equal(3, r.layers);
	for (int k = 0; k < 3; k++) {
		const struct sl_slab_layer *l = &r.layer[k];
		const float found[] = {l->top, l->bottom, l->n_above, l->n, l->n_below, l->absorb};

		assert_memory_equal(want[k], found, sizeof(found));
		assert_true(k == 0 ? l->first == l->top : l->first > l->top);
		assert_true(k == 2 ? l->last == l->bottom : l->last < l->bottom);
	}
	for (int k = 0; k < 4; k++)
		assert_int_equal(2, RULES(slab, "%s, thickness: [1 cm, 1 cm]", media[k]).layers);
}

static uint32_t layer_at(const struct sl_slab *r, float z, float w)
{
	const struct sl_particle p = {.z = z, .w = w};

	return sl_slab_medium_at(r, UINT32_MAX, &p);
}

/* Inside a layer the depth decides; on a boundary, the layer that the particle flies into. */
TEST(depth_and_direction_determine_the_layer)
{
	struct sl_slab r = RULES(slab, STACK);
	const struct sl_slab_layer *l = r.layer;

	for (uint32_t i = 0; i < 3; i++)
		for (int k = -1; k <= 1; k++) {
			float w = (float)k;

			assert_int_equal(i, layer_at(&r, l[i].first, w));
			assert_int_equal(i, layer_at(&r, l[i].last, w));
			assert_int_equal(k < 0 && i > 0 ? i - 1 : i, layer_at(&r, l[i].top, w));
			assert_int_equal(k < 0 || i == 2 ? i : i + 1, layer_at(&r, l[i].bottom, w));
		}
}

/* --- flights ---------------------------------------------------------------------------------- */

/* The word of a uniform number; 0 is the smallest, which reflects if anything does. */
#define LEAST 0x1p-33f

/*
 * At each surface: reflected if the number is at most Fresnel's reflectance of the two media, else
 * refracted or out.
 */
TEST(boundaries_reflect_or_refract)
{
	float t;
	const float fresnel = sl_fresnel(1.5f, 1.0f, 0.8f, &t);
	const struct {
		const char *slab;
		uint32_t layer;
		float z, u, w, uniform;
		uint32_t layer_after;
		enum sl_fate fate;
		float z_after, u_after, w_after, time; /* time: length times index */
	} rows[] = {
		{PLAIN ", n: 1.5, n_above: 1.5", 0, 0, 0.6f, -0.8f, LEAST, 0, SL_FATE_reflected, 0,
			0.6f, -0.8f, 0},
		{PLAIN ", n: 1.5", 0, 0, 0.6f, -0.8f, LEAST, 0, SL_FATE_alive, 0, 0.6f, 0.8f, 0},
		{PLAIN ", n: 1.5", 0, 0.4f, 0.6f, -0.8f, 1, 0, SL_FATE_reflected, 0, 0.9f,
			-0.43588989f, 0.75f},
		{PLAIN ", n: 1.5", 0, 0, 0.8f, 0.6f, 1, 0, SL_FATE_alive, 1, 0.8f, -0.6f, 2.5f},
		{STACK, 0, 0.05f, 0.6f, 0.8f, LEAST, 0, SL_FATE_alive, 0.1f, 0.6f, -0.8f, 0.09375f},
		{STACK, 0, 0.05f, 0.6f, 0.8f, fresnel, 0, SL_FATE_alive, 0.1f, 0.6f, -0.8f,
			0.09375f},
		{STACK, 0, 0.05f, 0.6f, 0.8f, nextafterf(fresnel, 1), 1, SL_FATE_alive, 0.1f, 0.9f,
			0.43588989f, 0.09375f},
		{STACK, 0, 0.05f, 0.6f, 0.8f, 1, 1, SL_FATE_alive, 0.1f, 0.9f, 0.43588989f,
			0.09375f},
		{STACK, 1, 0.12f, 0.9f, -0.43588989f, 1, 0, SL_FATE_alive, 0.1f, 0.6f, -0.8f,
			0.04588315f},
		{STACK, 0, 0.0999f, 0.8f, 0.6f, 1, 0, SL_FATE_alive, 0.1f, 0.8f, -0.6f, 0.00025f},
		{STACK, 2, 0.3f, 0, 1, 1, 2, SL_FATE_transmitted, 0.35f, 0, 1, 0.07f},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_slab r = RULES(slab, "%s", rows[i].slab);
		struct sl_particle p = {.u = rows[i].u, .w = rows[i].w, .z = rows[i].z};
		float length;
		uint32_t layer = sl_slab_cross_boundary(
			&r, r.layers, rows[i].layer, &p, p.w < 0.0f, rows[i].uniform, &length);

		if (layer != rows[i].layer_after || p.fate != rows[i].fate ||
			fabsf(p.u - rows[i].u_after) > 1e-6f ||
			fabsf(p.z - rows[i].z_after) > 1e-8f || p.v != 0.0f ||
			fabsf(p.w - rows[i].w_after) > 1e-6f ||
			fabsf(p.x - rows[i].u * length) > 1e-6f ||
			fabs((double)p.time - (double)rows[i].time / 29.9792458) > 1e-8)
			fail_msg("row %zu: layer %u, fate %d, u %g, w %g, z %g, time %g", i, layer,
				p.fate, (double)p.u, (double)p.w, (double)p.z,
				(double)p.time * 29.9792458);
	}
}

/*
 * From surfaces, also of a half-space, and from a boundary, parallel to it or almost. A flight that
 * rounding makes 0 does not change the layer.
 */
TEST(grazing_flights_keep_their_layer)
{
	static const float cosines[] = {0, -0.0f, 1e-30f, -1e-30f, 0x1p-149f, -0x1p-149f, 1e-12f,
		-1e-12f, 1e-7f, -1e-7f, 1, -1};
	static const char *const slabs[] = {"mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1e-30 cm", PLAIN,
		"mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1e30 cm",
		"mu_a: 1 /cm, mu_s: 9 /cm, thickness: inf",
		"mu_a: [1 /cm, 0, 2 /cm], mu_s: [9 /cm, 100 /mm, 38 /cm], thickness: [1 mm, 0.5 mm, 2 mm]"};

	for (int i = 0; i < 5 * 12 * 3; i++) {
		struct sl_recipe recipe = recipe_of("slab: {%s}", slabs[i % 5]);
		const struct sl_slab *r = RULES_IN(slab, &recipe);
		float bottom = r->layer[r->layers - 1].bottom, w = cosines[i / 5 % 12];
		bool inside = i / 60 == 2 && r->layers > 1;

		for (uint64_t id = 0; id < 250; id++) {
			struct sl_particle p = {
				.id = id, .u = 1.0f - fabsf(w), .w = w, .weight = 1};
			uint32_t layer;

			p.z = inside                              ? r->layer[1].top
			      : i / 60 == 1 && bottom < HUGE_VALF ? bottom
			                                          : 0;
			layer = layer_at(r, p.z, w);
			assert_true(!inside || layer == (w < 0.0f ? 0 : 1));
			advance(&recipe, &p, 1);
			if (inside && fabsf(w) < 1)
				assert_true(layer == layer_at(r, p.z, p.w) &&
					    (p.collisions == 0 || p.z != r->layer[1].top));
			for (; p.fate == SL_FATE_alive; advance(&recipe, &p, 1))
				assert_true(p.z >= 0.0f && p.z <= bottom);
			assert_true(is_finite(&p) && fabs(excess_length(&p)) < 1e-5);
			assert_true(p.z >= 0.0f && p.z <= bottom && p.time >= 0.0f);
		}
	}
}

/* The guard admits a layer of 2^8 floats, which half a float would make 0.2 % thicker. */
TEST(a_thin_layer_at_a_great_depth_has_its_optical_depth)
{
	struct sl_recipe r =
		recipe_of("slab: {mu_a: [0, 62.5 /cm], mu_s: 0, thickness: [1000 cm, 0.016 cm]}");
	int differ = 0;

	for (uint64_t id = 0; id < 4 * N; id++) {
		struct sl_particle p = {.id = id, .z = 1000, .w = 1, .weight = 1};
		bool crosses = -log((double)sl_uniform(sl_draw(r.seed, id, 1).at[0])) > 1;

		advance(&r, &p, 1);
		differ += crosses != (p.fate == SL_FATE_transmitted);
	}
	assert_true(differ <= 1);
}

/* --- sources ---------------------------------------------------------------------------------- */

/* A width changes where particles start, but not how: the random words of a flight are the same. */
TEST(a_width_moves_the_histories_of_a_pencil)
{
	struct sl_recipe pencil = recipe_of("slab: {" PLAIN "}");
	struct sl_recipe disk = recipe_of("slab: {" PLAIN ", source: {type: disk, radius: 2 cm}}");

	for (uint64_t id = 0; id < 2000; id++) {
		struct sl_particle p = end_of(&pencil, id), q = end_of(&disk, id);
		struct sl_particle start = start_of(&disk, id);

		assert_true(p.fate == q.fate && p.steps == q.steps && p.z == q.z && p.u == q.u);
		assert_true(
			fabsf(q.x - p.x - start.x) < 1e-5f && fabsf(q.y - p.y - start.y) < 1e-5f);
	}
}

/* --- fates that are counted apart ------------------------------------------------------------- */

/* What a detector must accept, written in double precision. */
static bool in_disk(double x, double y, double sine)
{
	return hypot(x - 0.1, y + 0.2) < 0.4 && sine <= 0.5 / 1.2;
}

static bool in_annulus(double x, double y, double sine)
{
	double radius = hypot(x - 0.1, y + 0.2);

	return radius >= 0.15 && radius < 0.4 && sine <= 2;
}

static bool in_rectangle(double x, double y, double sine)
{
	return fabs(x - 0.1) <= 0.25 && fabs(y + 0.2) <= 0.1 && sine <= 2;
}

/*
 * Compares the fates with those of the same slab that has no detector; edges may round either way.
 */
TEST(detectors_have_their_outlines_and_faces)
{
	static const struct {
		const char *outline;
		bool (*accepts)(double x, double y, double sine);
	} rows[] = {{"disk, radius: 0.4 cm, na: 0.5", in_disk},
		{"annulus, radius: 0.4 cm, inner_radius: 0.15 cm", in_annulus},
		{"rectangle, width: 0.5 cm, height: 0.2 cm", in_rectangle}};
	static const char slab[] = "slab: {mu_a: 0.1 /cm, mu_s: 9 /cm, g: 0.5, thickness: 1 cm, n: "
				   "1.4, n_above: 1.2, n_below: 1.2%s}";
	struct sl_recipe s = recipe_of(slab, "");

	for (int i = 0; i < 3 * 2; i++) {
		enum sl_fate face = i % 2 ? SL_FATE_transmitted : SL_FATE_reflected;
		char detector[256];
		int hits = 0, edge = 0;
		struct sl_recipe r;

		snprintf(detector, sizeof(detector),
			", separate_specular: true, detector: {face: %s, center_x: 0.1 cm, "
			"center_y: -0.2 cm, type: %s}",
			i % 2 ? "far" : "entrance", rows[i / 2].outline);
		r = recipe_of(slab, detector);
		for (uint64_t id = 0; id < N; id++) {
			struct sl_particle p = end_of(&r, id), q = end_of(&s, id);
			bool want = q.fate == face && q.steps > 0 &&
			            rows[i / 2].accepts((double)q.x, (double)q.y,
					    hypot((double)q.u, (double)q.v));

			edge += want != (p.fate == SL_FATE_hit);
			hits += want;
			assert_int_equal(p.fate == SL_FATE_specular,
				q.fate == SL_FATE_reflected && q.steps == 0);
			if (p.fate == SL_FATE_hit || p.fate == SL_FATE_specular)
				p.fate = q.fate;
			assert_memory_equal(&p, &q, sizeof(p));
		}
		assert_true(hits > 50 && edge <= 2);
	}
}

/*
 * The inner radius of an annulus belongs to it and the outer one does not, so that annuli can
 * adjoin.
 */
TEST(adjoining_annuli_share_no_particle)
{
	struct sl_slab inner = RULES(slab, PLAIN ", detector: {type: annulus, radius: 0.5 cm, "
						 "inner_radius: 0.25 cm}");
	struct sl_slab outer = RULES(slab, PLAIN ", detector: {type: annulus, radius: 1 cm, "
						 "inner_radius: 0.5 cm}");
	struct sl_particle p = {.x = 0.5f};

	assert_true(sl_slab_is_detected(&outer.detector, &p));
	for (uint32_t k = 0; k < 4000; k++) {
		p.x = 0.25f + 0.75f * (float)k / 4000;
		assert_true(sl_slab_is_detected(&inner.detector, &p) !=
			    sl_slab_is_detected(&outer.detector, &p));
	}
	p.x = 1.0f;
	assert_false(sl_slab_is_detected(&outer.detector, &p));
}
