/* operand.c - reads numbers, units and names, and emits the steps that push them on the stack. */
#include "pipeline/resolve/condition/operand.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/quantity.h"
#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/resolve/choices/names.h"

enum { NAMES_BYTES = 400, NAME_MAX_BYTES = 32 };

/* --- problems --------------------------------------------------------------------------------- */

/* The first problem only: what follows it in the text is read in a wrong context. */
void sl_parser_fail(struct sl_parser *p, const char *where, const char *format, ...)
{
	char text[SL_WHY_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!p->failed)
		sl_config_add_problem_within(p->r, p->key, (size_t)(where - p->text), text);
	p->failed = true;
}

const char *sl_parser_show(const struct sl_parser *p, const char *from, char shown[SL_SHOWN_BYTES])
{
	char part[SL_TEXT_BYTES];
	size_t n = (size_t)(p->at - from);

	while (n > 0 && from[n - 1] == ' ')
		n--;
	snprintf(part, sizeof(part), "%.*s", (int)n, from);
	return sl_show(shown, part);
}

/* --- steps ------------------------------------------------------------------------------------ */

/*
 * depth follows the stack of the program. It is counted here, where each step is made, so that the
 * device can use a stack of fixed size without a check.
 */
void sl_parser_emit(struct sl_parser *p, enum sl_operation operation, uint32_t operand)
{
	struct sl_condition *k = p->k;

	p->depth += 1 - sl_condition_takes(operation);
	if (p->failed)
		return;
	if (k->n == SL_CONDITION_STEPS || p->depth > SL_CONDITION_DEPTH) {
		sl_parser_fail(p, p->text,
			"is too long: at most %d names, numbers and operators are allowed, %d of "
			"them pending; shorten it",
			SL_CONDITION_STEPS, SL_CONDITION_DEPTH);
		return;
	}
	k->operation[k->n] = (uint8_t)operation;
	k->operand[k->n++] = (uint8_t)operand;
	if (operation == SL_OP_column)
		k->columns |= SL_BIT(operand);
}

/* --- words ------------------------------------------------------------------------------------ */

void sl_parser_skip(struct sl_parser *p, size_t n)
{
	p->at += n;
	p->at += strspn(p->at, " ");
}

size_t sl_word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

bool sl_parser_take(struct sl_parser *p, const char *text)
{
	size_t n = strlen(text), word = sl_word_length(p->at);

	/* "or" must not match the start of "orange"; a sign has no word length */
	if ((word > 0 && word != n) || strncmp(p->at, text, n) != 0)
		return false;
	sl_parser_skip(p, n);
	return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The longest unit at this place, or NULL. */
static const struct sl_unit_facts *unit_at(const char *at)
{
	const struct sl_unit_facts *unit = NULL;
	size_t longest = 0;

	for (int u = 0; u < SL_UNIT_COUNT; u++) {
		size_t n = strlen(sl_units[u].text);

		if (n > longest && strncmp(at, sl_units[u].text, n) == 0 &&
			sl_word_length(at + n) == 0) {
			unit = &sl_units[u];
			longest = n;
		}
	}
	return unit;
}

/* Is "and" or "or" at this place? Then the number before it has no unit. */
static bool is_joint(const char *at)
{
	size_t n = sl_word_length(at);

	return (n == 3 && strncmp(at, "and", n) == 0) || (n == 2 && strncmp(at, "or", n) == 0);
}

/* Sets the dimension of an operand. */
static void set_dimension(struct sl_operand *v, enum sl_dimension dimension)
{
	const struct sl_dimension_facts *f = &sl_dimensions[dimension];
	const int power[] = {f->length, f->mass, f->time};

	memcpy(v->power, power, sizeof(v->power));
}

/* Stores a literal in the program and emits the step that pushes it. */
static void emit_number(struct sl_parser *p, struct sl_operand *v, double number)
{
	struct sl_condition *k = p->k;

	if (k->n_numbers == SL_CONDITION_NUMBERS) {
		sl_parser_fail(p, v->from,
			"has more than %d numbers, which is the limit; use fewer",
			SL_CONDITION_NUMBERS);
		return;
	}
	k->number[k->n_numbers] = number;
	v->literal = (int)k->n_numbers;
	sl_parser_emit(p, SL_OP_number, k->n_numbers++);
}

struct sl_operand sl_parse_number(struct sl_parser *p, const struct sl_decimal *scanned)
{
	struct sl_operand v = sl_no_operand;
	const char *after = scanned->end + strspn(scanned->end, " ");
	const struct sl_unit_facts *unit = unit_at(after);
	char text[SL_TEXT_BYTES + SL_WORD_BYTES], why[SL_WHY_BYTES], shown[SL_SHOWN_BYTES];
	double number = 0;
	int n;

	v.from = p->at;
	v.bare = !unit && (scanned->infinite || scanned->n_digits == 0);
	/* sl_real_parse() reads "NUMBER UNIT", so the two are copied with one blank between them */
	n = snprintf(text, sizeof(text), "%.*s", (int)(scanned->end - p->at), p->at);
	sl_parser_skip(p, (size_t)(scanned->end - p->at));
	if (unit) {
		sl_parser_skip(p, strlen(unit->text));
		set_dimension(&v, unit->dimension);
		snprintf(text + n, sizeof(text) - (size_t)n, " %s", unit->text);
	} else if (sl_word_length(after) > 0 && !is_joint(after)) {
		sl_parser_skip(p, sl_word_length(after));
		sl_parser_fail(p, v.from,
			"%s has an unknown unit; use a unit of sluice list, as in 5 cm",
			sl_parser_show(p, v.from, shown));
		return v;
	}
	if (!sl_real_parse(text, unit ? unit->dimension : SL_DIM_NUMBER, &number, why))
		sl_parser_fail(p, v.from, "%s", why);
	emit_number(p, &v, number);
	return v;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Reports an unknown name and suggests columns and fates of the model. */
static void fail_unknown(struct sl_parser *p, const char *from, const char *word)
{
	const char *words[(size_t)SL_COLUMN_COUNT + SL_FATE_COUNT];
	char shown[SL_SHOWN_BYTES], text[NAMES_BYTES];
	size_t n = 0;

	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(p->model->columns, i))
			words[n++] = sl_column_facts[i].name;
	for (int i = 0; i < SL_FATE_COUNT; i++)
		if (SL_HAS(p->model->fates, i) && i != SL_FATE_alive)
			words[n++] = sl_fate_facts[i].name;
	sl_parser_fail(p, from, "%s is neither a column nor a fate of model %s; use %s",
		sl_show(shown, word), p->model->name,
		sl_suggest(word, words, n, text, sizeof(text)));
}

/* Columns come before fates; no name is in both lists of a model. */
struct sl_operand sl_parse_name(struct sl_parser *p)
{
	struct sl_operand v = sl_no_operand;
	char word[NAME_MAX_BYTES];
	size_t n = sl_word_length(p->at);
	enum sl_column column;
	enum sl_fate fate;

	v.from = p->at;
	snprintf(word, sizeof(word), "%.*s", (int)n, p->at);
	sl_parser_skip(p, n);
	column = sl_column_named(word);
	fate = sl_fate_find(word);
	if (column < SL_COLUMN_COUNT && SL_HAS(p->model->columns, column)) {
		set_dimension(&v, sl_units[sl_column_facts[column].unit].dimension);
		v.single = sl_column_facts[column].type == SL_TYPE_F32;
		sl_parser_emit(p, SL_OP_column, column);
	} else if (fate < SL_FATE_COUNT && fate != SL_FATE_alive && SL_HAS(p->model->fates, fate)) {
		v.truth = true;
		sl_parser_emit(p, SL_OP_fate, fate);
	} else {
		fail_unknown(p, v.from, word);
	}
	return v;
}
