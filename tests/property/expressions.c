/*
 * expressions.c - random conditions of keep and derived columns: the compiled program has the value that a walk over
 * the tree of the expression has. Texts have only the brackets that precedence demands.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stages/selection/condition_block.h"
#include "stages/selection/derivation.h"
#include "tests/support/configs/config_check.h"
#include "tests/support/formats/mcpl_lists.h"
#include "tests/support/property/property.h"

/* --- trees ------------------------------------------------------------------------------------ */

enum node_kind {
	NUMBER,
	COLUMN_OF,
	FLAGS,
	PLUS,
	MINUS,
	TIMES,
	OVER,
	NEGATED,
	POWER,
	ABSOLUTE,
	FUNCTION,
	COMPARED,
	AMONG,
	NOT,
	AND,
	OR
};

enum { NODES = 64, PARTICLES = 2 * SL_CONDITION_BLOCK + 5 };

static const char *const comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
static const char *const column_names[] = {"u", "v", "w", "weight", "pol_x", "pol_y", "pol_z"};
static const enum sl_column columns[] = {SL_COLUMN_u, SL_COLUMN_v, SL_COLUMN_w, SL_COLUMN_weight,
	SL_COLUMN_pol_x, SL_COLUMN_pol_y, SL_COLUMN_pol_z};

static double of_sqrt(double a, double b)
{
	(void)b;
	return sqrt(a);
}

static double of_exp(double a, double b)
{
	(void)b;
	return sl_exp_double(a);
}

static const struct {
	const char *name;
	int takes;
	double (*run)(double a, double b);
} functions[] = {{"sqrt", 1, of_sqrt}, {"exp", 1, of_exp}, {"hypot", 2, sl_hypot},
	{"atan2", 2, sl_atan2}, {"min", 2, sl_min}, {"max", 2, sl_max}};

/* Operands are a and b; number is a constant, an exponent, or which column, function or comparison. */
struct node {
	enum node_kind kind;
	const struct node *a, *b;
	double number;
};

static struct node nodes[NODES];
static uint32_t n_nodes;
static bool derives; /* the expression is that of a derived column */

static const struct node *add(
	enum node_kind kind, const struct node *a, const struct node *b, double number)
{
	assert_true(n_nodes < NODES);
	nodes[n_nodes] = (struct node){kind, a, b, number};
	return &nodes[n_nodes++];
}

static const struct node *any_number(struct rnd *g, uint32_t depth)
{
	uint32_t how = rnd_below(g, depth == 0 ? 3 : derives ? 11 : 10);
	const struct node *a, *b;

	/* numbers that single precision holds, because those next to a column are rounded to it */
	if (how == 0)
		return add(NUMBER, NULL, NULL, rnd_below(g, 65) / 8.0);
	if (how == 1)
		return add(COLUMN_OF, NULL, NULL, rnd_below(g, 7));
	if (how == 2)
		return derives ? any_number(g, 0) : add(FLAGS, NULL, NULL, 1 + rnd_below(g, 255));
	a = any_number(g, depth - 1);
	b = how < 7 || how == 10 ? any_number(g, depth - 1) : NULL;
	switch (how) {
	case 7:
		return add(NEGATED, a, NULL, 0);
	case 8:
		return add(
			POWER, a, NULL, (double)rnd_below(g, 4) + 1 - (rnd_one_in(g, 3) ? 5 : 0));
	case 9:
		return add(ABSOLUTE, a, NULL, 0);
	case 10:
		return add(FUNCTION, a, b, rnd_below(g, sizeof(functions) / sizeof(functions[0])));
	default:
		return add((enum node_kind)(PLUS + how - 3), a, b, 0);
	}
}

static const struct node *any_condition(struct rnd *g, uint32_t depth)
{
	uint32_t how = rnd_below(g, depth == 0 ? 3 : 6);
	const struct node *a;

	if (how < 2) {
		a = any_number(g, 2);
		return add(COMPARED, a, any_number(g, 1), rnd_below(g, 6));
	}
	if (how == 2)
		return add(AMONG, NULL, NULL, (int)rnd_below(g, 9) - 4);
	a = any_condition(g, depth - 1);
	if (how == 3)
		return add(NOT, a, NULL, 0);
	return add(how == 4 ? AND : OR, a, any_condition(g, depth - 1), 0);
}

/* --- texts ------------------------------------------------------------------------------------ */

static char text[4096];
static size_t used;

#define PUT(...) (used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__))

/* The strength with which a node binds; a weaker one as an operand needs brackets. */
static int strength(enum node_kind kind)
{
	switch (kind) {
	case OR:
		return 1;
	case AND:
		return 2;
	case NOT:
		return 3;
	case COMPARED:
	case AMONG:
		return 4;
	case FLAGS:
		return 5;
	case PLUS:
	case MINUS:
		return 6;
	case TIMES:
	case OVER:
		return 7;
	case NEGATED:
	case POWER:
		return 8;
	default:
		return 9;
	}
}

static void print(const struct node *n, int least)
{
	static const char *const signs[] = {" + ", " - ", " * ", " / "};
	const int own = strength(n->kind);
	const uint32_t which = (uint32_t)fabs(n->number);

	if (own < least)
		PUT("(");
	switch (n->kind) {
	case NUMBER:
		PUT("%.17g", n->number);
		break;
	case COLUMN_OF:
		PUT("%s", column_names[which]);
		break;
	case FLAGS:
		PUT("userflags & 0x%x", which);
		break;
	case NEGATED:
		PUT("-");
		print(n->a, 8);
		break;
	case POWER:
		print(n->a, 9);
		PUT("^%d", (int)n->number);
		break;
	case ABSOLUTE:
		PUT("abs(");
		print(n->a, 6);
		PUT(")");
		break;
	case FUNCTION:
		PUT("%s(", functions[which].name);
		print(n->a, 6);
		if (functions[which].takes == 2) {
			PUT(", ");
			print(n->b, 6);
		}
		PUT(")");
		break;
	case COMPARED:
		print(n->a, 5);
		PUT(" %s ", comparisons[which]);
		print(n->b, 5);
		break;
	case AMONG:
		PUT("pdg in [7, %d]", (int)n->number);
		break;
	case NOT:
		PUT("not ");
		print(n->a, 3);
		break;
	case AND:
	case OR:
		print(n->a, own);
		PUT(n->kind == AND ? " and " : " or ");
		print(n->b, own + 1);
		break;
	default:
		print(n->a, own);
		PUT("%s", signs[n->kind - PLUS]);
		print(n->b, own + 1);
	}
	if (own < least)
		PUT(")");
}

/* --- values ----------------------------------------------------------------------------------- */

static double value(const struct node *n, const struct sl_particle *p);

static bool compare(uint32_t how, double a, double b)
{
	const bool answers[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};

	return answers[how];
}

static double power(double x, int exponent)
{
	double product = x;

	for (int k = abs(exponent); k > 1; k--)
		product *= x;
	return exponent < 0 ? 1 / product : product;
}

/* The value of a node with operands of these values. */
static double operate(const struct node *n, double a, double b, const struct sl_particle *p)
{
	const uint32_t which = (uint32_t)fabs(n->number);

	switch (n->kind) {
	case NUMBER:
		return n->number;
	case COLUMN_OF: {
		struct sl_particle copy = *p;
		const struct sl_columns c = sl_columns_of(&copy);

		return (double)*(const float *)sl_column_at(&c, columns[which]);
	}
	case FLAGS:
		return p->userflags & which;
	case PLUS:
		return a + b;
	case MINUS:
		return a - b;
	case TIMES:
		return a * b;
	case OVER:
		return a / b;
	case NEGATED:
		return -a;
	case POWER:
		return power(a, (int)n->number);
	case ABSOLUTE:
		return fabs(a);
	case FUNCTION:
		return functions[which].run(a, b);
	case COMPARED:
		return compare(which, a, b);
	case AMONG:
		return p->pdg == 7 || p->pdg == (int)n->number;
	case NOT:
		return a == 0;
	case AND:
		return a != 0 && b != 0;
	default:
		return a != 0 || b != 0;
	}
}

static double value(const struct node *n, const struct sl_particle *p)
{
	return operate(n, n->a ? value(n->a, p) : 0, n->b ? value(n->b, p) : 0, p);
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

	for (int k = 0; k < 7; k++)
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
	static float real[7][PARTICLES];
	static uint32_t flags[PARTICLES];
	static int32_t pdg[PARTICLES];
	static uint8_t fate[PARTICLES];
	struct sl_columns many = {.userflags = flags, .pdg = pdg, .fate = fate};
	const struct node *tree;

	derives = false;
	n_nodes = 0;
	used = 0;
	tree = any_condition(g, 1);
	print(tree, 1);
	print_message("%s\n", text);
	resolve(text, "");
	for (int k = 0; k < 7; k++)
		*(float **)(void *)((char *)&many + sl_column_facts[columns[k]].offset) = real[k];
	for (uint32_t i = 0; i < PARTICLES; i++) {
		struct sl_columns one;

		p[i] = any_particle(g);
		one = sl_columns_of(&p[i]);
		flags[i] = p[i].userflags;
		pdg[i] = p[i].pdg;
		fate[i] = SL_FATE_listed;
		for (int k = 0; k < 7; k++)
			real[k][i] = *(const float *)sl_column_at(&one, columns[k]);
		if (sl_condition_holds(&choices.condition, &one, 0, i, SL_FATE_listed) !=
			(value(tree, &p[i]) != 0))
			fail_msg("'%s': particle %u", text, i);
	}
	sl_condition_range(&choices.condition, &many, 0, 0, PARTICLES);
	for (uint32_t i = 0; i < PARTICLES; i++)
		if ((fate[i] == SL_FATE_listed) != (value(tree, &p[i]) != 0))
			fail_msg("'%s': particle %u of a block", text, i);
}

PROPERTY(derived_columns_have_the_value_of_their_tree, 4000)
{
	static char section[5000];
	const struct node *tree;

	derives = true;
	n_nodes = 0;
	used = 0;
	tree = any_number(g, 3);
	print(tree, 6);
	print_message("%s\n", text);
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

PROPERTY_FILE()
