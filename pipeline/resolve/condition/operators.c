/*
 * operators.c - the types of operands: their checks, which say what to write instead; and the table
 * of operators, with the types of their results.
 */
#include "pipeline/resolve/condition/condition.h"

#include <string.h>

/* --- types ------------------------------------------------------------------------------------ */

void sl_operand_set_dimension(struct sl_operand *v, enum sl_dimension dimension, int power)
{
	const struct sl_dimension_facts *f = &sl_dimensions[dimension];

	v->power[0] = f->length * power;
	v->power[1] = f->mass * power;
	v->power[2] = f->time * power;
	v->angle = dimension == SL_DIM_ANGLE;
}

/* Have two numbers the same dimension? */
static bool is_same(const struct sl_operand *a, const struct sl_operand *b)
{
	return memcmp(a->power, b->power, sizeof(a->power)) == 0;
}

const char *sl_operand_unit(const struct sl_operand *v)
{
	static const enum sl_dimension simple[] = {SL_DIM_LENGTH, SL_DIM_TIME, SL_DIM_ENERGY};
	struct sl_operand unit = sl_no_operand;

	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		sl_operand_set_dimension(&unit, (enum sl_dimension)d, 1);
		if (is_same(&unit, v))
			return *sl_dimensions[d].unit ? sl_dimensions[d].unit : "no unit";
	}
	for (size_t d = 0; d < sizeof(simple) / sizeof(simple[0]); d++)
		for (int power = -SL_EXPONENT_MAX; power <= SL_EXPONENT_MAX; power++) {
			sl_operand_set_dimension(&unit, simple[d], power);
			if (is_same(&unit, v))
				return sl_said("%s^%d", sl_dimensions[simple[d]].unit, power);
		}
	return "units, as in (1 cm)*(1 ns)";
}

enum sl_unit sl_operand_column_unit(const struct sl_operand *v)
{
	struct sl_operand unit = sl_no_operand;
	int u = 0;

	for (; u < SL_UNIT_COUNT; u++) {
		sl_operand_set_dimension(&unit, sl_units[u].dimension, 1);
		if (is_same(&unit, v) && unit.angle == v->angle && sl_units[u].factor == 1.0)
			break;
	}
	return (enum sl_unit)u;
}

/* A literal number without a unit. */
static bool is_plain(const struct sl_operand *v)
{
	return v->literal >= 0 && v->kind == SL_PLAIN && is_same(v, &sl_no_operand);
}

/* Refuses a condition where a number is needed. */
static void refuse_truth(struct sl_parser *p, const struct sl_operand *v)
{
	if (v->truth)
		sl_operand_fail(p, v,
			"is a condition, but a number is needed; combine conditions by and, or, not");
}

void sl_want_number(struct sl_parser *p, const struct sl_operand *v)
{
	refuse_truth(p, v);
	if (v->kind == SL_SPECIES)
		sl_operand_fail(p, v,
			"has the name of a particle, which is no number to calculate with; "
			"compare it, as in pdg == neutron");
}

/* Requires a number whose bits can be tested. */
static void want_bits(struct sl_parser *p, const struct sl_operand *v)
{
	bool literal = v->literal >= 0 && v->whole && p->k->number[v->literal] >= 0;

	sl_want_number(p, v);
	if (v->kind != SL_FLAGS && v->kind != SL_TESTED && !literal)
		sl_operand_fail(p, v,
			"has no bits to test; test those of a column of whole numbers from 0, as in userflags & 0x4");
}

void sl_want_whole(struct sl_parser *p, const struct sl_operand *v)
{
	refuse_truth(p, v);
	if (!v->whole)
		sl_operand_fail(p, v,
			"is not a whole number, but in compares whole numbers; for a range of real "
			"numbers write a <= x <= b");
}

void sl_want_truth(struct sl_parser *p, struct sl_operand *v)
{
	if (v->truth)
		return;
	if (v->kind != SL_TESTED) {
		sl_operand_fail(p, v,
			"is a number, but a condition is needed; compare it, as in %s",
			v->kind == SL_SPECIES ? "pdg == neutron" : "> 0");
		return;
	}
	sl_emit_number(p, v->from, 0);
	sl_parser_emit(p, SL_OP_unequal, 0);
	v->truth = true;
}

void sl_want_same(struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b)
{
	if (a->bare || b->bare || is_same(a, b))
		return;
	if (is_plain(a) || is_plain(b))
		sl_operand_fail(p, a, "has a number without a unit; add %s",
			sl_operand_unit(is_plain(a) ? b : a));
	else
		sl_operand_fail(p, a,
			"mixes the dimensions of %s and %s; use quantities of one dimension",
			sl_operand_unit(a), sl_operand_unit(b));
}

/* Requires two numbers that can be compared; equality: by == or !=, as a particle name needs. */
static void want_comparable(
	struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b, bool equality)
{
	bool named = a->kind == SL_SPECIES || b->kind == SL_SPECIES;
	bool coded = a->kind == SL_CODE || b->kind == SL_CODE;

	refuse_truth(p, a);
	refuse_truth(p, b);
	if (named && !(coded && equality))
		sl_operand_fail(p, a,
			"compares the name of a particle %s; write for example pdg == neutron",
			coded ? "by its code" : "with something else than pdg");
	else
		sl_want_same(p, a, b);
}

/* --- operators -------------------------------------------------------------------------------- */

static const struct {
	enum sl_level level;
	const char *text; /* "<=" precedes "<", its prefix */
	enum sl_operation operation;
} operators[] = {
	{SL_LEVEL_OR, "or", SL_OP_either},
	{SL_LEVEL_AND, "and", SL_OP_both},
	{SL_LEVEL_COMPARISON, "<=", SL_OP_at_most},
	{SL_LEVEL_COMPARISON, ">=", SL_OP_at_least},
	{SL_LEVEL_COMPARISON, "==", SL_OP_equal},
	{SL_LEVEL_COMPARISON, "!=", SL_OP_unequal},
	{SL_LEVEL_COMPARISON, "<", SL_OP_less},
	{SL_LEVEL_COMPARISON, ">", SL_OP_more},
	{SL_LEVEL_BITS, "&", SL_OP_bits},
	{SL_LEVEL_SUM, "+", SL_OP_plus},
	{SL_LEVEL_SUM, "-", SL_OP_minus},
	{SL_LEVEL_PRODUCT, "*", SL_OP_times},
	{SL_LEVEL_PRODUCT, "/", SL_OP_over},
};

enum sl_operation sl_take_operator(struct sl_parser *p, enum sl_level level)
{
	if (strncmp(p->at, "&&", 2) == 0) /* not a bit test; the caller reports it */
		return SL_OPERATION_COUNT;
	for (size_t i = 0; !p->failed && i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].level == level && sl_parser_take(p, operators[i].text))
			return operators[i].operation;
	return SL_OPERATION_COUNT;
}

/* Rounds a literal that is compared with a column of single precision, as the column was. */
static void round_literal(
	struct sl_parser *p, const struct sl_operand *column, const struct sl_operand *number)
{
	if (column->single && number->literal >= 0)
		p->k->number[number->literal] = (double)(float)p->k->number[number->literal];
}

struct sl_operand sl_join_operands(struct sl_parser *p, enum sl_level level,
	enum sl_operation operation, const struct sl_operand *a, struct sl_operand *b)
{
	struct sl_operand both = {.from = a->from, .begin = a->begin, .literal = -1};
	int sign = operation == SL_OP_over ? -1 : 1;

	switch (level) {
	case SL_LEVEL_SUM:
		sl_want_number(p, a);
		sl_want_number(p, b);
		sl_want_same(p, a, b);
		/* 0 and inf have any dimension */
		memcpy(both.power, (a->bare ? b : a)->power, sizeof(both.power));
		both.angle = a->angle || b->angle;
		both.whole = a->whole && b->whole;
		break;
	case SL_LEVEL_PRODUCT:
		sl_want_number(p, a);
		sl_want_number(p, b);
		for (int i = 0; i < 3; i++)
			both.power[i] = a->power[i] + sign * b->power[i];
		both.angle = a->angle != b->angle && (a->angle || operation == SL_OP_times);
		both.whole = a->whole && b->whole && operation == SL_OP_times;
		break;
	case SL_LEVEL_BITS:
		want_bits(p, a);
		want_bits(p, b);
		both.whole = true;
		both.kind = SL_TESTED;
		break;
	case SL_LEVEL_COMPARISON:
		want_comparable(p, a, b, operation == SL_OP_equal || operation == SL_OP_unequal);
		round_literal(p, a, b);
		round_literal(p, b, a);
		both.truth = true;
		break;
	default: /* and, or; the caller checked a before it parsed b */
		sl_want_truth(p, b);
		both.truth = true;
	}
	sl_parser_emit(p, operation, 0);
	return both;
}

struct sl_steps sl_steps_of(const struct sl_parser *p, const struct sl_operand *v)
{
	return (struct sl_steps){.begin = v->begin,
		.end = p->k->n,
		.literal = v->literal >= 0 ? p->k->number[v->literal] : 0};
}

void sl_emit_again(struct sl_parser *p, struct sl_operand *v, const struct sl_steps *steps)
{
	v->begin = p->k->n;
	if (v->literal >= 0) {
		v->literal = sl_emit_number(p, v->from, steps->literal);
		return;
	}
	for (uint32_t i = steps->begin; i < steps->end; i++)
		sl_parser_emit(p, (enum sl_operation)p->k->operation[i], p->k->operand[i]);
}

bool sl_is_chain(enum sl_operation first, enum sl_operation second)
{
	bool up = first == SL_OP_less || first == SL_OP_at_most;
	bool down = first == SL_OP_more || first == SL_OP_at_least;

	return (up && (second == SL_OP_less || second == SL_OP_at_most)) ||
	       (down && (second == SL_OP_more || second == SL_OP_at_least)) ||
	       (first == SL_OP_equal && second == SL_OP_equal);
}
