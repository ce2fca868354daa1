/*
 * functions.c - calls of functions: their arguments, their dimensions, their steps.
 *
 * abs is in the grammar of all expressions (expression.c). The program of a condition has no other
 * function: a call in a condition becomes a derived column, which the condition tests.
 */
#include "pipeline/resolve/condition/condition.h"

#include <string.h>

/* What the arguments must be, and the dimension of the result. */
enum rule {
	ROOT,      /* any dimension with even powers; half of it */
	PLAIN,     /* plain numbers; a plain number */
	SAME,      /* one dimension; the same */
	DIRECTION, /* one dimension; an angle */
	ENERGY     /* an energy; a length */
};

static const struct function {
	const char *name, *example;
	uint32_t operation, arguments;
	bool more; /* more arguments are allowed: f(f(a, b), c) */
	enum rule rule;
} functions[] = {
	{"sqrt", "sqrt(x*y)", SL_OP_sqrt, 1, false, ROOT},
	{"hypot", "hypot(x, y)", SL_OP_hypot, 2, true, SAME},
	{"atan2", "atan2(y, x)", SL_OP_atan2, 2, false, DIRECTION},
	{"exp", "exp(-z / (1 cm))", SL_OP_exp, 1, false, PLAIN},
	{"log", "log(w)", SL_OP_log, 1, false, PLAIN},
	{"pow", "pow(w, 0.5)", SL_OP_pow, 2, false, PLAIN},
	{"min", "min(x, y)", SL_OP_min, 2, true, SAME},
	{"max", "max(x, y)", SL_OP_max, 2, true, SAME},
	{"wavelength", "wavelength(energy)", SL_OP_wavelength, 1, false, ENERGY},
};

static const struct function *find(const char *word)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, word) == 0)
			return &functions[i];
	return NULL;
}

bool sl_is_function(const char *word)
{
	return strcmp(word, "abs") == 0 || find(word);
}

/* Requires the dimension `want` of an argument; the text at `at` is the argument. */
static void want_dimension(struct sl_parser *p, const struct sl_operand *v,
	const struct function *f, enum sl_dimension want)
{
	struct sl_operand wanted = sl_no_operand;

	sl_operand_set_dimension(&wanted, want, 1);
	if (memcmp(wanted.power, v->power, sizeof(v->power)) == 0 ||
		(v->bare && want != SL_DIM_NUMBER))
		return;
	sl_operand_fail(p, v, "is in %s, but %s needs %s; write for example %s", sl_operand_unit(v),
		f->name, want == SL_DIM_ENERGY ? "an energy" : "a plain number", f->example);
}

/* Sets the dimension of a root. */
static void take_root(struct sl_parser *p, const struct sl_operand *a, struct sl_operand *v)
{

	for (int i = 0; i < 3; i++) {
		v->power[i] = a->power[i] / 2;
		if (a->power[i] % 2 != 0)
			sl_operand_fail(p, a,
				"is in %s, whose root is no unit; write for example sqrt(x*y)",
				sl_operand_unit(a));
	}
}

/* Checks an argument, of which the first is also in *v, and sets the dimension of the result. */
static void check_argument(struct sl_parser *p, const struct function *f, uint32_t number,
	const struct sl_operand *a, struct sl_operand *v)
{
	sl_want_number(p, a);
	if (f->rule == ROOT)
		take_root(p, a, v);
	if (f->rule == PLAIN || f->rule == ENERGY)
		want_dimension(p, a, f, f->rule == PLAIN ? SL_DIM_NUMBER : SL_DIM_ENERGY);
	if (f->rule != SAME && f->rule != DIRECTION)
		return;
	if (number > 0)
		sl_want_same(p, v, a);
	if (number == 0 || v->bare) {
		memcpy(v->power, a->power, sizeof(v->power));
		v->bare = a->bare;
	}
	v->angle |= a->angle;
}

/* Emits the steps of a call after those of its arguments. Particles without a code are photons. */
static void emit_call(struct sl_parser *p, const struct function *f)
{
	if (f->rule == ENERGY && SL_HAS(p->model->columns, SL_COLUMN_pdg)) {
		sl_parser_emit(p, SL_OP_rest, 0);
		p->k->reads |= SL_BIT(SL_COLUMN_pdg);
	} else if (f->rule == ENERGY) {
		sl_emit_number(p, p->at, 0);
	}
	sl_parser_emit(p, f->operation, 0);
}

static void parse_call(struct sl_parser *p, const struct function *f, struct sl_operand *v)
{
	const char *from = v->from;

	for (uint32_t i = 0; !p->failed; i++) {
		struct sl_operand a = sl_parse_argument(p);

		check_argument(p, f, i, &a, v);
		if (i + 1 >= f->arguments)
			emit_call(p, f);
		if (sl_parser_take(p, ",") && (f->more || i + 1 < f->arguments))
			continue;
		if (i + 1 < f->arguments || !sl_parser_take(p, ")"))
			sl_parser_fail(p, p->at, "lacks a %s of %s here; write for example %s",
				i + 1 < f->arguments ? "second argument" : ")", f->name,
				f->example);
		break;
	}
	if (f->rule == DIRECTION)
		sl_operand_set_dimension(v, SL_DIM_ANGLE, 1);
	if (f->rule == ENERGY)
		sl_operand_set_dimension(v, SL_DIM_LENGTH, 1);
	v->bare = false;
	v->from = from;
}

/* Parses a call in a condition: its steps become the program of a derived column. */
static void parse_column(struct sl_parser *p, const struct function *f, struct sl_operand *v)
{
	struct sl_program *outer = p->k, k = {.n = 0};
	const char *from = v->from;
	uint32_t depth = p->depth;
	enum sl_column column;
	enum sl_unit unit;

	p->k = &k;
	p->depth = 0;
	p->derives = true;
	parse_call(p, f, v);
	p->derives = false;
	p->depth = depth;
	p->k = outer;
	unit = sl_operand_column_unit(v);
	if (unit == SL_UNIT_COUNT)
		sl_parser_fail(p, from,
			"%s is in %s, but a function in a condition must give a length, a time, an "
			"energy, a speed, an angle, 1/length or a plain number; divide inside of it",
			sl_parser_shown(p, from), sl_operand_unit(v));
	p->failed = p->failed || !sl_derived_add(p->resolver, p->key, &k, unit, &column);
	if (!p->failed)
		sl_push_column(p, v, column, unit);
}

bool sl_parse_function(struct sl_parser *p, struct sl_operand *v)
{
	char word[SL_PARSER_NAME_BYTES];
	size_t n = sl_word_length(p->at);
	const struct function *f;

	if (n == 0 || n >= sizeof(word) || p->at[n + strspn(p->at + n, " ")] != '(')
		return false;
	memcpy(word, p->at, n);
	word[n] = '\0';
	f = find(word);
	if (!f)
		return false;
	sl_parser_skip(p, n);
	sl_parser_take(p, "(");
	(p->derives ? parse_call : parse_column)(p, f, v);
	return true;
}
