/*
 * slab.h - particles in a stack of infinite plane layers that absorb, scatter and refract.
 *
 * The slab fills 0 < z < thickness; particles enter at the origin through z = 0. Each step is one
 * flight whose length is exponentially distributed with mean 1/mu_t. It ends in a collision
 * (absorption with probability mu_a/mu_t, else scattering) or at the boundary of the layer (reflection
 * with Fresnel's probability for unpolarised light, else refraction into the next layer or out of the
 * slab). At a boundary the rest of the flight is drawn again, which is exact because the exponential
 * distribution has no memory.
 *
 * Adjacent layers of the same medium are merged when the rules are made. Splitting a layer in two
 * therefore changes no bit of any history, if the thicknesses add up to the same float.
 *
 * The layer of a particle follows from its depth, and on a boundary from its direction. Only flights
 * that were cut at a boundary end on it: collisions are kept one float away from inner boundaries. A
 * clear layer (mu_t = 0) has a mean free path of 1e30 cm and scatters only forward.
 *
 * With analogue absorption a collision absorbs whole particles, and weights stay 1. Implicit capture
 * removes the fraction mu_a/mu_t of the weight at each collision. A particle whose weight is below a
 * threshold plays Russian roulette: with probability survive its weight is multiplied by 1/survive,
 * otherwise it ends with weight 0. The expected sum of weights is unchanged, and the weight missing
 * from the number of particles has been absorbed.
 *
 * Each step draws one Philox block: block 0 for the start, block 1 + steps for the next flight.
 * (Wang, Jacques, Zheng, MCML, Comput. Meth. Prog. Biomed. 47 (1995) 131; Henyey, Greenstein,
 * Astrophys. J. 93 (1941) 70.)
 */
#ifndef SL_STAGES_MODELS_SLAB_H
#define SL_STAGES_MODELS_SLAB_H

#include "stages/models/optics.h"

#define SL_COLUMNS_slab                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) |     \
		SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_slab                                                            \
	(SL_FATE_BIT(SL_FATE_reflected) | SL_FATE_BIT(SL_FATE_transmitted) |     \
		SL_FATE_BIT(SL_FATE_absorbed) | SL_FATE_BIT(SL_FATE_max_steps) | \
		SL_FATE_BIT(SL_FATE_roulette))

/* A history has dozens of flights, so a survivor is stored, not computed again. */
#define SL_RECOMPUTED_slab false
#define SL_WEIGHTED_slab   true

enum sl_slab_incidence { SL_SLAB_NORMAL, SL_SLAB_ANGLE, SL_SLAB_DIFFUSE };
enum sl_slab_absorption { SL_SLAB_ANALOGUE, SL_SLAB_IMPLICIT };

enum { SL_SLAB_LAYERS_MAX = 16 };

struct sl_slab_layer {
	float top, bottom;         /* depths, cm; the last bottom may be infinite */
	float first, last;         /* the depths between which collisions happen */
	float mean_free_path;      /* 1/mu_t, cm */
	float absorb;              /* analogue: mu_a/mu_t, the probability; implicit: 0 */
	float keep;                /* implicit: mu_s/mu_t, the factor of a weight; analogue: 1 */
	float g;                   /* mean cosine of the scattering angle */
	float g_plus_1_squared_2;  /* 2 (1 + g)^2 */
	float n, n_above, n_below; /* refractive indices of the layer and of its neighbours */
	float slowness;            /* n/c, ns/cm */
};

struct sl_slab {
	struct sl_slab_layer layer[SL_SLAB_LAYERS_MAX];
	uint32_t layers;
	float below, survive, gain; /* roulette: threshold, probability, 1/survive; analogue: 0 */
	float sin_in, cos_in;       /* of the angle of incidence */
	int incidence;              /* enum sl_slab_incidence */
	uint32_t max_steps;
};

SL_HD sl_lanes sl_slab_generate(
	const struct sl_slab *r, sl_column_set wanted, uint64_t seed, sl_u64 id)
{
	const float n_above = r->layer[0].n_above, n = r->layer[0].n;
	struct sl_words random = sl_draw(seed, id, sl_all_u64(0));
	sl_lanes p = {0}, inside;
	sl_mask reflects;
	sl_f32 beyond;

	(void)wanted; /* the flights need all columns */
	p.id = id;
	p.u = sl_all(r->sin_in);
	p.w = sl_all(r->cos_in);
	p.weight = sl_all(1.0f);
	if (r->incidence == SL_SLAB_DIFFUSE)
		sl_lambertian(
			&p, sl_all(0.0f), sl_all(0.0f), sl_all(1.0f), random.at[1], random.at[2]);
	inside = p;
	reflects = sl_uniform(random.at[0]) <= sl_fresnel(sl_all(n_above), sl_all(n), p.w, &beyond);
	sl_refract(&inside, sl_all(n_above / n), beyond);
	inside.fate = sl_all_fate(SL_FATE_alive);
	p.w = -p.w;
	p.fate = sl_all_fate(SL_FATE_reflected);
	sl_assign_if(sl_not(reflects), &p, &inside);
	return p;
}

/* The layer that a particle at depth z flies through. On a boundary, its direction w decides. */
SL_HD sl_u32 sl_slab_layer_at(const struct sl_slab *r, sl_f32 z, sl_f32 w)
{
	sl_u32 i = sl_all_u32(0);

	for (uint32_t k = 0; k + 1 < r->layers; k++) {
		const float bottom = r->layer[k].bottom;

		i += sl_one_if((z > bottom) | ((z == bottom) & sl_not(w < 0.0f)));
	}
	return i;
}

/* A value of layer i of r. A single layer is a special case without look-ups. */
#define SL_SLAB_LAYER(i, name) \
	(layers == 1 ? sl_all(r->layer[0].name) : SL_MEMBER(r->layer, i, name))

/*
 * Flies p to the upper or lower boundary of layer i, where it is reflected, enters the next layer or
 * leaves the slab. Returns the layer where p is then.
 */
SL_HD_PART sl_u32 sl_slab_cross_boundary(
	const struct sl_slab *r, uint32_t layers, sl_u32 i, sl_lanes *p, sl_mask up, sl_f32 uniform)
{
	sl_f32 n = SL_SLAB_LAYER(i, n);
	sl_f32 z = sl_select(up, SL_SLAB_LAYER(i, top), SL_SLAB_LAYER(i, bottom));
	sl_f32 m = sl_select(up, SL_SLAB_LAYER(i, n_above), SL_SLAB_LAYER(i, n_below));
	sl_f32 cosine = sl_select(p->w < 0.0f, -p->w, p->w), beyond;
	sl_mask leaves = (up & (i == 0)) | (sl_not(up) & (i == layers - 1)), passes;
	sl_lanes q;

	sl_fly(p, (z - p->z) / p->w, SL_SLAB_LAYER(i, slowness));
	p->z = z;
	passes = sl_not(uniform <= sl_fresnel(n, m, cosine, &beyond));
	q = *p;
	sl_refract(&q, n / m, beyond);
	q.fate = sl_select_fate(
		leaves, sl_select_fate(up, SL_FATE_reflected, SL_FATE_transmitted), q.fate);
	p->w = -p->w;
	sl_assign_if(passes, p, &q);
	return sl_select_u32(passes & sl_not(leaves), sl_select_u32(up, i - 1, i + 1), i);
}

/* Absorption at a collision: of the whole particle, or of a fraction of its weight followed by
 * Russian roulette. */
SL_HD_PART void sl_slab_absorb(
	const struct sl_slab *r, uint32_t layers, sl_u32 i, sl_lanes *p, sl_f32 uniform)
{
	sl_mask low, wins;

	p->fate = sl_select_fate(uniform <= SL_SLAB_LAYER(i, absorb), SL_FATE_absorbed, p->fate);
	p->weight *= SL_SLAB_LAYER(i, keep);
	low = p->weight < r->below;
	if (sl_any(low)) {
		wins = (uniform <= r->survive) & (p->weight > 0.0f);
		p->weight = sl_select(low, sl_select(wins, p->weight * r->gain, 0.0f), p->weight);
		p->fate = sl_select_fate(
			low, sl_select_fate(wins, SL_FATE_alive, SL_FATE_roulette), p->fate);
	}
}

/* Flies p to a collision in layer i, which absorbs or scatters it. */
SL_HD_PART void sl_slab_collide(const struct sl_slab *r, uint32_t layers, sl_u32 i, sl_lanes *p,
	sl_f32 flight, const struct sl_words *random)
{
	sl_fly(p, flight, SL_SLAB_LAYER(i, slowness));
	if (layers > 1) {
		sl_f32 first = SL_SLAB_LAYER(i, first), last = SL_SLAB_LAYER(i, last);

		p->z = sl_select(p->z < first, first, sl_select(p->z > last, last, p->z));
	}
	p->collisions += 1;
	sl_slab_absorb(r, layers, i, p, sl_uniform(random->at[1]));
	if (sl_any(p->fate == SL_FATE_alive)) {
		sl_f32 cosine = sl_henyey_greenstein(SL_SLAB_LAYER(i, g),
			SL_SLAB_LAYER(i, g_plus_1_squared_2), sl_uniform(random->at[2]));
		sl_lanes q = *p;

		sl_scatter(&q, cosine, 2.0f * sl_uniform(random->at[3]));
		sl_assign_if(p->fate == SL_FATE_alive, p, &q);
	}
}

/* One step of p, which is alive and in layer i. Returns the layer where it is then. */
SL_HD_PART sl_u32 sl_slab_step_in(
	const struct sl_slab *r, uint32_t layers, sl_u32 i, uint64_t seed, sl_lanes *p)
{
	struct sl_words random = sl_draw(seed, p->id, sl_sum(1, p->steps));
	sl_f32 flight = -SL_SLAB_LAYER(i, mean_free_path) * sl_log(sl_uniform(random.at[0]));
	sl_f32 end = fmaf(flight, p->w, p->z);
	sl_mask up = end < SL_SLAB_LAYER(i, top), crosses = up | (end > SL_SLAB_LAYER(i, bottom));
	sl_lanes q;

	p->steps += 1;
	q = *p;
	if (sl_any(sl_not(crosses)))
		sl_slab_collide(r, layers, i, p, flight, &random);
	if (sl_any(crosses)) {
		sl_u32 next =
			sl_slab_cross_boundary(r, layers, i, &q, up, sl_uniform(random.at[1]));

		sl_assign_if(crosses, p, &q);
		i = sl_select_u32(crosses, next, i);
	}
	sl_end_after(p, r->max_steps);
	return i;
}

SL_HD void sl_slab_step(const struct sl_slab *r, sl_column_set wanted, uint64_t seed, sl_lanes *p)
{
	(void)wanted;
	if (r->layers == 1)
		sl_slab_step_in(r, 1, sl_all_u32(0), seed, p);
	else
		sl_slab_step_in(r, r->layers, sl_slab_layer_at(r, p->z, p->w), seed, p);
}

#if SL_SIMD_LANES == 1
/* Advances p, which is in layer i, by at most n steps. */
SL_HD_PART void sl_slab_take_steps(const struct sl_slab *r, uint32_t layers, uint32_t i,
	uint64_t seed, struct sl_particle *p, uint32_t n)
{
	while (n-- > 0 && p->fate == SL_FATE_alive)
		i = sl_slab_step_in(r, layers, i, seed, p);
}

/* The layer is known from step to step, and looked up only once. */
SL_HD void sl_slab_advance(const struct sl_slab *r, sl_column_set wanted, uint64_t seed,
	struct sl_particle *p, uint32_t n)
{
	(void)wanted;
	if (r->layers == 1)
		sl_slab_take_steps(r, 1, 0, seed, p, n);
	else
		sl_slab_take_steps(r, r->layers, sl_slab_layer_at(r, p->z, p->w), seed, p, n);
}
#endif

#ifdef SL_MODEL_HOST

#include <stdio.h>

/*
 * The configuration of the model. A list has one value per layer from the top, or one value for all.
 */
struct sl_slab_config {
	struct sl_reals mu_a, mu_s, g, thickness, n; /* per layer, or one value for all */
	double n_above, n_below, angle;
	struct {
		double below, survive;
	} roulette;
	int incidence, absorption;
};

static const char *const sl_slab_incidences[] = {"normal", "angle", "diffuse", NULL};
static const char *const sl_slab_absorptions[] = {"analogue", "implicit", NULL};

/* Weights are summed in units of 2^-32 (weight.h): the smallest threshold, 1e-6, is 4295 units. */
#define OPTION(...) SL_OPTION(sl_slab_config, __VA_ARGS__)
static const struct sl_option sl_slab_options[] = {
	OPTION(mu_a, REALS, PER_LENGTH, 0, 1e30, .required = true,
		.help = "absorption coefficient, or a list with one per layer, from the top"),
	OPTION(mu_s, REALS, PER_LENGTH, 0, 1e30, .required = true,
		.help = "scattering coefficient, or a list; a layer where both are 0 is clear"),
	OPTION(g, REALS, NUMBER, -0.999, 0.999, .fallback = "0",
		.help = "mean cosine of the scattering angle (Henyey-Greenstein), or a list; 0 is "
			"isotropic"),
	OPTION(thickness, REALS, LENGTH, 1e-30, HUGE_VAL, .required = true,
		.help = "thickness of the slab, or a list; inf for the last layer gives a "
			"half-space"),
	OPTION(n, REALS, NUMBER, 0.1, 10, .fallback = "1",
		.help = "refractive index of the slab, or a list"),
	OPTION(n_above, REAL, NUMBER, 0.1, 10, .fallback = "1",
		.help = "refractive index of the side where particles enter"),
	OPTION(n_below, REAL, NUMBER, 0.1, 10, .fallback = "1",
		.help = "refractive index beyond the slab"),
	OPTION(incidence, CHOICE, NUMBER, 0, 0, .fallback = "normal", .choices = sl_slab_incidences,
		.help = "direction in which particles enter; diffuse is Lambertian"),
	OPTION(angle, REAL, ANGLE, 0, 1.57,
		.help = "angle of incidence to the normal, in the x-z plane; with incidence: "
			"angle"),
	OPTION(absorption, CHOICE, NUMBER, 0, 0, .fallback = "analogue",
		.choices = sl_slab_absorptions,
		.help = "analogue: whole particles are absorbed; implicit: each collision absorbs a "
			"fraction of the weight (implicit capture), and results are by weight"),
	OPTION(roulette.below, REAL, NUMBER, 1e-6, 0.5, .fallback = "1e-4",
		.help = "with absorption: implicit; particles of smaller weight play Russian roulette"),
	OPTION(roulette.survive, REAL, NUMBER, 1e-3, 0.5, .fallback = "0.1",
		.help = "with absorption: implicit; probability of surviving the roulette; the "
			"weight is divided by it"),
};
#undef OPTION

/* The value of layer i: its own, or the common one. */
static double sl_slab_layer_value(const struct sl_reals *list, uint32_t i)
{
	return list->at[list->n > 1 ? i : 0];
}

/* The total coefficient of layer i, per cm; 0 for a clear layer. */
static double sl_slab_layer_mu_t(const struct sl_slab_config *c, uint32_t i)
{
	return sl_slab_layer_value(&c->mu_a, i) + sl_slab_layer_value(&c->mu_s, i);
}

/* The key of the value of layer i: "mu_a", or "mu_a[1]" in a list. */
static const char *sl_slab_layer_key(
	const char *key, const struct sl_reals *list, uint32_t i, char text[32])
{
	snprintf(text, 32, list->n > 1 ? "%s[%u]" : "%s", key, i);
	return text;
}

/* The number of layers; 0, after reporting a problem, if the lists do not agree. */
static uint32_t sl_slab_count_layers(
	const struct sl_slab_config *c, const struct sl_model_check *check)
{
	const struct {
		const char *key;
		const struct sl_reals *list;
	} keys[] = {{"mu_a", &c->mu_a}, {"mu_s", &c->mu_s}, {"g", &c->g},
		{"thickness", &c->thickness}, {"n", &c->n}};
	const int n_keys = sizeof(keys) / sizeof(keys[0]);
	int longest = 0, wrong = 0;
	uint32_t n;

	for (int k = 1; k < n_keys; k++)
		longest = keys[k].list->n > keys[longest].list->n ? k : longest;
	n = keys[longest].list->n;
	for (int k = 0; k < n_keys; k++)
		if (keys[k].list->n != n && keys[k].list->n != 1) {
			check->complain(check->ctx, keys[k].key,
				"has %u values where %s has %u: each layer needs one; give one per "
				"layer, or one for all",
				keys[k].list->n, keys[longest].key, n);
			wrong++;
		}
	if (n > SL_SLAB_LAYERS_MAX) {
		check->complain(check->ctx, keys[longest].key,
			"has %u values: a slab has at most %d layers; give fewer", n,
			SL_SLAB_LAYERS_MAX);
		wrong++;
	}
	return wrong ? 0 : n;
}

/* Reports media in which a flight would never end, or would leave the range of float. */
static void sl_slab_check_media(
	const struct sl_slab_config *c, uint32_t n, const struct sl_model_check *check)
{
	uint32_t clear = 0;
	char key[32];

	for (uint32_t i = 0; i < n; i++)
		clear += !(sl_slab_layer_mu_t(c, i) > 0);
	for (uint32_t i = 0; i < n; i++) {
		double mu_t = sl_slab_layer_mu_t(c, i),
		       thickness = sl_slab_layer_value(&c->thickness, i);
		const char *of = sl_slab_layer_key("mu_a", &c->mu_a, i, key);

		if (!(mu_t > 0) && (clear == n || isinf(thickness)))
			check->complain(check->ctx, of,
				"mu_a + mu_s is 0: a flight would never end; set one of them above "
				"0");
		else if (mu_t > 0 && mu_t < 1e-30)
			check->complain(check->ctx, of,
				"mu_a + mu_s is %g /cm: flights would leave single precision; make "
				"it at least 1e-30 /cm",
				mu_t);
		if (clear == n)
			break; /* report it only once */
	}
}

/*
 * Whether two layers differ in thickness only. The comparison is exact: layers that nearly agree stay
 * separate, because merging them would change the results.
 */
static bool sl_slab_is_same_medium(const struct sl_slab_config *c, uint32_t i, uint32_t j)
{
	return sl_slab_layer_value(&c->mu_a, i) == sl_slab_layer_value(&c->mu_a, j) &&
	       sl_slab_layer_value(&c->mu_s, i) == sl_slab_layer_value(&c->mu_s, j) &&
	       sl_slab_layer_value(&c->g, i) == sl_slab_layer_value(&c->g, j) &&
	       sl_slab_layer_value(&c->n, i) == sl_slab_layer_value(&c->n, j);
}

/*
 * Sets the medium of a layer from configured layer i. A clear layer would have an infinite mean free
 * path. It gets 1e30 cm instead, because infinity times a random number of 0 is NaN.
 */
static void sl_slab_make_medium(const struct sl_slab_config *c, uint32_t i, struct sl_slab_layer *l)
{
	double mu_t = sl_slab_layer_mu_t(c, i), n = sl_slab_layer_value(&c->n, i);
	bool clear = !(mu_t > 0), implicit = c->absorption == SL_SLAB_IMPLICIT;
	double absorb = clear ? 0 : sl_slab_layer_value(&c->mu_a, i) / mu_t;
	double g = clear ? 1 : sl_slab_layer_value(&c->g, i);

	l->mean_free_path = (float)(clear ? 1e30 : 1 / mu_t);
	l->absorb = implicit ? 0.0f : (float)absorb;
	l->keep = implicit ? (float)(1 - absorb) : 1.0f;
	l->g = (float)g;
	l->g_plus_1_squared_2 = (float)(2 * (1 + g) * (1 + g));
	l->n = (float)n;
	l->slowness = (float)(n / 29.9792458); /* speed of light in cm/ns */
}

/*
 * Makes the layers, merging neighbours of the same medium. Each layer must span at least 2^8 floats
 * of depth, so that the rounding of depths is small relative to its thickness.
 */
static void sl_slab_make_layers(const struct sl_slab_config *c, uint32_t n, struct sl_slab *r,
	const struct sl_model_check *check)
{
	double top = 0, bottom = 0;
	char key[32];

	r->layers = 0;
	for (uint32_t i = 0; i < n; i++) {
		double thickness = sl_slab_layer_value(&c->thickness, i);

		if (i + 1 < n && isinf(thickness))
			check->complain(check->ctx,
				sl_slab_layer_key("thickness", &c->thickness, i, key),
				"is infinite for layer %u of %u: only the last layer can be; give a "
				"finite value",
				i + 1, n);
		bottom += thickness;
		if (i + 1 < n && sl_slab_is_same_medium(c, i, i + 1))
			continue;
		if (bottom - top < top * 0x1p-16)
			check->complain(check->ctx,
				sl_slab_layer_key("thickness", &c->thickness, i, key),
				"is too thin at a depth of %g cm: positions have 24 significant bits; make it at "
				"least %.2g cm",
				top, top * 0x1p-16);
		sl_slab_make_medium(c, i, &r->layer[r->layers]);
		r->layer[r->layers].top = (float)top;
		r->layer[r->layers++].bottom = (float)bottom;
		top = bottom;
	}
}

/* Sets the neighbours of each layer, and the depths between which collisions happen. */
static void sl_slab_join_layers(const struct sl_slab_config *c, struct sl_slab *r)
{
	for (uint32_t i = 0; i < r->layers; i++) {
		struct sl_slab_layer *l = &r->layer[i];
		bool outer = i == 0, innermost = i + 1 == r->layers;

		l->n_above = outer ? (float)c->n_above : r->layer[i - 1].n;
		l->n_below = innermost ? (float)c->n_below : r->layer[i + 1].n;
		l->first = outer ? l->top : nextafterf(l->top, HUGE_VALF);
		l->last = innermost ? l->bottom : nextafterf(l->bottom, 0.0f);
	}
}

/*
 * Sets the parameters of the roulette. gain is computed from the float survive that the rules compare
 * with, so that the expected weight after the roulette equals the weight before it.
 */
static void sl_slab_make_roulette(
	const struct sl_slab_config *c, struct sl_slab *r, const struct sl_model_check *check)
{
	bool implicit = c->absorption == SL_SLAB_IMPLICIT;

	sl_model_refuse_unused(check, implicit, "roulette.below", "absorption: implicit");
	sl_model_refuse_unused(check, implicit, "roulette.survive", "absorption: implicit");
	if (implicit && c->roulette.below > c->roulette.survive)
		check->complain(check->ctx, "roulette.below",
			"is above roulette.survive: weights could exceed 1; make it at most %g",
			c->roulette.survive);
	r->below = implicit ? (float)c->roulette.below : 0.0f;
	r->survive = (float)c->roulette.survive;
	r->gain = (float)(1 / (double)r->survive);
}

static void sl_slab_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_slab_config *c = (const struct sl_slab_config *)config;
	struct sl_slab *r = (struct sl_slab *)rules;
	uint32_t n = sl_slab_count_layers(c, check);

	sl_slab_check_media(c, n, check);
	sl_slab_make_layers(c, n, r, check);
	sl_slab_join_layers(c, r);
	sl_slab_make_roulette(c, r, check);
	sl_model_require_only_if(check, c->incidence == SL_SLAB_ANGLE, "angle", "incidence: angle");
	r->incidence = c->incidence;
	r->max_steps = (uint32_t)common->max_steps;
	sl_sincospi(
		c->incidence == SL_SLAB_ANGLE ? (float)(c->angle / 3.14159265358979323846) : 0.0f,
		&r->sin_in, &r->cos_in);
}

/* Analogue absorption has no roulette, so its threshold is 0. */
static bool sl_slab_is_analogue(const struct sl_slab *r)
{
	return !(r->below > 0.0f);
}

/*
 * x, y and time are unbounded: a history may travel any distance sideways. With analogue absorption no
 * particle ends by roulette, which then does not count for the range of fate.
 */
static bool sl_slab_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;
	sl_fate_set not_dealt = sl_slab_is_analogue(r) ? SL_FATE_BIT(SL_FATE_roulette) : 0;

	if (column != SL_COLUMN_z)
		return sl_model_common_range(
			column, r->max_steps, SL_FATES_slab & ~not_dealt, lo, hi);
	*lo = 0;
	*hi = (double)r->layer[r->layers - 1].bottom;
	return *hi < HUGE_VAL;
}

/* With analogue absorption every weight stays 1, so files need not store it. */
static sl_column_set sl_slab_constants(const void *rules, struct sl_particle *values)
{
	values->weight = 1.0f;
	return sl_slab_is_analogue((const struct sl_slab *)rules) ? SL_BIT(SL_COLUMN_weight) : 0;
}

/* Implicit capture takes weight from living particles; no particle ends as absorbed. */
static sl_fate_set sl_slab_weight_fates(const void *rules)
{
	return sl_slab_is_analogue((const struct sl_slab *)rules) ? 0
	                                                          : SL_FATE_BIT(SL_FATE_absorbed);
}

SL_MODEL(slab, .help = "flights through plane layers that absorb, scatter and refract",
	.species = "photons", .steps = true, .weight_fates = sl_slab_weight_fates);

#endif /* SL_MODEL_HOST */
#endif
