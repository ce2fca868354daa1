/* expression.c - see expression.h. */
#include "pipeline/expression.h"

#include <string.h>

#include "pipeline/operand.h"

enum { NESTED_MOST = 24 };

/* --- kinds ------------------------------------------------------------------------------------ */

/* The unit inside of a number's dimension, or what to call it without one. */
static const char *unit_of(const struct sl_operand *v)
{
	for (int d = 0; d < SL_DIMENSION_COUNT; d++) {
		const struct sl_dimension_facts *f = &sl_dimensions[d];

		if (f->length == v->length && f->mass == v->mass && f->time == v->time)
			return *f->unit ? f->unit : "no unit";
	}
	return "a unit made of several";
}

static void want_number(struct sl_parser *p, const struct sl_operand *v)
{
	char shown[SL_SHOWN_BYTES];

	if (v->truth)
		sl_parser_complain(p, v->from,
			"%s is no number (it is true or not), try and, or, not",
			sl_parser_show(p, v->from, shown));
}

static void want_truth(struct sl_parser *p, const struct sl_operand *v)
{
	char shown[SL_SHOWN_BYTES];

	if (!v->truth)
		sl_parser_complain(p, v->from,
			"%s is a number (a condition is asked for), try comparing it, as with > 0",
			sl_parser_show(p, v->from, shown));
}

/* A number that somebody wrote, without a unit. */
static bool is_plain(const struct sl_operand *v)
{
	return v->literal >= 0 && v->length == 0 && v->mass == 0 && v->time == 0;
}

/* Two numbers that are added or compared are of one dimension. */
static void want_same(struct sl_parser *p, const struct sl_operand *a, const struct sl_operand *b)
{
	char shown[SL_SHOWN_BYTES];

	want_number(p, a);
	want_number(p, b);
	if (a->bare || b->bare ||
		(a->length == b->length && a->mass == b->mass && a->time == b->time))
		return;
	if (is_plain(a) || is_plain(b))
		sl_parser_complain(p, a->from,
			"%s has a number without a unit (it could be any), try adding %s",
			sl_parser_show(p, a->from, shown), unit_of(is_plain(a) ? b : a));
	else
		sl_parser_complain(p, a->from,
			"%s has numbers of two kinds (%s and %s), try units of one kind",
			sl_parser_show(p, a->from, shown), unit_of(a), unit_of(b));
}

/* --- the grammar ------------------------------------------------------------------------------ */

static struct sl_operand parse_or(struct sl_parser *p);
static struct sl_operand parse_sum(struct sl_parser *p);

/* Something that is nested goes deeper; false, with a complaint, when it is too deep. */
static bool enter(struct sl_parser *p)
{
	if (p->nested == NESTED_MOST)
		sl_parser_complain(p, p->at,
			"is nested too deeply (at most %d levels), try fewer brackets",
			NESTED_MOST);
	p->nested++;
	return !p->failed;
}

/* What stands between the brackets, of which the first is read. */
static struct sl_operand parse_inside(struct sl_parser *p, const char *from, bool sum)
{
	struct sl_operand v = sl_no_operand;

	if (enter(p))
		v = sum ? parse_sum(p) : parse_or(p);
	p->nested--;
	if (!p->failed && !sl_parser_take_sign(p, ')'))
		sl_parser_complain(p, p->at, "has no ) here (a bracket is open), try adding it");
	v.from = from;
	return v;
}

static struct sl_operand parse_factor(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v = sl_no_operand;
	struct sl_number scanned;
	char shown[SL_SHOWN_BYTES];

	if (sl_parser_take_sign(p, '-')) {
		if (enter(p))
			v = parse_factor(p);
		p->nested--;
		want_number(p, &v);
		if (v.literal >= 0)
			p->k->number[v.literal] = -p->k->number[v.literal];
		else
			sl_parser_emit(p, SL_OP_negated, 0);
	} else if (sl_parser_take_sign(p, '(')) {
		return parse_inside(p, from, false);
	} else if (sl_parser_take_word(p, "abs")) {
		if (!sl_parser_take_sign(p, '('))
			sl_parser_complain(p, p->at, "has no ( behind abs, try abs(z)");
		v = parse_inside(p, from, true);
		want_number(p, &v);
		sl_parser_emit(p, SL_OP_absolute, 0);
		v.literal = -1;
	} else if (*p->at != '+' && sl_number_scan(p->at, &scanned)) {
		return sl_parse_number(p, &scanned);
	} else if (sl_parser_at_word(p)) {
		return sl_parse_name(p);
	} else {
		sl_parser_complain(p, p->at,
			"cannot be read from %s on (a column, a number or a fate is due), try one, "
			"as in w > 0",
			*p->at ? sl_show(shown, p->at) : "its end");
	}
	v.from = from;
	return v;
}

static struct sl_operand parse_product(struct sl_parser *p)
{
	struct sl_operand a = parse_factor(p);

	while (!p->failed && (*p->at == '*' || *p->at == '/')) {
		bool over = *p->at == '/';
		int sign = over ? -1 : 1;
		struct sl_operand b;

		sl_parser_skip(p, 1);
		b = parse_factor(p);
		want_number(p, &a);
		want_number(p, &b);
		sl_parser_emit(p, over ? SL_OP_over : SL_OP_times, 0);
		a = (struct sl_operand){.from = a.from,
			.length = a.length + sign * b.length,
			.mass = a.mass + sign * b.mass,
			.time = a.time + sign * b.time,
			.literal = -1};
	}
	return a;
}

static struct sl_operand parse_sum(struct sl_parser *p)
{
	struct sl_operand a = parse_product(p);

	while (!p->failed && (*p->at == '+' || *p->at == '-')) {
		bool minus = *p->at == '-';
		struct sl_operand b;

		sl_parser_skip(p, 1);
		b = parse_product(p);
		want_same(p, &a, &b);
		sl_parser_emit(p, minus ? SL_OP_minus : SL_OP_plus, 0);
		b.from = a.from;
		a = a.bare ? b : a;
		a.bare = a.single = false;
		a.literal = -1;
	}
	return a;
}

/* The comparison that is next, which is read; SL_OPERATION_COUNT when none is. */
static enum sl_operation take_comparison(struct sl_parser *p)
{
	static const struct {
		const char *sign;
		enum sl_operation operation;
	} signs[] = {{"<=", SL_OP_at_most}, {">=", SL_OP_at_least}, {"==", SL_OP_equal},
		{"!=", SL_OP_unequal}, {"<", SL_OP_less}, {">", SL_OP_more}};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strncmp(p->at, signs[i].sign, strlen(signs[i].sign)) == 0) {
			sl_parser_skip(p, strlen(signs[i].sign));
			return signs[i].operation;
		}
	return SL_OPERATION_COUNT;
}

/* A number that is compared with a column of single precision is rounded as those are. */
static void round_literal(
	struct sl_parser *p, const struct sl_operand *column, const struct sl_operand *number)
{
	if (column->single && number->literal >= 0)
		p->k->number[number->literal] = (double)(float)p->k->number[number->literal];
}

static struct sl_operand parse_comparison(struct sl_parser *p)
{
	struct sl_operand a = parse_sum(p), b;
	enum sl_operation operation = p->failed ? SL_OPERATION_COUNT : take_comparison(p);

	if (operation == SL_OPERATION_COUNT)
		return a;
	b = parse_sum(p);
	want_same(p, &a, &b);
	round_literal(p, &a, &b);
	round_literal(p, &b, &a);
	sl_parser_emit(p, operation, 0);
	if (!p->failed && take_comparison(p) != SL_OPERATION_COUNT)
		sl_parser_complain(p, a.from,
			"compares three things (two are compared at a time), try a < b and b < c");
	return (struct sl_operand){.from = a.from, .truth = true, .literal = -1};
}

static struct sl_operand parse_not(struct sl_parser *p)
{
	const char *from = p->at;
	struct sl_operand v = sl_no_operand;

	if (!sl_parser_take_word(p, "not"))
		return parse_comparison(p);
	if (enter(p))
		v = parse_not(p);
	p->nested--;
	want_truth(p, &v);
	sl_parser_emit(p, SL_OP_opposite, 0);
	v.from = from;
	return v;
}

static struct sl_operand parse_and(struct sl_parser *p)
{
	struct sl_operand a = parse_not(p);

	while (!p->failed && sl_parser_take_word(p, "and")) {
		struct sl_operand b;

		want_truth(p, &a);
		b = parse_not(p);
		want_truth(p, &b);
		sl_parser_emit(p, SL_OP_both, 0);
	}
	return a;
}

static struct sl_operand parse_or(struct sl_parser *p)
{
	struct sl_operand a = parse_and(p);

	while (!p->failed && sl_parser_take_word(p, "or")) {
		struct sl_operand b;

		want_truth(p, &a);
		b = parse_and(p);
		want_truth(p, &b);
		sl_parser_emit(p, SL_OP_either, 0);
	}
	return a;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* A program that was there has left its truth on the stack. */
static struct sl_parser begin(
	struct sl_reader *r, const char *key, const char *text, struct sl_condition *k)
{
	struct sl_parser p = {.text = text, .at = text, .r = r, .key = key, .k = k};

	p.depth = k->n > 0 ? 1 : 0;
	sl_parser_skip(&p, 0);
	return p;
}

static bool end(struct sl_parser *p, bool first)
{
	if (!first)
		sl_parser_emit(p, SL_OP_either, 0);
	return !p->failed;
}

bool sl_expression_add(struct sl_reader *r, const char *key, const char *text,
	const struct sl_model *model, struct sl_condition *k)
{
	struct sl_parser p = begin(r, key, text, k);
	bool first = k->n == 0;
	char shown[SL_SHOWN_BYTES];
	struct sl_operand v;

	p.model = model;
	v = parse_or(&p);
	if (!p.failed && *p.at)
		sl_parser_complain(&p, p.at,
			"cannot be read from %s on (and, or or a comparison is due), try %s",
			sl_show(shown, p.at), *p.at == '=' ? "==" : "and");
	want_truth(&p, &v);
	return end(&p, first);
}

bool sl_expression_add_fate(
	struct sl_reader *r, const char *key, enum sl_fate fate, struct sl_condition *k)
{
	struct sl_parser p = begin(r, key, "", k);
	bool first = k->n == 0;

	sl_parser_emit(&p, SL_OP_fate, fate);
	return end(&p, first);
}
