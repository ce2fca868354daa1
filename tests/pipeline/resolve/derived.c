/*
 * derived.c - derived columns, compared with the same expressions in C on random values; one particle at a
 * time and in blocks; which columns a run computes; the names that it gives them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/resolve/choices/names.h"
#include "stages/particle/random.h"
#include "stages/selection/derive_block.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"

enum { PARTICLES = 333, FIRST_ID = 1000 };

/* Expressions with their meaning in C, for the members of particle p as doubles. */
#define COLUMNS(X)                                                                             \
	X("hypot(x, y, z)", hypot(hypot(x, y), z))                                             \
	X("sqrt(x^4) / (1 cm)", sqrt(x *x *x *x))                                              \
	X("atan2(hypot(u, v), w) - 90 deg", atan2(hypot(u, v), w) - 1.5707963267948966)        \
	X("exp(-time / (10 ns))", exp(-time / 10))                                             \
	X("log(1 + abs(w))", log(1 + fabs(w)))                                                 \
	X("pow(abs(w), 1 + v^2)", pow(fabs(w), 1 + v * v))                                     \
	X("min(x, y, -z)", fmin(fmin(x, y), -z))                                               \
	X("max(x, 0 cm, -z)", fmax(fmax(x, 0), -z))                                            \
	X("max(0, x)", fmax(0, x))                                                             \
	X("1 / max(abs(x), 1 mm)", 1 / fmax(fabs(x), 0.1))                                     \
	X("id - 7", id - 7)                                                                    \
	X("wavelength(energy) * 1e8", 12.398419843320026 / sqrt(energy * (energy + 2 * rest))) \
	X("energy * (x / (1 m))^2 * (x / (1 cm))^-2", energy *(x / 100) * (x / 100) / x / x)

static struct sl_particle particle_of(uint64_t id)
{
	static const int32_t codes[] = {22, 2112, 11, -11};
	struct sl_particle p = {.id = id, .fate = SL_FATE_listed};
	float *const number[] = {&p.x, &p.y, &p.z, &p.u, &p.v, &p.w, &p.energy, &p.weight, &p.time};

	for (int i = 0; i < 9; i++)
		*number[i] = 2 * sl_uniform(sl_draw(3, id, (uint64_t)i).at[0]) - (i < 6 ? 1 : 0);
	p.pdg = codes[id % 4];
	p.userflags = sl_draw(3, id, 9).at[0];
	return p;
}

/* Resolves columns and the rest of a configuration for the model list. */
static void resolve_for_list(const char *columns, const char *rest)
{
	char text[2048];

	snprintf(text, sizeof(text),
		"run: {particles: 10}\nmodel: {list: {files: %s}}\n%scolumns:\n%s\n%s\n",
		reference_path("example.mcpl"), strstr(rest, "keep:") ? "" : "keep: listed\n",
		columns, rest);
	resolve_good_text(text);
}

/* --- values ----------------------------------------------------------------------------------- */

static double want_of(size_t number, const struct sl_particle *p)
{
	const double x = (double)p->x, y = (double)p->y, z = (double)p->z, u = (double)p->u;
	const double v = (double)p->v, w = (double)p->w, energy = (double)p->energy;
	const double time = (double)p->time, id = (double)p->id;
	const double rest = sl_rest_energy(p->pdg);
	const double want[] = {
#define X(text, value) value,
		COLUMNS(X)
#undef X
	};

	return want[number];
}

TEST(expressions_agree_with_c)
{
	static const char *const text[] = {
#define X(text, value) text,
		COLUMNS(X)
#undef X
	};

	for (size_t k = 0; k < sizeof(text) / sizeof(text[0]); k++) {
		char columns[256];

		snprintf(columns, sizeof(columns), "  a: %s", text[k]);
		resolve_for_list(columns, "key: [a:float]");
		for (uint64_t id = 0; id < PARTICLES; id++) {
			struct sl_particle p = particle_of(id);
			double want = want_of(k, &p);

			sl_derive_particle(&choices.derivation, &p);
			if (!(fabs((double)p.derived_1 - want) <= 6e-8 * fabs(want) + 1e-12))
				fail_msg("'%s' of particle %d is %.9g, and not %.9g", text[k],
					(int)id, (double)p.derived_1, want);
		}
	}
}

/* Columns of particles, one array for each column. */
static struct sl_columns columns_of_list(void)
{
	struct sl_columns c = {0};

	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		void *items = calloc(PARTICLES, sizeof(uint64_t));

		assert_non_null(items);
		memcpy((char *)&c + sl_column_facts[i].offset, &items, sizeof(items));
	}
	for (uint64_t i = 0; i < PARTICLES; i++) {
		struct sl_particle p = particle_of(FIRST_ID + i);

		sl_store(&c, SL_EVERY_COLUMN, i, &p);
	}
	return c;
}

/* The columns r to derived_4 have equal bits; a range may begin inside a block. */
TEST(blocks_have_the_bits_of_single_particles)
{
	const char *columns = "  a: min(x, r) * (1 + id / 1e4)\n  b: exp(a / (1 cm)) + log(theta)\n"
			      "  c: pow(w, 0.3)\n  d: wavelength(energy)";
	struct sl_columns c;

	resolve_for_list(columns, "key: [b:float]\ntallies: [c:4:0..1, d:4:0..1]");
	assert_int_equal(__builtin_popcountll(choices.derivation.columns), 6);
	c = columns_of_list();
	sl_derive_range(&choices.derivation, &c, FIRST_ID, 5, PARTICLES);
	for (uint64_t i = 0; i < PARTICLES; i++) {
		struct sl_particle p = particle_of(FIRST_ID + i),
				   found = sl_load(&c, SL_EVERY_COLUMN, i);

		if (i >= 5)
			sl_derive_particle(&choices.derivation, &p);
#define X(name) assert_int_equal(sl_bits(found.name), sl_bits(p.name));
		SL_DERIVED_LIST(X)
#undef X
	}
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		free(sl_column_at(&c, (enum sl_column)i));
}

/* --- names ------------------------------------------------------------------------------------ */

/* Only columns that are used are derived; those that they need are derived before them. */
TEST(columns_are_derived_on_demand)
{
	struct sl_particle p = particle_of(1);

	resolve_for_list("  b: 2*a\n  a: x + 1 cm", "tallies: [b:4:0 mm..5 mm]");
	assert_string_equal(sl_column_name(&choices.named, SL_COLUMN_derived_1), "a");
	assert_string_equal(sl_column_name(&choices.named, SL_COLUMN_derived_2), "b");
	assert_int_equal(sl_column_unit(&choices.named, SL_COLUMN_derived_2), SL_UNIT_CM);
	assert_int_equal(choices.histogram[0].column, SL_COLUMN_derived_2);
	assert_true(choices.histogram[0].hi == 0.5);
	assert_int_equal(choices.derivation.reads, SL_BIT(SL_COLUMN_x));
	sl_derive_particle(&choices.derivation, &p);
	assert_true(p.derived_2 == 2 * (p.x + 1));
	resolve_for_list("  {}", "keep: theta < 90 deg\nkey: [w:16]");
	assert_int_equal(choices.derivation.columns, SL_BIT(SL_COLUMN_theta));
	resolve_for_list("  {}", "key: [w:16]");
	assert_int_equal(choices.derivation.n, 0);
}

/* theta and phi have the ranges of angles, unless they are replaced. */
TEST(angles_have_ranges)
{
	resolve_for_list("  {}", "key: [theta:16]\ntallies: [phi:8]");
	assert_true(choices.field[0].lo == 0 && choices.field[0].hi == SL_PI);
	assert_true(choices.histogram[0].lo == -SL_PI && choices.histogram[0].hi == SL_PI);
	assert_int_equal(sl_bits((float)SL_PI), sl_bits((float)sl_atan2(0, -1)));
}

/* The expressions of the built-in columns; a definition replaces one of them. */
TEST(built_in_columns_can_be_replaced)
{
	struct sl_particle p = particle_of(2);

	resolve_for_list("  {}", "output: {columns: [r, rho, theta, phi, wavelength]}");
	sl_derive_particle(&choices.derivation, &p);
	assert_true(p.r == (float)hypot((double)p.x, (double)p.y));
	assert_true(p.rho == (float)sqrt((double)p.x * (double)p.x + (double)p.y * (double)p.y +
					 (double)p.z * (double)p.z));
	assert_true(p.theta == (float)atan2(hypot((double)p.u, (double)p.v), (double)p.w));
	assert_true(p.phi == (float)atan2((double)p.v, (double)p.u));
	assert_true(p.wavelength > 0);
	resolve_for_list("  r: abs(x)", "output: {columns: [r]}");
	sl_derive_particle(&choices.derivation, &p);
	assert_true(p.r == fabsf(p.x));
}

/* YAML reads a comma in braces as a separator; the parts of a text are put together again. */
TEST(commas_in_braces_are_read)
{
	resolve_good_text("run: {particles: 10}\nkeep: transmitted\n"
			  "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}\n"
			  "columns: {a: hypot(x, y), b: \"hypot(x, z)\", c: hypot(a, y)}\n"
			  "key: [b:float, c_log:16]\n");
	assert_int_equal(config.columns.n, 3);
	assert_string_equal(config.columns.at[0].text, "hypot(x, y)");
	assert_string_equal(config.columns.at[2].text, "hypot(a, y)");
	assert_int_equal(choices.field[1].column, SL_COLUMN_derived_3);
	assert_true(choices.field[1].logarithmic);
}
