/* operand.c - reads words and names, and emits steps. */
#include "pipeline/resolve/condition/condition.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
		sl_config_add_problem_within(
			p->resolver->r, p->key, (size_t)(where - p->text), text);
	p->failed = true;
}

const char *sl_parser_shown(const struct sl_parser *p, const char *from)
{
	char part[SL_TEXT_BYTES];
	size_t n = (size_t)(p->at - from);

	while (n > 0 && from[n - 1] == ' ')
		n--;
	snprintf(part, sizeof(part), "%.*s", (int)n, from);
	return sl_shown(part);
}

void sl_operand_fail(struct sl_parser *p, const struct sl_operand *v, const char *format, ...)
{
	char text[SL_WHY_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sl_parser_fail(p, v->from, "%s %s", sl_parser_shown(p, v->from), text);
}

/* --- steps ------------------------------------------------------------------------------------ */

/*
 * depth follows the stack of the program. It is counted here, where each step is made, so that the
 * device can use a stack of fixed size without a check.
 */
void sl_parser_emit(struct sl_parser *p, uint32_t operation, uint32_t operand)
{
	struct sl_program *k = p->k;

	p->depth += 1 - sl_program_takes((enum sl_operation)operation);
	if (p->failed)
		return;
	if (k->n == SL_EXPRESSION_STEPS || p->depth > SL_PROGRAM_DEPTH) {
		sl_parser_fail(p, p->text,
			"is too long: at most %d names, numbers and operators are allowed, %d of "
			"them pending; shorten it",
			SL_EXPRESSION_STEPS, SL_PROGRAM_DEPTH);
		return;
	}
	k->operation[k->n] = (uint8_t)operation;
	k->operand[k->n++] = (uint8_t)operand;
	if (operation == SL_OP_column)
		k->reads |= SL_BIT(operand);
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

/* --- names ------------------------------------------------------------------------------------ */

const char *sl_derived_meant(const struct sl_resolver *v, const char *word, sl_column_set columns)
{
	const char *words[(size_t)SL_COLUMN_COUNT + sizeof(v->name) / sizeof(v->name[0])];
	const char *near;
	size_t n = 0;

	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(columns, i))
			words[n++] = sl_column_facts[i].name;
	memcpy(words + n, v->name, v->n_names * sizeof(v->name[0]));
	near = sl_nearest(word, words, n + v->n_names);
	for (size_t i = 0; near && i < v->n_names; i++)
		if (strcmp(near, v->name[i]) == 0)
			return near;
	return NULL;
}

/* Reports an unknown name and suggests columns and fates of the model. */
static void fail_unknown(struct sl_parser *p, const char *from, const char *word)
{
	const char *words[(size_t)SL_COLUMN_COUNT + SL_FATE_COUNT];
	const char *meant = sl_column_meant(word, p->model->columns);
	const char *derived = sl_derived_meant(p->resolver, word, p->model->columns);
	size_t n = 0;

	if (*p->at == '(')
		sl_parser_fail(p, from,
			"%s is not a function; use sqrt, hypot, atan2, exp, log, pow, min, max, abs or wavelength",
			sl_shown(word));
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(p->model->columns, i))
			words[n++] = sl_column_facts[i].name;
	for (int i = 0; i < SL_FATE_COUNT; i++)
		if (SL_HAS(p->model->fates, i) && i != SL_FATE_alive)
			words[n++] = sl_fate_facts[i].name;
	if (!meant)
		meant = derived ? derived : sl_suggested(word, words, n);
	sl_parser_fail(p, from, "%s is neither a column nor a fate of model %s; use %s",
		sl_shown(word), p->model->name, meant);
}

/* All columns of signed whole numbers but pdg would be plain numbers. */
void sl_push_column(
	struct sl_parser *p, struct sl_operand *v, enum sl_column column, enum sl_unit unit)
{
	enum sl_column_type type = sl_column_facts[column].type;

	sl_operand_set_dimension(v, sl_units[unit].dimension, 1);
	v->single = type == SL_TYPE_F32;
	v->whole = !v->single;
	if (column == SL_COLUMN_pdg)
		v->kind = SL_CODE;
	else if (type != SL_TYPE_F32 && type != SL_TYPE_I32)
		v->kind = SL_FLAGS;
	sl_parser_emit(p, SL_OP_column, column);
}

/* The name of a particle is its code. A model without codes has particles of one kind. */
static void parse_species(
	struct sl_parser *p, const struct sl_species *species, struct sl_operand *v)
{
	if (!SL_HAS(p->model->columns, SL_COLUMN_pdg))
		sl_parser_fail(p, v->from,
			"'%s' is the name of a particle, but particles of model %s have no column pdg; remove it",
			species->name, p->model->name);
	v->kind = SL_SPECIES;
	v->whole = true;
	v->literal = sl_emit_number(p, v->from, species->code);
}

/* Columns come before fates; no name is in two lists of a model. */
void sl_parse_name(struct sl_parser *p, struct sl_operand *v)
{
	const struct sl_species *species;
	char word[SL_PARSER_NAME_BYTES];
	size_t n = sl_word_length(p->at);
	enum sl_column column;
	enum sl_unit unit;
	enum sl_fate fate;

	snprintf(word, sizeof(word), "%.*s", (int)n, p->at);
	sl_parser_skip(p, n);
	column = sl_column_named(word);
	fate = sl_fate_find(word);
	species = sl_species_find(word);
	if (column < SL_COLUMN_COUNT && SL_HAS(p->model->columns, column)) {
		sl_push_column(p, v, column, sl_column_facts[column].unit);
	} else if (sl_derived_find(p->resolver, word, &column, &unit)) {
		/* a wrong column is reported where it is defined */
		p->failed |= column == SL_COLUMN_COUNT;
		if (!p->failed)
			sl_push_column(p, v, column, unit);
	} else if (fate < SL_FATE_COUNT && fate != SL_FATE_alive && SL_HAS(p->model->fates, fate)) {
		v->truth = true;
		sl_parser_emit(p, SL_OP_fate, fate);
	} else if (species) {
		parse_species(p, species, v);
	} else {
		fail_unknown(p, v->from, word);
	}
}
