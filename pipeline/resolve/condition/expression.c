/*
 * expression.c - a recursive descent parser with one level per operator precedence.
 *
 * Each level parses its operands, checks their types and dimensions, and emits the operator after
 * them, which gives the postfix order:
 *
 *	transmitted and w > 0.5     fate transmitted, column w, number 0.5, more, both
 *
 * The program runs on the GPU for each particle, so it has a bounded number of steps and a bounded
 * stack, which sl_parser_emit() checks. After the first problem the parser emits nothing; the functions
 * return quickly because no operator is taken any more.
 */
#include "pipeline/resolve/condition/expression.h"

#include <string.h>

#include "pipeline/resolve/condition/operand.h"

enum { NESTED_MOST = 24 };

/* --- types ------------------------------------------------------------------------------------ */

/* Have two numbers the same dimension? */
static bool is_same(const int a[3], const int b[3])
{
	return memcmp(a, b, 3 * sizeof(*a)) == 0;
}

/* The internal unit of the dimension of a number, for messages. */
static const char *unit_of(const struct sl_operand *v)
{
	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		const struct sl_dimension_facts *f = &sl_dimensions[d];
		const int power[] = {f->length, f->mass, f->time};

		if (is_same(power, v->power))
			return *f->unit ? f->unit : "no unit";
	}
	return "a compound unit";
}

/* Requires a number. */
static void want_number(struct sl_parser *p, const struct sl_operand *v)
{
	char shown[SL_SHOWN_BYTES];

	if (v->truth)
		sl_parser_fail(p, v->from,
			"%s is a condition, but a number is needed; combine conditions by and, or, not",
			sl_parser_show(p, v->from, shown));
}

/* Requires a truth value. */
static void want_truth(struct sl_parser *p, const struct sl_operand *v)
{
	char shown[SL_SHOWN_BYTES];

	if (!v->truth)
		sl_parser_fail(p, v->from,
			"%s is a number, but a condition is needed; compare it, as in > 0",
			sl_parser_show(p, v->from, shown));
}

/* A literal number without a unit. */
static bool is_plain(const struct sl_operand *v)
{
	return v->literal >= 0 && is_same(v->power, sl_no_operand.power);
}

/* Requires two numbers of the same dimension, for sums and comparisons. */
static void want_same(struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b)
{
	char shown[SL_SHOWN_BYTES];

	want_number(p, a);
	want_number(p, b);
	if (a->bare || b->bare || is_same(a->power, b->power))
		return;
	if (is_plain(a) || is_plain(b))
		sl_parser_fail(p, a->from, "%s has a number without a unit; add %s",
			sl_parser_show(p, a->from, shown), unit_of(is_plain(a) ? b : a));
	else
		sl_parser_fail(p, a->from,
			"%s mixes the dimensions of %s and %s; use quantities of one dimension",
			sl_parser_show(p, a->from, shown), unit_of(a), unit_of(b));
}

/* --- operators -------------------------------------------------------------------------------- */

/* Levels of precedence, the loosest first; a factor has no binary operator. */
enum level { OR, AND, NOT, COMPARISON, SUM, PRODUCT, FACTOR };

static const struct {
	enum level level;
	const char *text; /* "<=" precedes "<", its prefix */
	enum sl_operation operation;
} operators[] = {
	{OR, "or", SL_OP_either},
	{AND, "and", SL_OP_both},
	{COMPARISON, "<=", SL_OP_at_most},
	{COMPARISON, ">=", SL_OP_at_least},
	{COMPARISON, "==", SL_OP_equal},
	{COMPARISON, "!=", SL_OP_unequal},
	{COMPARISON, "<", SL_OP_less},
	{COMPARISON, ">", SL_OP_more},
	{SUM, "+", SL_OP_plus},
	{SUM, "-", SL_OP_minus},
	{PRODUCT, "*", SL_OP_times},
	{PRODUCT, "/", SL_OP_over},
};

/* Takes the next operator if it has that level; else returns SL_OPERATION_COUNT. */
static enum sl_operation take_operator(struct sl_parser *p, enum level level)
{
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

/* Checks two operands of an operator, emits it, and returns the type of the result. */
static struct sl_operand join(struct sl_parser *p, enum level level, enum sl_operation operation,
	const struct sl_operand *a, const struct sl_operand *b)
{
	struct sl_operand both = {.from = a->from, .literal = -1};
	int sign = operation == SL_OP_over ? -1 : 1;

	switch (level) {
	case SUM:
		want_same(p, a, b);
		/* 0 and inf have any dimension */
		memcpy(both.power, (a->bare ? b : a)->power, sizeof(both.power));
		break;
	case PRODUCT:
		want_number(p, a);
		want_number(p, b);
		for (int i = 0; i < 3; i++)
			both.power[i] = a->power[i] + sign * b->power[i];
		break;
	case COMPARISON:
		want_same(p, a, b);
		round_literal(p, a, b);
		round_literal(p, b, a);
		both.truth = true;
		break;
	default: /* and, or; the caller checked a before it parsed b */
		want_truth(p, b);
		both.truth = true;
	}
	sl_parser_emit(p, operation, 0);
	return both;
}

/* --- the grammar ------------------------------------------------------------------------------ */

static struct sl_operand parse(struct sl_parser *p, enum level level);

/* Enters a nested part; fails beyond NESTED_MOST, which bounds the recursion. */
static bool enter(struct sl_parser *p)
{
	if (p->nested == NESTED_MOST)
		sl_parser_fail(p, p->at, "is nested more than %d levels deep; use fewer brackets",
			NESTED_MOST);
	p->nested++;
	return !p->failed;
}

/* Parses up to the closing bracket; the opening one is read. */
static struct sl_operand parse_inside(struct sl_parser *p, const char *from, enum level level)
{
	struct sl_operand v = sl_no_operand;

	if (enter(p))
		v = parse(p, level);
	p->nested--;
	if (!p->failed && !sl_parser_take(p, ")"))
		sl_parser_fail(p, p->at, "lacks a ) here; add it");
	v.from = from;
	return v;
}

/*
 * Parses a factor: a sign, a bracket, abs(), a number or a name. A minus before a literal negates the
 * literal, so that -5 cm is one number of the program.
 */
static struct sl_operand parse_factor(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v = sl_no_operand;
	struct sl_decimal scanned;
	char shown[SL_SHOWN_BYTES];

	if (sl_parser_take(p, "-")) {
		if (enter(p))
			v = parse_factor(p);
		p->nested--;
		want_number(p, &v);
		if (v.literal >= 0)
			p->k->number[v.literal] = -p->k->number[v.literal];
		else
			sl_parser_emit(p, SL_OP_negated, 0);
	} else if (sl_parser_take(p, "(")) {
		return parse_inside(p, from, OR);
	} else if (sl_parser_take(p, "abs")) {
		if (!sl_parser_take(p, "("))
			sl_parser_fail(p, p->at, "lacks a ( after abs; write abs(z)");
		v = parse_inside(p, from, SUM);
		want_number(p, &v);
		sl_parser_emit(p, SL_OP_absolute, 0);
		v.literal = -1;
	} else if (*p->at != '+' && sl_decimal_scan(p->at, &scanned)) {
		return sl_parse_number(p, &scanned);
	} else if (sl_word_length(p->at) > 0) {
		return sl_parse_name(p);
	} else {
		sl_parser_fail(p, p->at,
			"lacks a column, a number or a fate %s%s; write one, as in w > 0",
			*p->at ? "at " : "at its end", *p->at ? sl_show(shown, p->at) : "");
	}
	v.from = from;
	return v;
}

/* Parses "not" or a comparison. */
static struct sl_operand parse_not(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v = sl_no_operand;

	if (!sl_parser_take(p, "not"))
		return parse(p, COMPARISON);
	if (enter(p))
		v = parse_not(p);
	p->nested--;
	want_truth(p, &v);
	sl_parser_emit(p, SL_OP_opposite, 0);
	v.from = from;
	return v;
}

/* Parses an expression of that level or tighter. Operators of one level associate to the left. */
static struct sl_operand parse(struct sl_parser *p, enum level level)
{
	enum sl_operation operation;
	struct sl_operand a, b;

	if (level == NOT)
		return parse_not(p);
	if (level == FACTOR)
		return parse_factor(p);
	a = parse(p, (enum level)(level + 1));
	while ((operation = take_operator(p, level)) != SL_OPERATION_COUNT) {
		/* before b is parsed, so that the leftmost problem is reported */
		if (level < NOT)
			want_truth(p, &a);
		b = parse(p, (enum level)(level + 1));
		a = join(p, level, operation, &a, &b);
		if (level == COMPARISON && take_operator(p, level) != SL_OPERATION_COUNT)
			sl_parser_fail(p, a.from,
				"chains comparisons, but a comparison has two sides; write a < b and "
				"b < c");
	}
	return a;
}

/* --- the interface ---------------------------------------------------------------------------- */

/* Starts a parser. A program that is not empty has left its truth value on the stack. */
static struct sl_parser begin(
	struct sl_reader *r, const char *key, const char *text, struct sl_condition *k)
{
	struct sl_parser p = {.text = text, .at = text, .r = r, .key = key, .k = k};

	p.depth = k->n > 0 ? 1 : 0;
	sl_parser_skip(&p, 0);
	return p;
}

/* Joins the new expression with the previous one, if there is one below it on the stack. */
static bool end(struct sl_parser *p)
{
	if (p->depth > 1)
		sl_parser_emit(p, SL_OP_either, 0);
	return !p->failed;
}

/*
 * Parses the whole text: what is left after the expression is an error, with == as the likely meaning
 * of a single =.
 */
bool sl_expression_add(struct sl_reader *r, const char *key, const char *text,
	const struct sl_model *model, struct sl_condition *k)
{
	struct sl_parser p = begin(r, key, text, k);
	char shown[SL_SHOWN_BYTES];
	struct sl_operand v;

	p.model = model;
	v = parse(&p, OR);
	if (!p.failed && *p.at)
		sl_parser_fail(&p, p.at, "lacks an operator at %s; write %s", sl_show(shown, p.at),
			*p.at == '=' ? "==" : "and, or, or a comparison");
	want_truth(&p, &v);
	return end(&p);
}

bool sl_expression_add_fate(
	struct sl_reader *r, const char *key, enum sl_fate fate, struct sl_condition *k)
{
	struct sl_parser p = begin(r, key, "", k);

	sl_parser_emit(&p, SL_OP_fate, fate);
	return end(&p);
}
