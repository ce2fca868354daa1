/* slab_check.c - see slab_check.h. */
#include "tests/support/models/slab_check.h"

static const struct sl_model_common common = {.max_steps = 1000};

/* The keys without defaults that a valid configuration of this kind sets. */
static const char *keys_of(const struct sl_slab_config *c)
{
	static const char *const sources[] = {"", " source.sigma ", " source.radius ",
		" source.radius source.na ", " source.depth "};
	static const char *const detectors[] = {"", " detector.radius ",
		" detector.radius detector.inner_radius ", " detector.width detector.height "};
	static char text[256];

	snprintf(text, sizeof(text), "%s%s%s", c->incidence == SL_SLAB_ANGLE ? " angle " : "",
		sources[c->source.type], detectors[c->detector.type]);
	return text;
}

struct sl_slab slab_rules(struct sl_slab_config c)
{
	struct model_check m;
	struct sl_slab r;

	memset(&r, 0, sizeof(r));
	model_check_begin(&m, keys_of(&c));
	sl_slab_model.make(&c, &common, &r, &m.check);
	assert_string_equal("", m.messages);
	return r;
}

const struct sl_slab_config slab_plain = {.mu_a = ONE(1),
	.mu_s = ONE(9),
	.g = ONE(0.5),
	.thickness = ONE(1),
	.n = ONE(1),
	.n_above = 1,
	.n_below = 1,
	.roulette = {1e-4, 0.1}};

const struct sl_slab_config slab_stack = {.mu_a = {3, {1, 0, 2}},
	.mu_s = {3, {9, 0, 38}},
	.g = {3, {0.5, 0.9, 0}},
	.thickness = {3, {0.1, 0.05, 0.2}},
	.n = {3, {1.5, 1, 1.4}},
	.n_above = 1.1,
	.n_below = 1.2,
	.roulette = {1e-4, 0.1}};

struct sl_slab_config slab_implicit(struct sl_slab_config c)
{
	c.absorption = SL_SLAB_IMPLICIT;
	return c;
}

struct sl_slab_config slab_of_one(double mu_a, double mu_s, double g, double thickness, double n,
	double n_above, double n_below, double angle, int incidence)
{
	struct sl_slab_config c = {.mu_a = ONE(mu_a),
		.mu_s = ONE(mu_s),
		.g = ONE(g),
		.thickness = ONE(thickness),
		.n = ONE(n),
		.n_above = n_above,
		.n_below = n_below,
		.angle = angle,
		.roulette = {0.01, 0.5},
		.incidence = incidence};

	return c;
}

void slab_expect_messages(struct sl_slab_config c, const char *given, const char *expected)
{
	struct model_check m;
	struct sl_slab r;

	model_check_begin(&m, given);
	sl_slab_model.make(&c, &common, &r, &m.check);
	assert_string_equal(expected, m.messages);
}

uint32_t slab_cross_boundary(
	const struct sl_slab *r, uint32_t i, struct sl_particle *p, float uniform)
{
	float length;

	return sl_slab_cross_boundary(r, r->layers, i, p, p->w < 0.0f, uniform, &length);
}

float slab_thickness(const struct sl_slab *r)
{
	return r->layer[r->layers - 1].bottom;
}
