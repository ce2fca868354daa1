/*
 * slab_config.h - the configuration of the model slab: option table, checks, and the rules made
 * from it. Host only; slab.h includes it.
 */
#ifndef SL_STAGES_MODELS_CONFIG_SLAB_CONFIG_H
#define SL_STAGES_MODELS_CONFIG_SLAB_CONFIG_H

#include <stdio.h>

#include "stages/models/config/absorption_config.h"
#include "stages/models/config/list_config.h"

/*
 * The configuration of the model. A list has one value per layer from the top, or one value for
 * all.
 */
struct sl_slab_config {
	struct sl_reals mu_a, mu_s, g, thickness, n; /* per layer, or one value for all */
	double n_above, n_below, angle;
	struct sl_roulette_config roulette;
	int incidence, absorption;
	struct {
		int type;
		double radius, sigma, na, depth;
		struct sl_source_config list;
	} source;
	bool separate_specular;
	struct {
		int type, face;
		double center_x, center_y, radius, inner_radius, width, height, na;
	} detector;
	struct sl_counts regions; /* of slab_paths: per layer, or one value for all; slab: none */
};

static const char *const sl_slab_incidences[] = {"normal", "angle", "diffuse", NULL};
static const char *const sl_slab_sources[] = {
	"pencil", "gaussian", "disk", "fibre", "isotropic", NULL};
static const char *const sl_slab_detectors[] = {"none", "disk", "annulus", "rectangle", NULL};
static const char *const sl_slab_faces[] = {"entrance", "far", NULL};

#define OPTION(...) SL_OPTION(sl_slab_config, __VA_ARGS__),
static const struct sl_option sl_slab_options[] = {
#include "stages/models/config/slab_options.def"
};
#undef OPTION

/* The value of layer i: its own, or the common one. */
static double sl_slab_layer_value(const struct sl_reals *list, uint32_t i)
{
	return list->at[list->n > 1 ? i : 0];
}

/* The region that counts the paths in layer i: 1 to SL_REGIONS; 0: none. */
static uint32_t sl_slab_region(const struct sl_slab_config *c, uint32_t i)
{
	return c->regions.n == 0 ? 0 : (uint32_t)c->regions.at[c->regions.n > 1 ? i : 0];
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

/*
 * Reports media in which a flight would never end, or would leave the range of float. A clear layer
 * of finite thickness ends every flight at its boundaries.
 */
static void sl_slab_check_media(
	const struct sl_slab_config *c, uint32_t n, const struct sl_model_check *check)
{
	char key[32];

	for (uint32_t i = 0; i < n; i++) {
		double mu_t = sl_slab_layer_mu_t(c, i),
		       thickness = sl_slab_layer_value(&c->thickness, i);
		const char *of = sl_slab_layer_key("mu_a", &c->mu_a, i, key);

		if (!(mu_t > 0) && isinf(thickness))
			check->complain(check->ctx, of,
				"mu_a + mu_s is 0 in a layer without end: a flight would never end; "
				"set one of them above 0, or give a finite thickness");
		else if (mu_t > 0 && mu_t < 1e-30)
			check->complain(check->ctx, of,
				"mu_a + mu_s is %g /cm: flights would leave single precision; make "
				"it at least 1e-30 /cm",
				mu_t);
	}
}

/*
 * Whether two layers of one region differ in thickness only. The comparison is exact: layers that
 * nearly agree stay separate, because merging them would change the results.
 */
static bool sl_slab_is_same_medium(const struct sl_slab_config *c, uint32_t i, uint32_t j)
{
	return sl_slab_region(c, i) == sl_slab_region(c, j) &&
	       sl_slab_layer_value(&c->mu_a, i) == sl_slab_layer_value(&c->mu_a, j) &&
	       sl_slab_layer_value(&c->mu_s, i) == sl_slab_layer_value(&c->mu_s, j) &&
	       sl_slab_layer_value(&c->g, i) == sl_slab_layer_value(&c->g, j) &&
	       sl_slab_layer_value(&c->n, i) == sl_slab_layer_value(&c->n, j);
}

/*
 * Sets the medium of a layer from configured layer i. A clear layer would have an infinite mean
 * free path. It gets 1e30 cm instead, because infinity times a random number of 0 is NaN. stretch
 * is the thickness between depths rounded to floats divided by the right one: the optical thickness
 * stays.
 */
static void sl_slab_make_medium(
	const struct sl_slab_config *c, uint32_t i, double stretch, struct sl_slab_layer *l)
{
	double mu_t = sl_slab_layer_mu_t(c, i), n = sl_slab_layer_value(&c->n, i);
	bool clear = !(mu_t > 0), implicit = c->absorption != SL_ANALOGUE;
	double absorb = clear ? 0 : sl_slab_layer_value(&c->mu_a, i) / mu_t;
	double g = clear ? 1 : sl_slab_layer_value(&c->g, i);

	l->mean_free_path = clear ? SL_SLAB_CLEAR_PATH : (float)(stretch / mu_t);
	l->absorb = implicit ? 0.0f : (float)absorb;
	l->keep = implicit ? (float)(1 - absorb) : 1.0f;
	l->g = (float)g;
	l->g_plus_1_squared_2 = (float)(2 * (1 + g) * (1 + g));
	l->n = (float)n;
	l->slowness = (float)(n / 29.9792458); /* speed of light in cm/ns */
	l->region = (float)sl_slab_region(c, i);
}

/*
 * Makes the layers, merging neighbours of the same medium. Each layer must span at least 2^8 floats
 * of depth, so that the rounding of depths is small relative to its thickness.
 */
static void sl_slab_make_layers(const struct sl_slab_config *c, uint32_t n, struct sl_slab *r,
	const struct sl_model_check *check)
{
	double top = 0, bottom = 0;
	struct sl_slab_layer *l;
	char key[32];

	r->layers = 0;
	for (uint32_t i = 0; i < n; i++) {
		double thickness = sl_slab_layer_value(&c->thickness, i);

		if (i + 1 < n && isinf(thickness))
			check->complain(check->ctx,
				sl_slab_layer_key("thickness", &c->thickness, i, key),
				"is infinite for layer %u of %u: only the last layer can be; give a finite value",
				i + 1, n);
		bottom += thickness;
		if (i + 1 < n && sl_slab_is_same_medium(c, i, i + 1))
			continue;
		if (bottom - top < top * 0x1p-16)
			check->complain(check->ctx,
				sl_slab_layer_key("thickness", &c->thickness, i, key),
				"is too thin at a depth of %g cm: positions have 24 significant bits; make it at "
				"least %.3g cm",
				top, sl_model_at_least(top * 0x1p-16));
		l = &r->layer[r->layers++];
		l->top = (float)top;
		l->bottom = (float)bottom;
		sl_slab_make_medium(c, i,
			top > 0 && isfinite(l->bottom)
				? ((double)l->bottom - (double)l->top) / (bottom - top)
				: 1,
			l);
		top = bottom;
	}
}

/* Sets the cover, the neighbours of each layer, and the depths between which collisions happen. */
static void sl_slab_join_layers(const struct sl_slab_config *c, struct sl_slab *r)
{
	r->cover = 0;
	while (r->cover < r->layers && r->layer[r->cover].mean_free_path == SL_SLAB_CLEAR_PATH)
		r->cover++;
	if (r->cover == r->layers || c->source.type == SL_SLAB_ISOTROPIC ||
		c->source.list.list.files.n > 0)
		r->cover = 0; /* nothing is below, or particles start below */
	for (uint32_t i = 0; i < r->layers; i++) {
		struct sl_slab_layer *l = &r->layer[i];
		bool outer = i == 0, innermost = i + 1 == r->layers;

		l->n_above = outer ? (float)c->n_above : r->layer[i - 1].n;
		l->n_below = innermost ? (float)c->n_below : r->layer[i + 1].n;
		l->first = outer ? l->top : nextafterf(l->top, HUGE_VALF);
		l->last = innermost ? l->bottom : nextafterf(l->bottom, 0.0f);
	}
}

#include "stages/models/config/slab_parts.h"

static void sl_slab_make(const void *config, const struct sl_model_common *common, void *rules,
	const struct sl_model_check *check)
{
	const struct sl_slab_config *c = (const struct sl_slab_config *)config;
	struct sl_slab *r = (struct sl_slab *)rules;
	uint32_t n = sl_slab_count_layers(c, check);

	sl_slab_check_media(c, n, check);
	sl_slab_make_layers(c, n, r, check);
	sl_slab_join_layers(c, r);
	r->roulette = sl_make_roulette(c->absorption, &c->roulette, check);
	sl_model_require_only_if(check, c->incidence == SL_SLAB_ANGLE, "angle", "incidence: angle");
	sl_slab_make_source(c, r, check);
	sl_slab_make_detector(c, r, check);
	r->incidence = c->incidence;
	r->data = (struct sl_rules_data){0};
	sl_source_make(&c->source.list, "source.list", 0, &r->data, check);
	r->max_steps = (uint32_t)common->max_steps;
	sl_sincospi(
		c->incidence == SL_SLAB_ANGLE ? (float)(c->angle / 3.14159265358979323846) : 0.0f,
		&r->sin_in, &r->cos_in);
}

/* Fates that no particle gets with these rules, although the model has them. */
static sl_fate_set sl_slab_unused_fates(const void *rules)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;
	sl_fate_set hit = r->detector.outline == SL_SLAB_NO_DETECTOR ? SL_FATE_BIT(SL_FATE_hit) : 0;

	return hit | (r->bounced == SL_FATE_specular ? 0 : SL_FATE_BIT(SL_FATE_specular));
}

/*
 * x, y and time are unbounded: a history may travel any distance sideways. With analogue absorption
 * no particle ends by roulette, which then does not count for the range of fate.
 */
static bool sl_slab_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;
	sl_fate_set not_dealt = sl_slab_unused_fates(r) |
	                        (sl_is_analogue(&r->roulette) ? SL_FATE_BIT(SL_FATE_roulette) : 0);

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
	return sl_is_analogue(&((const struct sl_slab *)rules)->roulette) ? SL_BIT(SL_COLUMN_weight)
	                                                                  : 0;
}

/* Implicit capture takes weight from living particles; no particle ends as absorbed. */
static sl_fate_set sl_slab_weight_fates(const void *rules)
{
	return sl_is_analogue(&((const struct sl_slab *)rules)->roulette)
	               ? 0
	               : SL_FATE_BIT(SL_FATE_absorbed);
}

/* The fluence that one collision scores is at most the longest mean free path. */
static int sl_slab_score_shift(const void *rules)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;
	float longest = 0;

	for (uint32_t i = 0; i < r->layers; i++)
		if (r->layer[i].mean_free_path < SL_SLAB_CLEAR_PATH &&
			r->layer[i].mean_free_path > longest)
			longest = r->layer[i].mean_free_path;
	return sl_length_exponent(longest);
}

/*
 * Few flights are longer than eight mean free paths, or eight times the thickness of their layer.
 * Those may be, as sl_track_fixed() counts them several times; the smaller the unit, the less paths
 * are rounded.
 */
static int sl_slab_track_shift(const void *rules)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;
	float longest = 0;

	for (uint32_t i = 0; i < r->layers; i++) {
		const struct sl_slab_layer *l = &r->layer[i];
		float thickness = l->bottom - l->top;
		float path = l->mean_free_path < thickness ? l->mean_free_path : thickness;

		longest = path > longest ? path : longest;
	}
	return sl_length_exponent(8 * longest);
}

/* The records of a list. */
static struct sl_rules_data *sl_slab_data(void *rules)
{
	struct sl_slab *r = (struct sl_slab *)rules;

	return r->data.bytes > 0 ? &r->data : NULL;
}

SL_MODEL(slab, .help = "flights through plane layers that absorb, scatter and refract",
	.species = "photons", .steps = true, .weight_fates = sl_slab_weight_fates,
	.unused_fates = sl_slab_unused_fates, .score_shift = sl_slab_score_shift,
	.track_shift = sl_slab_track_shift, .data = sl_slab_data,
	.source = offsetof(struct sl_slab_config, source.list), .source_key = "source.list");

#endif
