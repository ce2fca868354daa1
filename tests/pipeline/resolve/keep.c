/*
 * keep.c - conditions of keep, compared with the same conditions in C on random and special values;
 * the fates that they do not test; the fate of particles that fail them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/selection/condition_block.h"
#include "stages/particle/random.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"

enum { PARTICLES = 400, CONDITIONS_MOST = 128 };

/*
 * Units, names, chains, sets and bits, with their meaning in C for a particle p; tests/property/expressions.c combines
 * operators. A number that is compared with a
 * column is rounded to the precision of the column; expressions are computed in double precision.
 */
#define CONDITIONS(X)                                                                              \
	X("ekin > 1 keV and z < 5 cm and pdg == 22",                                               \
		p->energy > 1.0f && p->z < 5.0f && p->pdg == 22)                                   \
	X("ekin >= 0.1 keV", p->energy >= 0.1f)                                                    \
	X("ekin < 2.5 MeV", p->energy < 2500.0f)                                                   \
	X("ekin <= 1e-3 GeV", p->energy <= 1000.0f)                                                \
	X("ekin != 700 eV", p->energy != 0.7f)                                                     \
	X("z < 5 mm or z > 0.3 m", p->z<0.5f || p->z> 30.0f)                                       \
	X("-5 um < z", p->z > -5e-4f)                                                              \
	X("time > 2 us", p->time > 2000.0f)                                                        \
	X("time <= 1 ms and time >= -1 ps", p->time <= 1e6f && p->time >= -1e-3f)                  \
	X("x < inf", p->x < INFINITY)                                                              \
	X("x*x + y*y < (3 cm)*(4 cm)",                                                             \
		(double)p->x *(double)p->x + (double)p->y * (double)p->y < 12.0)                   \
	X("x / 2 / 3 * 4 > 1 cm", (double)p->x / 2.0 / 3.0 * 4.0 > 1.0)                            \
	X("x/time > 2 m/s", (double)p->x / (double)p->time > 2e-7)                                 \
	X("1 /cm * x < 90 deg", 1.0 * (double)p->x < 90.0 * 0.017453292519943295)                  \
	X("pdg == 1000822080", p->pdg == 1000822080)                                               \
	X("abs(pdg) == 11 or pdg == -2112", p->pdg == 11 || p->pdg == -11 || p->pdg == -2112)      \
	X("userflags >= 4294967295", p->userflags >= 4294967295u)                                  \
	X("id*id == 144", p->id == 12)                                                             \
	X("pol_x == 0 and pol_y != 0", p->pol_x == 0 && p->pol_y != 0)                             \
	X("fate == 11 and w < 0 or fate == 3", p->w < 0)                                           \
	X("x**2 + y^2 < 12 cm^2", (double)p->x *(double)p->x + (double)p->y * (double)p->y < 12.0) \
	X("x**3 > 1e-6 m^3", (double)p->x *(double)p->x *(double)p->x > 1.0)                       \
	X("x^-2 > 0.1 cm^-2", 1.0 / ((double)p->x * (double)p->x) > 0.1)                           \
	X("1/x^2 > 1000 m**-2", 1.0 / ((double)p->x * (double)p->x) > 0.1)                         \
	X("x^2 < (1 inch)**2", (double)p->x *(double)p->x < 2.54 * 2.54)                           \
	X("x^2 < 1 inch^2", (double)p->x *(double)p->x < 2.54 * 2.54)                              \
	X("-0.1 < w < 0.7", p->w > -0.1f && p->w < 0.7f)                                           \
	X("0 < x <= y < 5 cm", p->x > 0 && p->x <= p->y && p->y < 5.0f)                            \
	X("w < 0.1 <= v*1", p->w < 0.1f && (double)p->v >= 0.1)                                    \
	X("0 < x + y < 1 cm",                                                                      \
		(double)p->x + (double)p->y > 0 && (double)p->x + (double)p->y < 1.0)              \
	X("not 0 < w < 1", !(p->w > 0 && p->w < 1))                                                \
	X("pdg == abs(pdg) == 22", p->pdg == 22)                                                   \
	X("pdg not in [-11, 1000822080, 22]",                                                      \
		p->pdg != -11 && p->pdg != 1000822080 && p->pdg != 22)                             \
	X("abs(pdg) in [11, 2112] and w > 0",                                                      \
		(abs(p->pdg) == 11 || abs(p->pdg) == 2112) && p->w > 0)                            \
	X("id in [1, 2, 3, 5, 8, 13]",                                                             \
		p->id == 1 || p->id == 2 || p->id == 3 || p->id == 5 || p->id == 8 || p->id == 13) \
	X("pdg != photon", p->pdg != 22)                                                           \
	X("-electron == pdg", p->pdg == -11)                                                       \
	X("pdg in [positron, gamma, -2112]", p->pdg == -11 || p->pdg == 22 || p->pdg == -2112)     \
	X("userflags & 0xC == 0x8", (p->userflags & 12) == 8)                                      \
	X("(userflags & 0xff00) / 0x100 > 0x7f", (p->userflags >> 8 & 255) > 127)                  \
	X("userflags & 0xffffffff & 3 in [1, 2]",                                                  \
		(p->userflags & 3) == 1 || (p->userflags & 3) == 2)                                \
	X("userflags >= 0xFFFFFFFF", p->userflags == UINT32_MAX)                                   \
	X("time > 1e-9 h", p->time > 3600.0f)                                                      \
	X("time > 1e-7 min", p->time > 6000.0f)                                                    \
	X("energy > 1e6 meV", p->energy > 1.0f)                                                    \
	X("z < 1e8 angstrom", p->z < 1.0f)                                                         \
	X("z < 2 inch", p->z < 5.08f)

/* Lists the conditions and whether p meets each; returns their number. */
static size_t list_conditions(const struct sl_particle *p, const char *text[], bool meets[])
{
	size_t n = 0;

#define X(words, meaning) \
	text[n] = words;  \
	meets[n++] = (meaning);
	CONDITIONS(X)
#undef X
	return n;
}

static uint32_t random_word(uint64_t id, int which)
{
	return sl_draw(99, id, (uint64_t)which / 4).at[which % 4];
}

/* The numbers that occur in the conditions, their neighbours, and others of any magnitude. */
static float random_value(uint64_t id, int which)
{
	static const float some[] = {0, -0.0f, 1, 0.1f, 0.7f, 0.5f, -1, 5, 1000, 2500, INFINITY,
		-INFINITY, NAN, 1e-45f, 3e38f, -5e-4f, 1e6f};
	uint32_t bits = random_word(id, which);
	float any = (sl_uniform(bits) - 0.5f) * (bits % 3 ? 4.0f : 60.0f);
	float one = some[bits / 16 % (sizeof(some) / sizeof(some[0]))];

	return bits % 4 == 0    ? one
	       : bits % 16 == 1 ? nextafterf(one, INFINITY)
	       : bits % 16 == 2 ? nextafterf(one, -INFINITY)
	                        : any;
}

static struct sl_particle particle_of(uint64_t id)
{
	static const int32_t codes[] = {22, 11, -11, 2112, -2112, 1000822080, 1000822081, 0};
	struct sl_particle p = {.id = id, .fate = SL_FATE_listed};
	float *const number[] = {&p.x, &p.y, &p.z, &p.u, &p.v, &p.w, &p.energy, &p.weight, &p.time,
		&p.pol_x, &p.pol_y, &p.pol_z};

	for (int i = 0; i < 12; i++)
		*number[i] = random_value(id, i);
	p.pdg = codes[random_word(id, 12) % 8];
	p.userflags = random_word(id, 13) % 3 ? random_word(id, 14)
	                                      : UINT32_MAX - random_word(id, 14) % 2;
	return p;
}

/* Resolves keep for the model list, whose particles have columns that the slab lacks. */
static void resolve_for_list(const char *keep)
{
	char text[2048];

	snprintf(text, sizeof(text),
		"run: {particles: 10}\n"
		"model: {list: {files: %s}}\n"
		"keep: %s\n",
		reference_path("example.mcpl"), keep);
	resolve_good_text(text);
}

static void resolve_for_slab(const char *keep)
{
	char text[512];

	snprintf(text, sizeof(text),
		"run: {particles: 10}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}\n"
		"keep: %s\n",
		keep);
	resolve_good_text(text);
}

/* The final fate of a particle: alone, and as the last one of several blocks. */
static uint8_t fate_of(struct sl_particle p)
{
	enum { MANY = 2 * SL_CONDITION_BLOCK + 5, LAST = MANY - 1 };
	struct sl_columns columns = sl_columns_of(&p), many = {0};
	uint8_t fate = sl_condition_fate(&choices.condition, &columns, 0, p.id, p.fate);

#define COLUMN(name, type, unit, record, component, help) \
	type of_##name[MANY] = {0};                       \
	many.name = of_##name;                            \
	many.name[LAST] = p.name;
#include "stages/particle/columns.def"
#undef COLUMN
	sl_condition_range(&choices.condition, &many, p.id - LAST, 1, MANY);
	assert_int_equal(many.fate[LAST], fate);
	return fate;
}

/* --- meaning of conditions -------------------------------------------------------------------- */

TEST(conditions_agree_with_c)
{
	const char *text[CONDITIONS_MOST];
	bool meets[CONDITIONS_MOST];
	struct sl_particle p = particle_of(0);
	size_t n = list_conditions(&p, text, meets);

	for (size_t k = 0; k < n; k++) {
		uint32_t met = 0;

		resolve_for_list(text[k]);
		assert_int_equal(choices.keep, SL_FATE_BIT(SL_FATE_listed));
		assert_int_equal(choices.condition.fates, SL_FATE_BIT(SL_FATE_listed));
		for (uint64_t id = 0; id < PARTICLES; id++) {
			p = particle_of(id);
			list_conditions(&p, text, meets);
			if ((fate_of(p) == SL_FATE_listed) != meets[k])
				fail_msg("'%s' %s particle %d", text[k],
					meets[k] ? "rejects" : "accepts", (int)id);
			met += meets[k];
		}
		/* a condition that is always or never met would test nothing */
		if (met == 0 || met == PARTICLES)
			fail_msg("'%s' is met by %u of %d", text[k], met, PARTICLES);
	}
}

/* Leading zeros do not use up the digits of a number. */
TEST(long_literals_are_read_exactly)
{
	static const int zeros[] = {30, 470, 520, 980};
	struct sl_particle p = {.fate = SL_FATE_listed};
	char text[1024];

	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
		snprintf(text, sizeof(text), "x < 0.%0*d1e%d cm", zeros[i], 0, zeros[i] + 1);
		resolve_for_list(text);
		p.x = nextafterf(1, 0);
		assert_int_equal(fate_of(p), SL_FATE_listed);
		p.x = 1;
		assert_int_equal(fate_of(p), SL_FATE_dropped);
	}
}

/* --- fates ------------------------------------------------------------------------------------ */

#define SET2(a, b) (SL_FATE_BIT(SL_FATE_##a) | SL_FATE_BIT(SL_FATE_##b))

static void expect_fates(const char *keep, sl_fate_set kept, sl_fate_set tested)
{
	resolve_for_slab(keep);
	if (choices.keep != kept || choices.condition.fates != tested ||
		(choices.condition.n > 0) != (tested != 0))
		fail_msg("'%s' keeps %" PRIx64 " and tests %" PRIx64
			 " with %u operations; expected %" PRIx64 " and %" PRIx64,
			keep, choices.keep, choices.condition.fates, choices.condition.n, kept,
			tested);
}

/* If a condition names only fates, no particle is tested; only fates that can survive are tested. */
TEST(fates_are_selected)
{
	const sl_fate_set all = sl_models[SL_MODEL_slab]->fates &
	                        ~(SL_FATE_BIT(SL_FATE_alive) | SET2(hit, specular));

	expect_fates("transmitted", SL_FATE_BIT(SL_FATE_transmitted), 0);
	expect_fates("[transmitted, reflected]", SET2(transmitted, reflected), 0);
	expect_fates("transmitted or reflected", SET2(transmitted, reflected), 0);
	expect_fates("not absorbed", all & ~SL_FATE_BIT(SL_FATE_absorbed), 0);
	expect_fates("transmitted and w > 0.5", SL_FATE_BIT(SL_FATE_transmitted),
		SL_FATE_BIT(SL_FATE_transmitted));
	expect_fates("reflected or transmitted and w > 0.5", SET2(transmitted, reflected),
		SL_FATE_BIT(SL_FATE_transmitted));
	expect_fates("[reflected, transmitted and w > 0.5]", SET2(transmitted, reflected),
		SL_FATE_BIT(SL_FATE_transmitted));
	expect_fates("not (absorbed or w > 0.5)", all & ~SL_FATE_BIT(SL_FATE_absorbed),
		all & ~SL_FATE_BIT(SL_FATE_absorbed));
	expect_fates("w > 0.5", all, all);
	expect_fates("w > 0.5 or not w > 0.5", all, all); /* the expression is not simplified */
}

TEST(failing_particles_are_dropped)
{
	struct sl_particle p = {.w = 0.25f, .fate = SL_FATE_transmitted};

	resolve_for_slab("reflected or transmitted and w > 0.5");
	assert_int_equal(fate_of(p), SL_FATE_dropped);
	p.w = 0.75f;
	assert_int_equal(fate_of(p), SL_FATE_transmitted);
	p.fate = SL_FATE_absorbed; /* the condition is not tested for this fate */
	p.w = 0.25f;
	assert_int_equal(fate_of(p), SL_FATE_absorbed);
	p.fate = SL_FATE_reflected;
	assert_int_equal(fate_of(p), SL_FATE_reflected);
	p.fate = 77; /* not a fate, as after memory damage */
	assert_int_equal(fate_of(p), 77);
}

/* With conditions, dropped is a valid fate in keep. */
TEST(dropped_is_reported_as_a_fate)
{
	resolve_for_slab("transmitted and w > 0.5\ncheck: {dropped: 0.1}\n"
			 "stop: rel_error(dropped) < 0.1\ntallies: w:4:dropped");
	assert_int_equal(choices.stop_rule.fate, SL_FATE_dropped);
	resolve_for_slab("transmitted and w > 0.5\ntallies: w:4");
	assert_true(SL_HAS(choices.histogram[0].fates, SL_FATE_dropped));
	resolve_for_slab("transmitted\ntallies: w:4");
	assert_false(SL_HAS(choices.histogram[0].fates, SL_FATE_dropped));
}
