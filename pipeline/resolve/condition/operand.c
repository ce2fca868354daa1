/*
 * operand.c - reads words, names and numbers, and emits steps. A power of a unit is a part of the
 * number.
 */
#include "pipeline/resolve/condition/condition.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- numbers ---------------------------------------------------------------------------------- */

enum { HEX_DIGITS_MAX = 13 /* 52 bits, which a double holds exactly */ };

int sl_emit_number(struct sl_parser *p, const char *from, double number)
{
	struct sl_program *k = p->k;

	if (k->n_numbers == SL_EXPRESSION_NUMBERS) {
		sl_parser_fail(p, from, "has more than %d numbers, which is the limit; use fewer",
			SL_EXPRESSION_NUMBERS);
		return -1;
	}
	k->number[k->n_numbers] = number;
	sl_parser_emit(p, SL_OP_number, k->n_numbers);
	return (int)k->n_numbers++;
}

/* --- exponents -------------------------------------------------------------------------------- */

/* Reads the digits of an exponent at this place; false if they are not a number that is allowed. */
static bool scan_exponent(const char *at, int *exponent, size_t *bytes)
{
	*bytes = strspn(at, "0123456789");
	if (*bytes == 0 || *bytes > 3 || at[*bytes] == '.' || sl_word_length(at + *bytes) > 0)
		return false;
	*exponent = atoi(at);
	return *exponent >= 1 && *exponent <= SL_EXPONENT_MAX;
}

bool sl_parse_exponent(struct sl_parser *p, int *exponent)
{
	const char *from, *part;
	bool negative;
	size_t n;

	*exponent = 1;
	if (p->failed || (!sl_parser_take(p, "**") && !sl_parser_take(p, "^")))
		return false;
	from = p->at;
	negative = sl_parser_take(p, "-");
	if (!scan_exponent(p->at, exponent, &n)) {
		part = sl_said("%.*s", (int)strcspn(from, " ])*/+,<>=&"), from);
		sl_parser_fail(p, from,
			"%s is not an exponent, which is a whole number from 1 to %d or -1 to -%d; "
			"write for example x^2",
			sl_shown(part), SL_EXPONENT_MAX, SL_EXPONENT_MAX);
		*exponent = 1;
	}
	sl_parser_skip(p, n);
	if (negative)
		*exponent = -*exponent;
	return true;
}

/* --- units ------------------------------------------------------------------------------------ */

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

/* Is this word at this place? */
static bool is_word(const char *at, const char *word)
{
	size_t n = sl_word_length(at);

	return n == strlen(word) && strncmp(at, word, n) == 0;
}

/* Is an operator that is a word at this place? Then the number before it has no unit. */
static bool is_operator(const char *at)
{
	return is_word(at, "and") || is_word(at, "or") || is_word(at, "not") ||
	       (is_word(at, "in") && at[2 + strspn(at + 2, " ")] == '[');
}

/* The unit that a word probably means, or NULL. */
static const char *unit_meant(const char *word)
{
	const char *words[SL_UNIT_COUNT];
	size_t n = strlen(word);

	if (sl_unit_elsewhere(word))
		return sl_unit_elsewhere(word);
	for (int u = 0; u < SL_UNIT_COUNT; u++) {
		words[u] = sl_units[u].text;
		/* cm2 */
		if (n == strlen(words[u]) + 1 && strncmp(word, words[u], n - 1) == 0 &&
			isdigit((unsigned char)word[n - 1]))
			return sl_said("%.8s^%c", words[u], word[n - 1]);
	}
	return sl_nearest(word, words, SL_UNIT_COUNT);
}

/* Refuses the word at this place, which is no unit, and suggests one. */
static void refuse_unit(struct sl_parser *p, const char *from)
{
	const char *meant = unit_meant(sl_said("%.*s", (int)sl_word_length(p->at), p->at));

	sl_parser_skip(p, sl_word_length(p->at));
	sl_parser_fail(p, from, "%s has an unknown unit; use %s", sl_parser_shown(p, from),
		meant ? meant : "a unit of sluice list, as in 5 cm");
}

/*
 * Reads the unit at this place and its power. A power after a quotient could belong to either part.
 */
static int take_unit(struct sl_parser *p, const struct sl_unit_facts *unit)
{
	int power;

	sl_parser_skip(p, strlen(unit->text));
	if (!sl_parse_exponent(p, &power) || !strchr(unit->text, '/'))
		return power;
	sl_parser_fail(p, p->at,
		"'%s' has a power after a quotient of units, which has two meanings; write "
		"(1 cm)^2/(1 ns)^2 or 1 cm^2/(1 ns)",
		unit->text);
	return 1;
}

/* Reads 0x and hexadecimal digits. */
static void parse_hexadecimal(struct sl_parser *p, struct sl_operand *v)
{
	size_t word = sl_word_length(p->at), zeros = strspn(p->at + 2, "0");
	size_t digits = strspn(p->at + 2, "0123456789abcdefABCDEF");

	v->whole = true;
	v->literal = sl_emit_number(p, p->at, (double)strtoull(p->at, NULL, 16));
	sl_parser_skip(p, word);
	if (digits == 0 || 2 + digits != word || p->at[0] == '.')
		sl_operand_fail(p, v,
			"is not a hexadecimal number; write 0x and digits from 0 to 9 or a to f");
	else if (digits - zeros > HEX_DIGITS_MAX)
		sl_operand_fail(p, v,
			"has more than %d bits, but numbers are exact up to %d bits; use fewer",
			4 * HEX_DIGITS_MAX, 4 * HEX_DIGITS_MAX);
}

/* Reads a decimal number, which is scanned, and its unit. */
static void parse_decimal(
	struct sl_parser *p, const struct sl_decimal *scanned, struct sl_operand *v)
{
	const char *after = scanned->end + strspn(scanned->end, " ");
	const struct sl_unit_facts *unit = unit_at(after);
	double number = 0;
	int power = 1;

	v->bare = !unit && (scanned->infinite || scanned->n_digits == 0);
	sl_parser_skip(p, (size_t)(scanned->end - p->at));
	if (unit) {
		power = take_unit(p, unit);
		sl_operand_set_dimension(v, unit->dimension, power);
	} else if (sl_word_length(after) > 0 && !is_operator(after)) {
		refuse_unit(p, v->from);
		return;
	} else {
		unit = &sl_units[SL_UNIT_NONE];
	}
	if (!sl_real_convert(scanned, sl_parser_shown(p, v->from), unit, power, &number))
		sl_parser_fail(p, v->from, "%s", sl_last_error());
	v->whole = unit->dimension == SL_DIM_NUMBER && number == floor(number);
	v->literal = sl_emit_number(p, v->from, number);
}

bool sl_parse_number(struct sl_parser *p, struct sl_operand *v)
{
	struct sl_decimal scanned;

	if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
		parse_hexadecimal(p, v);
	else if (*p->at != '+' && sl_decimal_scan(p->at, &scanned))
		parse_decimal(p, &scanned, v);
	else
		return false;
	return true;
}
