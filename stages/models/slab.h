/*
 * slab.h - particles through an infinite plane slab that absorbs and scatters.
 *
 * The slab fills 0 < z < thickness; particles come in at the origin through z = 0. Each step is one
 * flight: its length is exponential with mean 1/mu_t; it ends in a collision (absorption with
 * probability mu_a/mu_t, else scattering) or at a surface (internal reflection with
 * Fresnel's probability for unpolarised light, else refraction and escape). What is left of a
 * flight that is cut at a surface is drawn anew: the exponential has no memory. Absorption is
 * analogue: a particle is absorbed whole, its weight stays 1.
 *
 * Steps draw one Philox block each: block 0 is the start, block 1 + steps the next flight.
 * (Wang, Jacques, Zheng, MCML, Comput. Meth. Prog. Biomed. 47 (1995) 131; Henyey, Greenstein,
 * Astrophys. J. 93 (1941) 70.)
 */
#ifndef SL_MODELS_SLAB_H
#define SL_MODELS_SLAB_H

#include "stages/flight.h"

#define SL_COLUMNS_slab                                                                           \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z) | \
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w) |                 \
		SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_time) | SL_BIT(SL_COLUMN_steps) |     \
		SL_BIT(SL_COLUMN_collisions) | SL_BIT(SL_COLUMN_fate))

#define SL_FATES_slab                                                                         \
	(SL_BIT(SL_FATE_reflected) | SL_BIT(SL_FATE_transmitted) | SL_BIT(SL_FATE_absorbed) | \
		SL_BIT(SL_FATE_max_steps))

/* A history is dozens of flights. */
#define SL_REMADE_slab false

enum sl_incidence { SL_INCIDENCE_NORMAL, SL_INCIDENCE_ANGLE, SL_INCIDENCE_DIFFUSE };

struct sl_slab {
	float mean_free_path;     /* 1/mu_t, cm */
	float absorb;             /* mu_a/mu_t */
	float thickness;          /* cm; may be infinite */
	float g;                  /* mean cosine of the scattering angle */
	float g_plus_1_squared_2; /* 2 (1 + g)^2 */
	float n, n_above,
		n_below;      /* refractive indices of the slab and outside z = 0, z = thickness */
	float slowness;       /* n/c, ns/cm */
	float sin_in, cos_in; /* of the angle of incidence */
	int incidence;        /* enum sl_incidence */
	uint32_t max_steps;
};

/*
 * The share of unpolarised light that is reflected where it meets, at a cosine of c > 0 to the
 * normal, a surface from index n to index m. *t is the cosine beyond, 0 when all is reflected.
 */
SL_HD float sl_fresnel(float n, float m, float c, float *t)
{
	float ratio = n / m, cos2 = fmaf(-ratio * ratio, (1.0f - c) * (1.0f + c), 1.0f);
	float s, p;

	if (n == m) {
		*t = c;
		return 0.0f;
	}
	if (cos2 <= 0.0f) {
		*t = 0.0f;
		return 1.0f;
	}
	*t = sqrtf(cos2);
	s = fmaf(n, c, -(m * *t)) / fmaf(n, c, m * *t);
	p = fmaf(n, *t, -(m * c)) / fmaf(n, *t, m * c);
	return 0.5f * fmaf(s, s, p * p);
}

/* Gives p the direction (u, v, w), brought nearer to unit length by one step of Newton's method. */
SL_HD void sl_direct(struct sl_particle *p, float u, float v, float w)
{
	float unit = fmaf(-0.5f, fmaf(u, u, fmaf(v, v, w * w)), 1.5f);

	p->u = u * unit;
	p->v = v * unit;
	p->w = w * unit;
}

/* Bends the direction of p into a medium of relative index ratio = n/m; t is the cosine beyond. */
SL_HD void sl_refract(struct sl_particle *p, float ratio, float t)
{
	sl_direct(p, ratio * p->u, ratio * p->v, p->w < 0.0f ? -t : t);
}

SL_HD struct sl_particle sl_slab_generate(
	const struct sl_slab *r, uint32_t wanted, uint64_t seed, uint64_t id)
{
	struct sl_words random = sl_draw(seed, id, 0);
	struct sl_particle p = {0};
	float beyond;

	(void)wanted; /* all is of use on the way */
	p.id = id;
	p.u = r->sin_in;
	p.w = r->cos_in;
	p.weight = 1.0f;
	if (r->incidence == SL_INCIDENCE_DIFFUSE)
		sl_lambertian(&p, 0.0f, 0.0f, 1.0f, random.at[1], random.at[2]);
	if (sl_uniform(random.at[0]) <= sl_fresnel(r->n_above, r->n, p.w, &beyond)) {
		p.w = -p.w;
		p.fate = SL_FATE_reflected;
	} else {
		sl_refract(&p, r->n_above / r->n, beyond);
		p.fate = SL_FATE_alive;
	}
	return p;
}

/*
 * A cosine from Henyey and Greenstein's distribution of asymmetry g. This form of the inverse
 * of its cumulative distribution has no division by g and is exact for the isotropic g = 0.
 */
SL_HD float sl_henyey_greenstein(float g, float g_plus_1_squared_2, float uniform)
{
	float q = 1.0f / fmaf(g, uniform + uniform, 1.0f - g);
	float c = fmaf(g_plus_1_squared_2 * uniform * q * q, fmaf(g, uniform, 1.0f - g), -1.0f);

	return c > 1.0f ? 1.0f : c < -1.0f ? -1.0f : c;
}

/* Turns the direction of p by a cosine c to the old one, at an azimuth of half_turns * pi. */
SL_HD void sl_turn(struct sl_particle *p, float c, float half_turns)
{
	sl_deflect(p, p->u, p->v, p->w, sqrtf((1.0f - c) * (1.0f + c)), c, half_turns);
	sl_direct(p, p->u, p->v, p->w);
}

/* p has come to the surface at depth z, beyond which the index is m: reflected inside, or out. */
SL_HD void sl_slab_surface(const struct sl_slab *r, struct sl_particle *p, float z, float m,
	uint8_t out, float uniform)
{
	float beyond, cosine = p->w < 0.0f ? -p->w : p->w;

	p->z = z;
	if (uniform <= sl_fresnel(r->n, m, cosine, &beyond)) {
		p->w = -p->w;
	} else {
		sl_refract(p, r->n / m, beyond);
		p->fate = out;
	}
}

SL_HD void sl_slab_step(const struct sl_slab *r, uint64_t seed, struct sl_particle *p)
{
	struct sl_words random = sl_draw(seed, p->id, 1 + (uint64_t)p->steps);
	float flight = -r->mean_free_path * sl_log(sl_uniform(random.at[0]));
	float end = fmaf(flight, p->w, p->z), uniform = sl_uniform(random.at[1]);

	p->steps++;
	if (end < 0.0f) {
		sl_fly(p, -p->z / p->w, r->slowness);
		sl_slab_surface(r, p, 0.0f, r->n_above, SL_FATE_reflected, uniform);
	} else if (end > r->thickness) {
		sl_fly(p, (r->thickness - p->z) / p->w, r->slowness);
		sl_slab_surface(r, p, r->thickness, r->n_below, SL_FATE_transmitted, uniform);
	} else {
		sl_fly(p, flight, r->slowness);
		p->collisions++;
		if (uniform <= r->absorb)
			p->fate = SL_FATE_absorbed;
		else
			sl_turn(p,
				sl_henyey_greenstein(
					r->g, r->g_plus_1_squared_2, sl_uniform(random.at[2])),
				2.0f * sl_uniform(random.at[3]));
	}
}

/* At most n steps. */
SL_HD void sl_slab_advance(
	const struct sl_slab *r, uint32_t wanted, uint64_t seed, struct sl_particle *p, uint32_t n)
{
	(void)wanted;
	while (n-- > 0 && p->fate == SL_FATE_alive) {
		sl_slab_step(r, seed, p);
		if (p->fate == SL_FATE_alive && p->steps >= r->max_steps)
			p->fate = SL_FATE_max_steps;
	}
}

#ifdef SL_MODEL_HOST

struct sl_slab_config {
	double mu_a, mu_s, g, thickness, n, n_above, n_below, angle;
	int incidence;
};

static const char *const sl_slab_incidences[] = {"normal", "angle", "diffuse", NULL};

#define OPTION(path, sort, measure, least, most, ...)                                           \
	{                                                                                       \
		.key = #path, .kind = SL_KIND_##sort,                                           \
		.offset = offsetof(struct sl_slab_config, path), .dimension = SL_DIM_##measure, \
		.lo = least, .hi = most, __VA_ARGS__                                            \
	}
static const struct sl_option sl_slab_options[] = {
	OPTION(mu_a, REAL, PER_LENGTH, 0, 1e30, .required = true, .help = "absorption coefficient"),
	OPTION(mu_s, REAL, PER_LENGTH, 0, 1e30, .required = true, .help = "scattering coefficient"),
	OPTION(g, REAL, NUMBER, -0.999, 0.999, .fallback = "0",
		.help = "mean cosine of the scattering angle (Henyey-Greenstein); 0 is isotropic"),
	OPTION(thickness, REAL, LENGTH, 1e-30, HUGE_VAL, .required = true,
		.help = "thickness of the slab; inf for a half-space"),
	OPTION(n, REAL, NUMBER, 0.1, 10, .fallback = "1", .help = "refractive index of the slab"),
	OPTION(n_above, REAL, NUMBER, 0.1, 10, .fallback = "1",
		.help = "refractive index on the side that particles come from"),
	OPTION(n_below, REAL, NUMBER, 0.1, 10, .fallback = "1",
		.help = "refractive index beyond the slab"),
	OPTION(incidence, CHOICE, NUMBER, 0, 0, .fallback = "normal", .choices = sl_slab_incidences,
		.help = "how particles come in; diffuse is Lambertian"),
	OPTION(angle, REAL, ANGLE, 0, 1.57,
		.help = "angle of incidence to the normal, in the x-z plane; with incidence: "
			"angle"),
};
#undef OPTION

static void sl_slab_make(const void *config, const struct sl_common *common, void *rules,
	const struct sl_check *check)
{
	const struct sl_slab_config *c = (const struct sl_slab_config *)config;
	struct sl_slab *r = (struct sl_slab *)rules;
	double mu_t = c->mu_a + c->mu_s, half_turns = c->angle / 3.14159265358979323846;

	if (!(mu_t > 0))
		check->complain(check->of, "mu_a",
			"mu_a + mu_s is 0 (a flight would never end), give one of them a value");
	else if (mu_t < 1e-30)
		check->complain(check->of, "mu_a",
			"mu_a + mu_s is %g /cm (flights would leave single precision), make it at "
			"least 1e-30 /cm",
			mu_t);
	if (c->incidence == SL_INCIDENCE_ANGLE && !check->given(check->of, "angle"))
		check->complain(check->of, "incidence",
			"needs an angle (none is given), add angle: 30 deg");
	if (c->incidence != SL_INCIDENCE_ANGLE && check->given(check->of, "angle"))
		check->complain(check->of, "angle",
			"does nothing here (only incidence: angle uses it), remove it or change "
			"incidence");
	r->mean_free_path = (float)(1 / mu_t);
	r->absorb = (float)(c->mu_a / mu_t);
	r->thickness = (float)c->thickness;
	r->g = (float)c->g;
	r->g_plus_1_squared_2 = (float)(2 * (1 + c->g) * (1 + c->g));
	r->n = (float)c->n;
	r->n_above = (float)c->n_above;
	r->n_below = (float)c->n_below;
	r->slowness = (float)(c->n / 29.9792458); /* speed of light in cm/ns */
	r->incidence = c->incidence;
	r->max_steps = (uint32_t)common->max_steps;
	sl_sincospi(c->incidence == SL_INCIDENCE_ANGLE ? (float)half_turns : 0.0f, &r->sin_in,
		&r->cos_in);
}

static bool sl_slab_range(const void *rules, enum sl_column column, double *lo, double *hi)
{
	const struct sl_slab *r = (const struct sl_slab *)rules;

	*lo = 0;
	switch (column) {
	case SL_COLUMN_u:
	case SL_COLUMN_v:
	case SL_COLUMN_w:
		*lo = -1;
		*hi = 1;
		return true;
	case SL_COLUMN_z:
		*hi = (double)r->thickness;
		return *hi < HUGE_VAL;
	case SL_COLUMN_weight:
		*hi = 1;
		return true;
	case SL_COLUMN_steps:
	case SL_COLUMN_collisions:
		*hi = r->max_steps;
		return true;
	case SL_COLUMN_fate:
		*hi = sl_last_fate(SL_FATES_slab);
		return true;
	default:
		return false;
	}
}

static uint32_t sl_slab_constants(const void *rules, struct sl_particle *values)
{
	(void)rules;
	values->weight = 1.0f;
	return SL_BIT(SL_COLUMN_weight);
}

static const struct sl_model sl_slab_model = {
	.name = "slab",
	.help = "flights through a plane slab that absorbs, scatters and refracts",
	.species = "photons",
	.columns = SL_COLUMNS_slab,
	.fates = SL_FATES_slab,
	.steps = true,
	.remade = SL_REMADE_slab,
	.options = sl_slab_options,
	.n_options = sizeof(sl_slab_options) / sizeof(sl_slab_options[0]),
	.config_bytes = sizeof(struct sl_slab_config),
	.rules_bytes = sizeof(struct sl_slab),
	.make = sl_slab_make,
	.range = sl_slab_range,
	.constants = sl_slab_constants,
};

#endif /* SL_MODEL_HOST */
#endif
