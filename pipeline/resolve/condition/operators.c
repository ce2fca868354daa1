/* operators.c - the table of operators, and the type of their results. */
#include "pipeline/resolve/condition/condition.h"

#include <string.h>

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
		sl_want_bits(p, a);
		sl_want_bits(p, b);
		both.whole = true;
		both.kind = SL_TESTED;
		break;
	case SL_LEVEL_COMPARISON:
		sl_want_comparable(p, a, b, operation == SL_OP_equal || operation == SL_OP_unequal);
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
