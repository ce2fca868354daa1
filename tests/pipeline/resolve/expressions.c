/*
 * expressions.c - conditions of keep and derived columns, compared with the same expressions in C:
 * units, names, chains, sets, functions, and columns that need others. tests/property/expressions.c
 * combines operators at random; end_to_end/bits/bits compares blocks of particles with single ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/particle/random.h"
#include "stages/selection/program.h"
#include "stages/selection/program_block.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"

enum { PARTICLES = 400, ROWS_MOST = 128 };

#define DEGREE 0.017453292519943295

/*
 * A number next to a column is rounded to the precision of the column; other numbers are doubles.
 */
#define CONDITIONS(X)                                                                        \
	X("ekin > 1 keV and z < 5 cm and pdg == 22", energy > 1 && z < 5 && pdg == 22)       \
	X("ekin >= 0.1 keV", energy >= 0.1f)                                                 \
	X("ekin < 2.5 MeV", energy < 2500)                                                   \
	X("ekin <= 1e-3 GeV", energy <= 1000)                                                \
	X("ekin != 700 eV", energy != 0.7f)                                                  \
	X("energy > 1e6 meV", energy > 1)                                                    \
	X("z < 5 mm or z > 0.3 m", z<0.5 || z> 30)                                           \
	X("z < 1e8 angstrom", z < 1)                                                         \
	X("z < 2 inch", z < 5.08f)                                                           \
	X("-5 um < z", z > -5e-4f)                                                           \
	X("time > 2 us", time > 2000)                                                        \
	X("time <= 1 ms and time >= -1 ps", time <= 1e6 && time >= -1e-3f)                   \
	X("time > 1e-9 h", time > 3600)                                                      \
	X("time > 1e-7 min", time > 6000)                                                    \
	X("x < inf", x < HUGE_VAL)                                                           \
	X("x*x + y*y < (3 cm)*(4 cm)", x *x + y * y < 12)                                    \
	X("x/time > 2 m/s", x / time > 2e-7)                                                 \
	X("1 /cm * x < 90 deg", x < 90 * DEGREE)                                             \
	X("x**2 + y^2 < 12 cm^2", x *x + y * y < 12)                                         \
	X("x**3 > 1e-6 m^3", x *x *x > 1)                                                    \
	X("x^-2 > 0.1 cm^-2", 1 / (x * x) > 0.1)                                             \
	X("1/x^2 > 1000 m**-2", 1 / (x * x) > 0.1)                                           \
	X("x^2 < (1 inch)**2", x *x < 2.54 * 2.54)                                           \
	X("x^2 < 1 inch^2", x *x < 2.54 * 2.54)                                              \
	X("-0.1 < w < 0.7", w > -0.1f && w < 0.7f)                                           \
	X("0 < x <= y < 5 cm", 0 < x && x <= y && y < 5)                                     \
	X("w < 0.1 <= v*1", w < 0.1f && 0.1 <= v)                                            \
	X("not 0 < w < 1", !(0 < w && w < 1))                                                \
	X("pdg == 1000822080", pdg == 1000822080)                                            \
	X("pdg == abs(pdg) == 22", pdg == 22)                                                \
	X("pdg not in [-11, 1000822080, 22]", pdg != -11 && pdg != 1000822080 && pdg != 22)  \
	X("abs(pdg) in [11, 2112] and w > 0", (abs(pdg) == 11 || abs(pdg) == 2112) && w > 0) \
	X("pdg != photon", pdg != 22)                                                        \
	X("-electron == pdg", pdg == -11)                                                    \
	X("pdg in [positron, gamma, -2112]", pdg == -11 || pdg == 22 || pdg == -2112)        \
	X("id*id == 144", id == 12)                                                          \
	X("id in [1, 2, 3, 5, 8]", id == 1 || id == 2 || id == 3 || id == 5 || id == 8)      \
	X("fate == 11 and w < 0 or fate == 3", w < 0)                                        \
	X("userflags >= 4294967295", flags == UINT32_MAX)                                    \
	X("userflags >= 0xFFFFFFFF", flags == UINT32_MAX)                                    \
	X("userflags & 0xC == 0x8", (flags & 12) == 8)                                       \
	X("(userflags & 0xff00) / 0x100 > 0x7f", (flags >> 8 & 255) > 127)                   \
	X("userflags & 0xffffffff & 3 in [1, 2]", (flags & 3) == 1 || (flags & 3) == 2)

/* Further lines define columns that the first needs, or replace built-in ones. */
#define COLUMNS(X)                                                                             \
	X("hypot(x, y, z)", hypot(hypot(x, y), z))                                             \
	X("sqrt(x^4) / (1 cm)", x *x)                                                          \
	X("atan2(hypot(u, v), w) - 90 deg", atan2(hypot(u, v), w) - 90 * DEGREE)               \
	X("exp(-time / (10 ns))", exp(-time / 10))                                             \
	X("log(1 + abs(w))", log(1 + fabs(w)))                                                 \
	X("pow(abs(w), 1 + v^2)", pow(fabs(w), 1 + v * v))                                     \
	X("min(x, y, -z)", fmin(fmin(x, y), -z))                                               \
	X("max(x, 0 cm, -z)", fmax(fmax(x, 0), -z))                                            \
	X("max(0, x)", fmax(0, x))                                                             \
	X("1 / max(abs(x), 1 mm)", 1 / fmax(fabs(x), 0.1))                                     \
	X("id - 7", id - 7)                                                                    \
	X("wavelength(energy) * 1e8", 12.398419843320026 / sqrt(energy * (energy + 2 * rest))) \
	X("energy * (x / (1 m))^2 * (x / (1 cm))^-2", energy * 1e-4)                           \
	X("r", hypot(x, y))                                                                    \
	X("rho", sqrt(x *x + y * y + z * z))                                                   \
	X("theta", atan2(hypot(u, v), w))                                                      \
	X("phi", atan2(v, u))                                                                  \
	X("r\n  r: abs(x)", fabs(x))                                                           \
	X("2 * b\n  b: x + 10 mm", 2 * (double)(float)(x + 1))

static const char *text[ROWS_MOST + 1];
static double value[ROWS_MOST + 1];

/*
 * Lists the texts and their values for a particle: first the conditions, whose number it returns.
 */
static size_t list_rows(const struct sl_particle *p)
{
	const double x = (double)p->x, y = (double)p->y, z = (double)p->z, u = (double)p->u;
	const double v = (double)p->v, w = (double)p->w, energy = (double)p->energy;
	const double time = (double)p->time, id = (double)p->id, rest = sl_rest_energy(p->pdg);
	const uint32_t flags = p->userflags;
	const int32_t pdg = p->pdg;
	size_t n = 0, conditions;

#define X(words, meaning) \
	text[n] = words;  \
	value[n++] = meaning;
	CONDITIONS(X)
	conditions = n;
	COLUMNS(X)
#undef X
	text[n] = NULL;
	return conditions;
}

/* --- particles -------------------------------------------------------------------------------- */

static uint32_t random_word(uint64_t id, int which)
{
	return sl_draw(99, id, (uint64_t)which / 4).at[which % 4];
}

/* The numbers that occur in the conditions, their neighbours, and others of any magnitude. */
static float any_value(uint32_t bits)
{
	static const float some[] = {0, -0.0f, 1, 0.1f, 0.7f, 0.5f, -1, 5, 1000, 2500, INFINITY,
		-INFINITY, NAN, 1e-45f, 3e38f, -5e-4f, 1e6f};
	float any = (sl_uniform(bits) - 0.5f) * (bits % 3 ? 4.0f : 60.0f);
	float one = some[bits / 16 % (sizeof(some) / sizeof(some[0]))];

	return bits % 4 == 0    ? one
	       : bits % 16 == 1 ? nextafterf(one, INFINITY)
	       : bits % 16 == 2 ? nextafterf(one, -INFINITY)
	                        : any;
}

/* usual: numbers of -1 to 1, energy, weight and time of 0 to 2. */
static struct sl_particle particle_of(uint64_t id, bool usual)
{
	static const int32_t codes[] = {22, 11, -11, 2112, -2112, 1000822080, 1000822081, 0};
	struct sl_particle p = {.id = id, .fate = SL_FATE_listed};
	float *const number[] = {&p.x, &p.y, &p.z, &p.u, &p.v, &p.w, &p.energy, &p.weight, &p.time};

	for (int i = 0; i < 9; i++)
		*number[i] = usual ? 2 * sl_uniform(random_word(id, i)) - (i < 6 ? 1 : 0)
		                   : any_value(random_word(id, i));
	p.pdg = codes[random_word(id, 12) % (usual ? 4 : 8)];
	p.userflags = random_word(id, 13) % 3 ? random_word(id, 14)
	                                      : UINT32_MAX - random_word(id, 14) % 2;
	return p;
}

/*
 * Resolves keep and columns for the model list, whose particles have all columns of the
 * expressions.
 */
static void resolve_for_list(const char *keep, const char *columns, const char *rest)
{
	char yaml[2048];

	snprintf(yaml, sizeof(yaml),
		"run: {particles: 10}\nmodel: {list: {files: %s}}\nkeep: %s\ncolumns:\n%s\n%s\n",
		reference_path("example.mcpl"), keep, columns, rest);
	resolve_good_text(yaml);
}

static uint8_t fate_of(struct sl_particle p)
{
	struct sl_columns columns = sl_columns_of(&p);

	return sl_condition_fate(&choices.condition, &columns, 0, p.id, p.fate);
}

/* --- values ----------------------------------------------------------------------------------- */

TEST(conditions_agree_with_c)
{
	struct sl_particle p = particle_of(0, false);
	size_t n = list_rows(&p);

	for (size_t k = 0; k < n; k++) {
		unsigned met = 0;

		resolve_for_list(text[k], "  {}", "");
		for (uint64_t id = 0; id < PARTICLES; id++) {
			p = particle_of(id, false);
			list_rows(&p);
			if (fate_of(p) != (value[k] != 0 ? SL_FATE_listed : SL_FATE_dropped))
				fail_msg("'%s': fate %d of particle %d", text[k], fate_of(p),
					(int)id);
			met += value[k] != 0;
		}
		/* a condition that is always or never met would test nothing */
		if (met == 0 || met == PARTICLES)
			fail_msg("'%s' is met by %u of %d", text[k], met, PARTICLES);
	}
}

TEST(columns_agree_with_c)
{
	struct sl_particle p = particle_of(0, true);

	for (size_t k = list_rows(&p); text[k]; k++) {
		char columns[256];

		snprintf(columns, sizeof(columns), "  a: %s", text[k]);
		resolve_for_list("listed", columns, "output: {columns: [a]}");
		for (uint64_t id = 0; id < PARTICLES; id++) {
			p = particle_of(id, true);
			list_rows(&p);
			sl_derive_particle(&choices.derivation, &p);
			if (!(fabs((double)p.derived_1 - value[k]) <=
				    6e-8 * fabs(value[k]) + 1e-12))
				fail_msg("'%s' of particle %d is %.9g, and not %.9g", text[k],
					(int)id, (double)p.derived_1, value[k]);
		}
	}
}

/* Leading zeros do not use up the digits of a number. */
TEST(long_literals_are_read_exactly)
{
	static const int zeros[] = {30, 470, 520, 980};
	struct sl_particle p = {.fate = SL_FATE_listed};
	char literal[1024];

	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		snprintf(literal, sizeof(literal), "x < 0.%0*d1e%d cm", zeros[i], 0, zeros[i] + 1);
		resolve_for_list(literal, "  {}", "");
		p.x = nextafterf(1, 0);
		assert_int_equal(fate_of(p), SL_FATE_listed);
		p.x = 1;
		assert_int_equal(fate_of(p), SL_FATE_dropped);
	}
}

/* A condition is tested for its fates only. */
TEST(other_fates_stay)
{
	static const struct {
		float w;
		uint8_t fate, expected;
	} rows[] = {{0.25f, SL_FATE_transmitted, SL_FATE_dropped},
		{0.75f, SL_FATE_transmitted, SL_FATE_transmitted},
		{0.25f, SL_FATE_absorbed, SL_FATE_absorbed},
		{0.25f, SL_FATE_reflected, SL_FATE_reflected},
		{0.25f, 77, 77}}; /* not a fate, as after memory damage */

	resolve_good_text("run: {particles: 10}\nkeep: reflected or transmitted and w > 0.5\n"
			  "model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_particle p = {.w = rows[i].w, .fate = rows[i].fate};

		assert_int_equal(fate_of(p), rows[i].expected);
	}
}
