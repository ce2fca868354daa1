/*
 * expressions.c - random conditions of keep and derived columns: the compiled program has the value
 * that a walk over the tree of the expression has. Texts have only the brackets that precedence
 * demands. Functions are those of the C library.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/selection/program.h"
#include "stages/selection/program_block.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/property/property.h"

/* --- trees ------------------------------------------------------------------------------------ */

enum { NODES = 64, PARTICLES = 2 * SL_PROGRAM_BLOCK + 5, COLUMNS = 7 };

static const enum sl_column columns[COLUMNS] = {SL_COLUMN_u, SL_COLUMN_v, SL_COLUMN_w,
	SL_COLUMN_weight, SL_COLUMN_pol_x, SL_COLUMN_pol_y, SL_COLUMN_pol_z};

/*
 * Name, text, how strongly it binds, the same of its operands at least, or they need brackets, and
 * its value. In the text and the value, A and B are operands, and # is the number of a node: a
 * constant, an exponent, or which column.
 */
#define NUMBERS(X)                                                         \
	X(CONSTANT, "#", 9, 0, 0, number)                                  \
	X(COLUMN_OF, "@", 9, 0, 0, column_of(p, (int)number))              \
	X(FLAGS, "userflags & $", 5, 0, 0, p->userflags &(uint32_t)number) \
	X(PLUS, "A + B", 6, 6, 7, a + b)                                   \
	X(MINUS, "A - B", 6, 6, 7, a - b)                                  \
	X(TIMES, "A * B", 7, 7, 8, a *b)                                   \
	X(OVER, "A / B", 7, 7, 8, a / b)                                   \
	X(NEGATED, "-A", 8, 8, 0, -a)                                      \
	X(POWER, "A^#", 8, 9, 0, power(a, (int)number))                    \
	X(ABSOLUTE, "abs(A)", 9, 6, 0, fabs(a))
#define FUNCTIONS(X)                                     \
	X(SQRT, "sqrt(A)", 9, 6, 0, sqrt(a))             \
	X(EXP, "exp(A)", 9, 6, 0, sl_exp_double(a))      \
	X(HYPOT, "hypot(A, B)", 9, 6, 6, sl_hypot(a, b)) \
	X(ATAN2, "atan2(A, B)", 9, 6, 6, sl_atan2(a, b)) \
	X(MIN, "min(A, B)", 9, 6, 6, sl_min(a, b))       \
	X(MAX, "max(A, B)", 9, 6, 6, sl_max(a, b))
#define CONDITIONS(X)                                                            \
	X(BELOW, "A < B", 4, 5, 5, a < b)                                        \
	X(AT_MOST, "A <= B", 4, 5, 5, a <= b)                                    \
	X(ABOVE, "A > B", 4, 5, 5, a > b)                                        \
	X(AT_LEAST, "A >= B", 4, 5, 5, a >= b)                                   \
	X(EQUAL, "A == B", 4, 5, 5, a == b)                                      \
	X(UNEQUAL, "A != B", 4, 5, 5, a != b)                                    \
	X(AMONG, "pdg in [7, #]", 4, 0, 0, p->pdg == 7 || p->pdg == (int)number) \
	X(NOT, "not A", 3, 3, 0, a == 0)                                         \
	X(AND, "A and B", 2, 2, 3, a != 0 && b != 0)                             \
	X(OR, "A or B", 1, 1, 2, a != 0 || b != 0)

#define KIND(name, text, own, left, right, value) name,
#define ALL(X)                                    NUMBERS(X) FUNCTIONS(X) CONDITIONS(X)
enum kind { ALL(KIND) KINDS };

static const struct {
	const char *text;
	int own, left, right;
} kinds[] = {
#define TABLE(name, text, own, left, right, value) {text, own, left, right},
	ALL(TABLE)};

struct node {
	enum kind kind;
	const struct node *a, *b;
	double number;
};

static struct node nodes[NODES];
static uint32_t n_nodes;
static bool derives; /* the expression is that of a derived column */

/* Single precision holds the constants, because those next to a column are rounded to it. */
static double any_constant(struct rnd *g, enum kind kind)
{
	switch (kind) {
	case COLUMN_OF:
		return rnd_below(g, COLUMNS);
	case FLAGS:
		return 1 + rnd_below(g, 255);
	case POWER:
		return (double)rnd_below(g, 4) + 1 - (rnd_one_in(g, 3) ? 5 : 0);
	case AMONG:
		return (double)rnd_below(g, 9) - 4;
	default:
		return rnd_below(g, 65) / 8.0;
	}
}

/*
 * A node of a kind from first on; its operands are numbers if they have to bind more strongly than
 * a condition.
 */
static const struct node *any_node(struct rnd *g, enum kind first, uint32_t depth)
{
	const uint32_t all = first == BELOW ? KINDS - BELOW : derives ? BELOW : SQRT;
	const uint32_t leaves = first == BELOW ? NOT - BELOW : derives ? FLAGS : PLUS;
	enum kind kind = (enum kind)(first + rnd_below(g, depth ? all : leaves));
	struct node *n = &nodes[n_nodes++];

	assert_true(n_nodes <= NODES);
	if (kind == FLAGS && derives)
		kind = COLUMN_OF;
	depth = kinds[kind].own == 4 ? 2 : depth - 1;
	*n = (struct node){.kind = kind, .number = any_constant(g, kind)};
	if (kinds[kind].left > 0)
		n->a = any_node(g, kinds[kind].left < 5 ? BELOW : CONSTANT, depth);
	if (kinds[kind].right > 0)
		n->b = any_node(g, kinds[kind].right < 5 ? BELOW : CONSTANT, depth);
	return n;
}

/* --- texts ------------------------------------------------------------------------------------ */

static char text[4096];
static size_t used;

#define PUT(...) (used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__))

static void print(const struct node *n, int least)
{
	const bool brackets = kinds[n->kind].own < least;

	PUT("%s", brackets ? "(" : "");
	for (const char *c = kinds[n->kind].text; *c; c++) {
		if (*c == 'A')
			print(n->a, kinds[n->kind].left);
		else if (*c == 'B')
			print(n->b, kinds[n->kind].right);
		else if (*c == '#')
			PUT("%.17g", n->number);
		else if (*c == '$')
			PUT("0x%x", (unsigned)n->number);
		else if (*c == '@')
			PUT("%s", sl_column_facts[columns[(int)n->number]].name);
		else
			PUT("%c", *c);
	}
	PUT("%s", brackets ? ")" : "");
}

/* A random tree of numbers or conditions, and its text. */
static const struct node *make(struct rnd *g, enum kind first, uint32_t depth)
{
	const struct node *tree;

	n_nodes = 0;
	used = 0;
	tree = any_node(g, first, depth);
	print(tree, derives ? 6 : 1);
	print_message("%s\n", text);
	return tree;
}

/* --- values ----------------------------------------------------------------------------------- */

static double column_of(const struct sl_particle *p, int which)
{
	struct sl_particle copy = *p;
	const struct sl_columns c = sl_columns_of(&copy);

	return (double)*(const float *)sl_column_at(&c, columns[which]);
}

static double power(double x, int exponent)
{
	double product = x;

	for (int k = abs(exponent); k > 1; k--)
		product *= x;
	return exponent < 0 ? 1 / product : product;
}

static double value(const struct node *n, const struct sl_particle *p)
{
	const double a = n->a ? value(n->a, p) : 0, b = n->b ? value(n->b, p) : 0;
	const double number = n->number;

	switch (n->kind) {
#define VALUE(name, text, own, left, right, value) \
	case name:                                 \
		return value;
		ALL(VALUE)
	default:
		fail();
	}
	return 0;
}

/* --- particles -------------------------------------------------------------------------------- */

/* Values that occur in the expressions, and any others. */
static float any_value(struct rnd *g)
{
	return rnd_one_in(g, 3)   ? (float)rnd_below(g, 65) / 8
	       : rnd_one_in(g, 4) ? rnd_float(g)
	                          : (float)rnd_between(g, -2, 2);
}

static struct sl_particle any_particle(struct rnd *g)
{
	struct sl_particle p = {.fate = SL_FATE_listed,
		.userflags = (uint32_t)rnd_bits(g),
		.pdg = (int32_t)rnd_below(g, 14) - 5};
	const struct sl_columns c = sl_columns_of(&p);

	for (int k = 0; k < COLUMNS; k++)
		*(float *)sl_column_at(&c, columns[k]) = any_value(g);
	return p;
}

/* Resolves a run of a list with this condition and further sections. */
static void resolve(const char *keep, const char *more)
{
	static char config_text[8192];

	snprintf(config_text, sizeof(config_text),
		"run: {particles: 10}\nmodel: {list: {files: %s}}\nkeep: '%s'\n%s",
		reference_path("example.mcpl"), keep, more);
	resolve_good_text(config_text);
}

/* Each particle alone, and all in blocks. */
PROPERTY(conditions_have_the_value_of_their_tree, 4000)
{
	static struct sl_particle p[PARTICLES];
	static float real[COLUMNS][PARTICLES];
	static uint32_t flags[PARTICLES];
	static int32_t pdg[PARTICLES];
	static uint8_t fate[PARTICLES];
	struct sl_columns many = {.userflags = flags, .pdg = pdg, .fate = fate};
	const struct node *tree;

	derives = false;
	tree = make(g, BELOW, 1);
	resolve(text, "");
	for (uint32_t i = 0; i < PARTICLES; i++) {
		p[i] = any_particle(g);
		flags[i] = p[i].userflags;
		pdg[i] = p[i].pdg;
		fate[i] = SL_FATE_listed;
		for (int k = 0; k < COLUMNS; k++)
			real[k][i] = (float)column_of(&p[i], k);
	}
	for (int k = 0; k < COLUMNS; k++)
		*(float **)(void *)((char *)&many + sl_column_facts[columns[k]].offset) = real[k];
	sl_program_range(&choices.condition, &many, 0, 0, PARTICLES);
	for (uint32_t i = 0; i < PARTICLES; i++) {
		const struct sl_columns one = sl_columns_of(&p[i]);
		const bool want = value(tree, &p[i]) != 0;

		if (sl_condition_holds(&choices.condition, &one, 0, i, SL_FATE_listed) != want)
			fail_msg("'%s': particle %u", text, i);
		if ((fate[i] == SL_FATE_listed) != want)
			fail_msg("'%s': particle %u of a block", text, i);
	}
}

PROPERTY(derived_columns_have_the_value_of_their_tree, 4000)
{
	static char section[5000];
	const struct node *tree;

	derives = true;
	tree = make(g, CONSTANT, 3);
	snprintf(section, sizeof(section), "columns: {mine: '%s'}\noutput: {columns: [mine]}\n",
		text);
	resolve("listed", section);
	for (int i = 0; i < 100; i++) {
		struct sl_particle p = any_particle(g);
		const float want = sl_derived_value(value(tree, &p));

		sl_derive_particle(&choices.derivation, &p);
		if (sl_bits(p.derived_1) != sl_bits(want))
			fail_msg("'%s' is %a, not %a", text, (double)p.derived_1, (double)want);
	}
}

/* --- functions of derived columns ------------------------------------------------------------- */

/* The error of found, in units in the last place of the float nearest to want. */
static double ulps(float found, long double want)
{
	float nearest = (float)want;
	int exponent;

	if (isinf(nearest) || isnan(nearest))
		return sl_bits(found) == sl_bits(nearest) || (isnan(found) && isnan(nearest)) ? 0
		                                                                              : 1e9;
	frexpf(nearest, &exponent);
	exponent = exponent < -125 ? -125 : exponent;
	return (double)fabsl(((long double)found - want) / ldexpl(1, exponent - 24));
}

/* A float of any magnitude; of near ones if spread is small. */
static float spread_float(struct rnd *g, int spread)
{
	float x = ldexpf(
		(float)rnd_between(g, 1, 2), (int)rnd_below(g, 2 * (uint32_t)spread + 1) - spread);

	return rnd_one_in(g, 2) ? -x : x;
}

/* Compares with the C library in extended precision, after rounding to a float. */
#define EXPECT_NEAR(name, found, want)                                                      \
	do {                                                                                \
		double error = ulps(sl_derived_value(found), want);                         \
                                                                                            \
		if (!(error <= SL_FUNCTION_ULP))                                            \
			fail_msg("%s(%a, %a) has an error of %.7f ulp", name, a, b, error); \
	} while (0)

PROPERTY(functions_are_accurate, 700)
{
	static const struct {
		const char *name;
		double (*run)(double a, double b);
		long double (*want)(long double a, long double b);
		int spread[2];
	} two[] = {{"hypot", sl_hypot, hypotl, {2, 120}}, {"atan2", sl_atan2, atan2l, {3, 60}},
		{"pow", sl_pow, powl, {5, 2}}};

	for (int i = 0; i < 2000; i++) {
		double a = (double)(i % 4 ? sl_float((uint32_t)rnd_bits(g)) : rnd_float(g)), b = 0;

		EXPECT_NEAR("log", sl_log_double(a), logl((long double)a));
		EXPECT_NEAR("exp", sl_exp_double(a), expl((long double)a));
		EXPECT_NEAR("sqrt", sl_program_call(SL_OP_sqrt, 0, 0, a), sqrtl((long double)a));
		for (int k = 0; k < 3 && i % 4 == 0; k++) {
			a = (double)spread_float(g, two[k].spread[i / 4 % 2]);
			a = two[k].run == sl_pow ? fabs(a) : a;
			b = (double)spread_float(g, two[k].spread[i / 4 % 2]);
			EXPECT_NEAR(two[k].name, two[k].run(a, b),
				two[k].want((long double)a, (long double)b));
		}
	}
}

static void expect_same(const char *name, double found, double want)
{
	if (!(isnan(found) && isnan(want)) && sl_double_bits(found) != sl_double_bits(want))
		fail_msg("%s: %a, and not %a", name, found, want);
}

TEST(special_values_are_those_of_c)
{
	static const double special[] = {0.0, -0.0, 1, -1, 1e308, 0x1p-1060, -2.5, (double)INFINITY,
		-(double)INFINITY, (double)NAN};
	const size_t n = sizeof(special) / sizeof(special[0]);

	for (size_t i = 0; i < n * n; i++) {
		double a = special[i / n], b = special[i % n], edge = atan2(a, b);

		if (isnan(a) || isinf(a) || a == 0) {
			expect_same("log", sl_log_double(a), log(a));
			expect_same("exp", sl_exp_double(a), exp(a));
		}
		if (fabs(sl_atan2(a, b) - edge) > 4e-16 || signbit(sl_atan2(a, b)) != signbit(edge))
			fail_msg("atan2(%g, %g): %a, and not %a", a, b, sl_atan2(a, b), edge);
		if (!(a < 0) && (isnan(a + b) || isinf(a) || isinf(b) || a == 0 || b == 0))
			expect_same("pow", sl_pow(fabs(a), b), pow(fabs(a), b));
		if (isnan(a) || isnan(b))
			assert_true(isnan(sl_min(a, b)) && isnan(sl_max(a, b)));
		else
			assert_true(sl_min(a, b) == fmin(a, b) && sl_max(a, b) == fmax(a, b));
	}
	assert_true(isnan(sl_pow(-1, 2)) && isnan(sl_log_double(-1)));
	assert_true(sl_exp_double(1000) == (double)INFINITY && sl_exp_double(-1000) == 0);
	assert_true(fabs(sl_log_double(0x1p-1060) + 1060 * log(2.0)) < 1e-12);
	assert_int_equal(sl_bits(sl_derived_value(-(double)NAN)), SL_NAN_BITS);
}

/* A thermal neutron of 25.3 meV has 1.798 angstrom, a photon of 12.398 keV has 1 angstrom. */
TEST(wavelengths_are_those_of_the_literature)
{
	assert_true(fabs(sl_wavelength(25.3e-6, sl_rest_energy(2112)) - 1.798157e-8) < 1e-14);
	assert_true(fabs(sl_wavelength(12.398419843320, sl_rest_energy(22)) - 1e-8) < 1e-19);
	assert_true(fabs(sl_wavelength(100, sl_rest_energy(-11)) - 3.70144e-10) < 1e-15);
	assert_true(isnan(sl_rest_energy(2000000101)));
}

PROPERTY_FILE()
