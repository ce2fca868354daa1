/*
 * expression.c - a recursive descent parser with one level per operator precedence.
 *
 * Each level parses its operands, checks their types and dimensions, and emits the operator after
 * them, which gives the postfix order:
 *
 *	transmitted and w > 0.5     fate transmitted, column w, number 0.5, more, both
 *
 * Chained comparisons and in use a value more than once, so the steps that compute it are repeated:
 *
 *	1 < x < 2                   number 1, column x, less, column x, number 2, less, both
 *	pdg in [11, 22]             column pdg, number 11, equal, column pdg, number 22, equal, either
 *
 * The program runs on the GPU for each particle, so it has a bounded number of steps and a bounded
 * stack, which sl_parser_emit() checks. After the first problem the parser emits nothing; the
 * functions return quickly because no operator is taken any more.
 */
#include "pipeline/resolve/condition/condition.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MOST = 24, DIMENSION_MOST = 999 /* so that products do not overflow */ };

/* --- the grammar ------------------------------------------------------------------------------ */

static struct sl_operand parse(struct sl_parser *p, enum sl_level level);

/* Parses a nested part; fails beyond NESTED_MOST, which bounds the recursion. */
static struct sl_operand parse_nested(struct sl_parser *p, enum sl_level level)
{
	struct sl_operand v = sl_no_operand;

	if (p->nested == NESTED_MOST)
		sl_parser_fail(p, p->at, "is nested more than %d levels deep; use fewer brackets",
			NESTED_MOST);
	p->nested++;
	if (!p->failed)
		v = parse(p, level);
	p->nested--;
	return v;
}

/* Parses up to the closing bracket; the opening one is read. */
static struct sl_operand parse_inside(struct sl_parser *p, const char *from, enum sl_level level)
{
	struct sl_operand v = parse_nested(p, level);

	if (!p->failed && !sl_parser_take(p, ")"))
		sl_parser_fail(p, p->at, "lacks a ) here; add it");
	v.from = from;
	return v;
}

struct sl_operand sl_parse_argument(struct sl_parser *p)
{
	return parse_nested(p, SL_LEVEL_SUM);
}

/* Parses a value without sign and power: a bracket, a function, a number or a name. */
static struct sl_operand parse_value(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v = sl_no_operand;

	v.from = from;
	v.begin = p->k->n;
	if (sl_parser_take(p, "(")) {
		v = parse_inside(p, from, SL_LEVEL_OR);
	} else if (sl_parser_take(p, "abs")) {
		if (!sl_parser_take(p, "("))
			sl_parser_fail(p, p->at, "lacks a ( after abs; write abs(z)");
		v = parse_inside(p, from, SL_LEVEL_SUM);
		sl_want_number(p, &v);
		sl_parser_emit(p, SL_OP_absolute, 0);
		v.literal = -1;
	} else if (sl_parse_function(p, &v) || sl_parse_number(p, &v)) {
		return v;
	} else if (sl_word_length(p->at) > 0) {
		sl_parse_name(p, &v);
	} else {
		sl_parser_fail(p, p->at,
			"lacks a column, a number or a fate %s%s; write one, as in w > 0",
			*p->at ? "at " : "at its end", *p->at ? sl_shown(p->at) : "");
	}
	return v;
}

/* Parses a value and its power, which is a product of equal factors. */
static struct sl_operand parse_power(struct sl_parser *p)
{
	struct sl_operand v = parse_value(p);
	int exponent;

	if (!sl_parse_exponent(p, &exponent))
		return v;
	sl_want_number(p, &v);
	for (int i = 0; i < 3; i++) {
		v.power[i] *= exponent;
		if (abs(v.power[i]) > DIMENSION_MOST)
			sl_operand_fail(
				p, &v, "has a unit to a power above %d; use less", DIMENSION_MOST);
	}
	v.whole &= exponent > 0;
	v.kind = SL_PLAIN;
	v.single = v.bare = false;
	v.literal = -1;
	sl_parser_emit(p, SL_OP_power,
		(uint32_t)abs(exponent) | (exponent < 0 ? (uint32_t)SL_POWER_INVERSE : 0));
	if (strncmp(p->at, "**", 2) == 0 || *p->at == '^')
		sl_operand_fail(p, &v,
			"has a power of a power, which has two meanings; write brackets, as in (x^2)^3");
	return v;
}

/*
 * Parses a factor: a sign and a power. A minus before a literal negates the literal, so that -5 cm
 * is one number of the program.
 */
static struct sl_operand parse_factor(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v;

	if (!sl_parser_take(p, "-"))
		return parse_power(p);
	v = parse_nested(p, SL_LEVEL_FACTOR);
	if (v.kind != SL_SPECIES)
		sl_want_number(p, &v);
	if (v.literal >= 0)
		p->k->number[v.literal] = -p->k->number[v.literal];
	else
		sl_parser_emit(p, SL_OP_negated, 0);
	v.kind = v.kind == SL_CODE || v.kind == SL_SPECIES ? v.kind : SL_PLAIN;
	v.from = from;
	return v;
}

/* Parses the list of numbers after in: v is equal to one of them. The steps of v are emitted. */
static struct sl_operand parse_list(struct sl_parser *p, struct sl_operand v, bool opposite)
{
	struct sl_steps steps = sl_steps_of(p, &v);
	struct sl_operand item, equal = v;

	if (!sl_parser_take(p, "["))
		sl_parser_fail(p, p->at, "lacks a [ after in; write for example pdg in [11, 22]");
	if (sl_parser_take(p, "]"))
		sl_parser_fail(p, v.from,
			"has an empty list after in, which no particle is in; add numbers");
	for (uint32_t i = 0; !p->failed && (i == 0 || sl_parser_take(p, ",")); i++) {
		if (i > 0)
			sl_emit_again(p, &v, &steps);
		item = parse(p, SL_LEVEL_BITS);
		sl_want_whole(p, &item);
		equal = sl_join_operands(p, SL_LEVEL_COMPARISON, SL_OP_equal, &v, &item);
		if (i > 0)
			sl_parser_emit(p, SL_OP_either, 0);
	}
	if (!p->failed && !sl_parser_take(p, "]"))
		sl_parser_fail(p, p->at, "lacks a ] here; add it");
	if (opposite)
		sl_parser_emit(p, SL_OP_opposite, 0);
	equal.begin = steps.begin;
	return equal;
}

/* Parses what follows a comparison operator: a < b < c means a < b and b < c. */
static struct sl_operand parse_chain(
	struct sl_parser *p, struct sl_operand a, enum sl_operation operation)
{
	uint32_t begin = a.begin;
	const char *from = a.from;
	struct sl_operand both = a;

	for (uint32_t n = 1; operation != SL_OPERATION_COUNT; n++) {
		struct sl_operand b = parse(p, SL_LEVEL_BITS);
		struct sl_steps steps = sl_steps_of(p, &b);
		enum sl_operation next;

		both = sl_join_operands(p, SL_LEVEL_COMPARISON, operation, &a, &b);
		if (n > 1)
			sl_parser_emit(p, SL_OP_both, 0);
		next = sl_take_operator(p, SL_LEVEL_COMPARISON);
		if (next == SL_OPERATION_COUNT)
			break;
		if (!sl_is_chain(operation, next))
			sl_parser_fail(p, from,
				"chains comparisons of different directions; write a < b < c, or two "
				"comparisons joined by and");
		sl_emit_again(p, &b, &steps);
		a = b;
		operation = next;
	}
	both.begin = begin;
	both.from = from;
	return both;
}

/* If in or not in is next: reads it and returns true. */
static bool take_in(struct sl_parser *p, bool *opposite)
{
	const char *at = p->at;

	*opposite = sl_parser_take(p, "not");
	if (sl_parser_take(p, "in"))
		return true;
	p->at = at;
	return false;
}

/* Parses a number, comparisons of numbers, or a number in a list. */
static struct sl_operand parse_comparison(struct sl_parser *p)
{
	struct sl_operand v = parse(p, SL_LEVEL_BITS);
	enum sl_operation operation = sl_take_operator(p, SL_LEVEL_COMPARISON);
	const char *at = p->at;
	bool opposite;

	if (operation != SL_OPERATION_COUNT)
		return parse_chain(p, v, operation);
	if (p->failed || !take_in(p, &opposite))
		return v;
	if (!v.whole) {
		p->at = at; /* the message shows v only */
		sl_want_whole(p, &v);
	}
	return parse_list(p, v, opposite);
}

/* Parses "not" or a comparison. */
static struct sl_operand parse_not(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v;

	if (!sl_parser_take(p, "not"))
		return parse_comparison(p);
	v = parse_nested(p, SL_LEVEL_NOT);
	sl_want_truth(p, &v);
	sl_parser_emit(p, SL_OP_opposite, 0);
	v.from = from;
	return v;
}

/* Parses an expression of that level or tighter. Operators of one level associate to the left. */
static struct sl_operand parse(struct sl_parser *p, enum sl_level level)
{
	enum sl_operation operation;
	struct sl_operand a, b;

	if (level == SL_LEVEL_NOT)
		return parse_not(p);
	if (level == SL_LEVEL_FACTOR)
		return parse_factor(p);
	a = parse(p, (enum sl_level)(level + 1));
	while ((operation = sl_take_operator(p, level)) != SL_OPERATION_COUNT) {
		/* before b is parsed, so that the leftmost problem is reported */
		if (level < SL_LEVEL_NOT)
			sl_want_truth(p, &a);
		b = parse(p, (enum sl_level)(level + 1));
		a = sl_join_operands(p, level, operation, &a, &b);
	}
	return a;
}

/* --- the interface ---------------------------------------------------------------------------- */

/* Starts a parser. A program that is not empty has left its truth value on the stack. */
static struct sl_parser begin(
	struct sl_resolver *v, const char *key, const char *text, struct sl_program *k)
{
	return (struct sl_parser){.text = text,
		.at = text + strspn(text, " "),
		.resolver = v,
		.key = key,
		.model = v->to->model,
		.k = k,
		.depth = k->n > 0 ? 1 : 0};
}

/* Joins the new expression with the previous one, if there is one below it on the stack. */
static bool end(struct sl_parser *p)
{
	if (p->depth > 1)
		sl_parser_emit(p, SL_OP_either, 0);
	return !p->failed;
}

/* What to write for the text that is left after an expression, where an operator is needed. */
static const char *meant_operator(const char *at)
{
	static const char *const meant[][2] = {
		{"=", "=="}, {"&&", "and"}, {"||", "or"}, {"|", "or"}, {"!", "!= or not"}};

	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (strncmp(at, meant[i][0], strlen(meant[i][0])) == 0)
			return meant[i][1];
	return "and, or, or a comparison";
}

/* Parses the whole text: what is left after the expression is an error. */
static struct sl_operand parse_whole(struct sl_parser *p)
{
	struct sl_operand v = parse(p, SL_LEVEL_OR);

	if (!p->failed && *p->at)
		sl_parser_fail(p, p->at, "lacks an operator at %s; write %s", sl_shown(p->at),
			meant_operator(p->at));
	return v;
}

bool sl_expression_add(
	struct sl_resolver *v, const char *key, const char *text, struct sl_program *k)
{
	struct sl_parser p = begin(v, key, text, k);
	struct sl_operand condition = parse_whole(&p);

	sl_want_truth(&p, &condition);
	return end(&p);
}

bool sl_expression_compute(struct sl_resolver *v, const char *key, const char *text,
	struct sl_program *k, enum sl_unit *unit)
{
	struct sl_parser p = begin(v, key, text, k);
	struct sl_operand number;

	p.derives = true;
	number = parse_whole(&p);
	sl_want_number(&p, &number);
	*unit = sl_operand_column_unit(&number);
	if (*unit == SL_UNIT_COUNT)
		sl_parser_fail(&p, text,
			"%s is in %s, but a column is a length, a time, an energy, a speed, an angle, "
			"1/length or a plain number; divide it by a quantity such as (1 cm)",
			sl_shown(text), sl_operand_unit(&number));
	return !p.failed;
}

bool sl_expression_add_fate(
	struct sl_resolver *v, const char *key, enum sl_fate fate, struct sl_program *k)
{
	struct sl_parser p = begin(v, key, "", k);

	sl_parser_emit(&p, SL_OP_fate, fate);
	return end(&p);
}
