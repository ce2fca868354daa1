/* derived.c - finds definitions by name, compiles them, and appends their steps to the program. */
#include "pipeline/resolve/derived/derived.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/choices/choices.h"
#include "pipeline/resolve/condition/condition.h"
#include "pipeline/text/text.h"

/* --- the built-in columns --------------------------------------------------------------------- */

static const struct {
	enum sl_column column;
	const char *text;
	sl_column_set reads; /* the columns that the model must have */
} built_in[] = {
	{SL_COLUMN_r, "hypot(x, y)", SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y)},
	{SL_COLUMN_rho, "hypot(x, y, z)",
		SL_BIT(SL_COLUMN_x) | SL_BIT(SL_COLUMN_y) | SL_BIT(SL_COLUMN_z)},
	{SL_COLUMN_theta, "atan2(hypot(u, v), w)",
		SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v) | SL_BIT(SL_COLUMN_w)},
	{SL_COLUMN_phi, "atan2(v, u)", SL_BIT(SL_COLUMN_u) | SL_BIT(SL_COLUMN_v)},
	{SL_COLUMN_wavelength, "wavelength(energy)", SL_BIT(SL_COLUMN_energy)},
};

/* The number of a built-in column in the table, or -1. */
static int built_in_number(const char *word)
{
	for (int i = 0; i < (int)(sizeof(built_in) / sizeof(built_in[0])); i++)
		if (strcmp(sl_column_facts[built_in[i].column].name, word) == 0)
			return i;
	return -1;
}

/* --- the program ------------------------------------------------------------------------------ */

/* Has the run as many derived columns as allowed? Then adds a problem for key. */
static bool is_full(struct sl_derived *d, const char *key)
{
	if (__builtin_popcountll(d->choices->derivation.stores) < SL_DERIVED_MAX)
		return false;
	sl_config_add_problem(d->r, key,
		"is one derived column more than the %d that a run can have, built-in ones that it "
		"uses included; use fewer",
		SL_DERIVED_MAX);
	return true;
}

/* Appends the steps that compute a column. False after adding a problem for key. */
static bool append(
	struct sl_derived *d, const char *key, const struct sl_program *k, enum sl_column column)
{
	struct sl_program *to = &d->choices->derivation;

	if (is_full(d, key))
		return false;
	if (to->n + k->n + 1 > SL_PROGRAM_STEPS ||
		to->n_numbers + k->n_numbers > SL_PROGRAM_NUMBERS)
		return sl_config_add_problem(d->r, key,
			"is too long: the derived columns of a run have at most %d names, "
			"operators and functions, and %d numbers; shorten it",
			SL_PROGRAM_STEPS, SL_PROGRAM_NUMBERS);
	for (uint32_t i = 0; i < k->n; i++) {
		bool number = k->operation[i] == SL_OP_number;

		to->operation[to->n] = k->operation[i];
		to->operand[to->n++] = (uint8_t)(k->operand[i] + (number ? to->n_numbers : 0));
	}
	memcpy(to->number + to->n_numbers, k->number, k->n_numbers * sizeof(k->number[0]));
	to->n_numbers += k->n_numbers;
	to->operation[to->n] = SL_OP_store;
	to->operand[to->n++] = (uint8_t)column;
	to->stores |= SL_BIT(column);
	to->reads |= k->reads & ~SL_DERIVED_COLUMNS;
	return true;
}

/* --- definitions ------------------------------------------------------------------------------ */

/* The number of the definition of a name, or -1. */
static int definition_of(const struct sl_derived *d, const char *word)
{
	for (uint32_t i = 0; i < d->c->columns.n; i++)
		if (strcmp(d->c->columns.at[i].name, word) == 0)
			return (int)i;
	return -1;
}

/*
 * The named column of that name, or the next free one, which gets it; SL_COLUMN_COUNT if none is
 * free.
 */
static enum sl_column named_column(struct sl_named_columns *named, const char *name)
{
	uint32_t i = 0;

	while (i < named->n && strcmp(named->label[i].name, name) != 0)
		i++;
	if (i == SL_NAMED_COLUMNS_MAX)
		return SL_COLUMN_COUNT;
	if (i == named->n)
		snprintf(named->label[named->n++].name, SL_COLUMN_NAME_BYTES, "%s", name);
	return (enum sl_column)(SL_COLUMN_derived_1 + (int)i);
}

/* Gives a definition its column: the built-in one of that name, or a named one. */
static bool choose_column(struct sl_derived *d, const char *key, const char *name,
	enum sl_unit unit, enum sl_column *column)
{
	struct sl_named_columns *named = &d->choices->named;
	int number = built_in_number(name);

	if (number >= 0) {
		*column = built_in[number].column;
		d->choices->replaced |= SL_BIT(*column);
		if (sl_column_facts[*column].unit == unit)
			return true;
		return sl_config_add_problem(d->r, key,
			"replaces the built-in column '%s', which is in %s, by an expression in "
			"%s; use another name",
			name, sl_units[sl_column_facts[*column].unit].text,
			*sl_units[unit].text ? sl_units[unit].text : "no unit");
	}
	*column = named_column(named, name);
	if (*column == SL_COLUMN_COUNT)
		return sl_config_add_problem(d->r, key,
			"is one column more than the %d that a configuration can define, functions "
			"in keep included; use fewer",
			SL_NAMED_COLUMNS_MAX);
	named->label[*column - SL_COLUMN_derived_1].unit = unit;
	return true;
}

/* Compiles definition i, and before it those that it names. */
static void compile(struct sl_derived *d, int i, const char *key)
{
	const struct sl_named_text *text = &d->c->columns.at[i];
	struct sl_program k = {.n = 0};
	enum sl_column column = SL_COLUMN_COUNT;
	enum sl_unit unit;
	bool right;

	d->state[i] = SL_COMPILING;
	right = sl_expression_compute(
			d->r, key, text->text, d->choices->model, &d->names, &k, &unit) &&
	        choose_column(d, key, text->name, unit, &column) && append(d, key, &k, column);
	d->state[i] = right ? SL_COMPILED : SL_WRONG;
}

/* The column of a definition that is compiled. */
static enum sl_column column_of(const struct sl_derived *d, const char *name)
{
	const struct sl_named_columns *named = &d->choices->named;
	int number = built_in_number(name);

	if (number >= 0)
		return built_in[number].column;
	for (uint32_t i = 0; i < named->n; i++)
		if (strcmp(named->label[i].name, name) == 0)
			return (enum sl_column)(SL_COLUMN_derived_1 + (int)i);
	return SL_COLUMN_COUNT;
}

/* Finds definition i by its name. */
static enum sl_column find_definition(struct sl_derived *d, int i)
{
	const char *name = d->c->columns.at[i].name;
	char key[SL_KEY_BYTES];

	snprintf(key, sizeof(key), "columns.%s", name);
	if (d->state[i] == SL_COMPILING) {
		d->state[i] = SL_WRONG;
		sl_config_add_problem(d->r, key,
			"depends on itself; define it by columns that do not depend on it");
	}
	if (d->state[i] == SL_DEFINED)
		compile(d, i, key);
	return d->state[i] == SL_COMPILED ? column_of(d, name) : SL_COLUMN_COUNT;
}

/* Finds a built-in column. Problems of length are those of section columns as a whole. */
static enum sl_column find_built_in(struct sl_derived *d, int number)
{
	enum sl_column column = built_in[number].column;
	struct sl_program k = {.n = 0};
	enum sl_unit unit;
	bool right;

	if (d->built_in[column] == SL_DEFINED) {
		right = sl_expression_compute(d->r, "columns", built_in[number].text,
				d->choices->model, NULL, &k, &unit) &&
		        append(d, "columns", &k, column);
		d->built_in[column] = right ? SL_COMPILED : SL_WRONG;
	}
	return d->built_in[column] == SL_COMPILED ? column : SL_COLUMN_COUNT;
}

/* Implements sl_more_names.find. */
static bool find(void *ctx, const char *word, enum sl_column *column, enum sl_unit *unit)
{
	struct sl_derived *d = (struct sl_derived *)ctx;
	int i = definition_of(d, word), number = built_in_number(word);

	if (i < 0 && (number < 0 || built_in[number].reads & ~d->choices->model->columns))
		return false;
	*column = i >= 0 ? find_definition(d, i) : find_built_in(d, number);
	*unit = *column < SL_COLUMN_COUNT ? sl_column_unit(&d->choices->named, *column)
	                                  : SL_UNIT_NONE;
	return true;
}

/* Are two programs equal? */
static bool is_same(const struct sl_program *a, const struct sl_program *b)
{
	return a->n == b->n && a->n_numbers == b->n_numbers &&
	       memcmp(a->operation, b->operation, a->n) == 0 &&
	       memcmp(a->operand, b->operand, a->n) == 0 &&
	       memcmp(a->number, b->number, a->n_numbers * sizeof(a->number[0])) == 0;
}

/*
 * Implements sl_more_names.add. Equal calls share a column. Its name is none that a configuration
 * can give, so nothing else finds it.
 */
static bool add(void *ctx, const char *key, const struct sl_program *k, enum sl_unit unit,
	enum sl_column *column)
{
	struct sl_derived *d = (struct sl_derived *)ctx;
	char name[SL_COLUMN_NAME_BYTES];

	for (uint32_t i = 0; i < d->n_calls; i++)
		if (is_same(&d->call[i].k, k)) {
			*column = d->call[i].column;
			return true;
		}
	snprintf(name, sizeof(name), "call %u", d->n_calls + 1);
	if (!choose_column(d, key, name, unit, column) || !append(d, key, k, *column))
		return false;
	d->call[d->n_calls++] = (struct sl_derived_call){*column, *k};
	return true;
}

/* --- names ------------------------------------------------------------------------------------ */

/* What a name of a column must not be: what it means already; NULL if it is free. */
static const char *meaning_of(const char *name)
{
	static const char *const words[] = {"and", "or", "not", "in", "inf", "nan"};

	if (built_in_number(name) >= 0)
		return NULL;
	if (sl_column_named(name) < SL_COLUMN_COUNT)
		return "a column";
	if (sl_fate_find(name) < SL_FATE_COUNT)
		return "a fate";
	if (sl_species_find(name))
		return "a particle";
	if (sl_is_function(name))
		return "a function";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], name) == 0)
			return "a word of expressions";
	return NULL;
}

/* Is the name a word, and not read as the logarithm of a column in key? */
static bool is_word(const char *name)
{
	size_t n = strlen(name);

	return !isdigit((unsigned char)name[0]) && n > 0 && sl_word_length(name) == n &&
	       (n < 4 || strcmp(name + n - 4, "_log") != 0);
}

static void check_name(struct sl_derived *d, uint32_t i)
{
	const char *name = d->c->columns.at[i].name, *meaning = meaning_of(name);
	char key[SL_KEY_BYTES], shown[SL_SHOWN_BYTES];

	snprintf(key, sizeof(key), "columns.%s", name);
	d->state[i] = SL_WRONG;
	if (meaning)
		sl_config_add_problem(
			d->r, key, "'%s' is the name of %s; choose another name", name, meaning);
	else if (!is_word(name))
		sl_config_add_problem(d->r, key,
			"%s is not a name: letters, digits and '_' are allowed, no digit first, and "
			"no _log at the end; choose another name",
			sl_show(shown, name));
	else
		d->state[i] = SL_DEFINED;
}

/* Gives the named columns of output.columns the first places (struct sl_named_columns). */
static void place_written(struct sl_derived *d)
{
	const struct sl_texts *list = &d->c->output.columns;

	for (uint32_t k = 0; k < list->n; k++) {
		int i = definition_of(d, list->at[k]);

		if (i >= 0 && d->state[i] == SL_DEFINED && built_in_number(list->at[k]) < 0)
			(void)named_column(&d->choices->named, list->at[k]);
	}
}

void sl_derived_begin(const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices,
	struct sl_derived *d)
{
	memset(d, 0, sizeof(*d));
	d->c = c;
	d->r = r;
	d->choices = choices;
	d->names = (struct sl_more_names){.find = find, .add = add, .ctx = d};
	for (uint32_t i = 0; i < c->columns.n; i++) {
		check_name(d, i);
		d->names.name[d->names.n++] = c->columns.at[i].name;
	}
	place_written(d);
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (!(built_in[i].reads & ~choices->model->columns))
			d->names.name[d->names.n++] = sl_column_facts[built_in[i].column].name;
}

void sl_derived_end(struct sl_derived *d)
{
	char key[SL_KEY_BYTES];

	/* wrong expressions are reported even if nothing uses them */
	for (uint32_t i = 0; i < d->c->columns.n; i++) {
		bool unused = d->state[i] == SL_DEFINED;
		size_t before = sl_config_problems(d->r);

		if (!unused)
			continue;
		snprintf(key, sizeof(key), "columns.%s", d->c->columns.at[i].name);
		compile(d, (int)i, key);
		if (before == 0)
			sl_config_add_problem(d->r, key,
				"has no effect: keep, key, tallies and output.columns do not use "
				"it; remove it");
	}
}

/* --- columns by name -------------------------------------------------------------------------- */

bool sl_resolve_any_column(struct sl_derived *d, struct sl_reader *r, const char *key,
	const char *word, const struct sl_model *model, sl_column_set allowed,
	enum sl_column *column)
{
	enum sl_column own = sl_column_named(word);
	char shown[SL_SHOWN_BYTES];
	const char *meant;
	enum sl_unit unit;

	if (d && !(own < SL_COLUMN_COUNT && SL_HAS(allowed, own)) && find(d, word, column, &unit))
		return *column < SL_COLUMN_COUNT;
	if (d && built_in_number(word) >= 0)
		return sl_config_add_problem(r, key,
			"'%s' is derived from columns that particles of model %s lack: %s; remove it",
			word, model->name, built_in[built_in_number(word)].text);
	meant = d && own == SL_COLUMN_COUNT ? sl_derived_meant(&d->names, word, allowed) : NULL;
	if (meant)
		return sl_config_add_problem(r, key, "%s is not a column of model %s; use %s",
			sl_show(shown, word), model->name, meant);
	return sl_resolve_column(r, key, word, model, allowed, column);
}

/* Has a format something else of that name: a record or a group of openPMD, or a member of npz? */
static bool is_name_in_files(const char *name)
{
	static const char *const words[] = {"positionOffset", "particlePatches", "about"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (strcmp(sl_column_facts[i].record, name) == 0)
			return true;
	return false;
}

sl_column_set sl_resolve_column_set(
	struct sl_derived *d, const char *key, const struct sl_texts *list, sl_column_set allowed)
{
	char item[SL_WORD_BYTES], shown[SL_SHOWN_BYTES];
	sl_column_set set = 0;

	for (uint32_t k = 0; k < list->n; k++) {
		enum sl_column i;

		snprintf(item, sizeof(item), "%s[%u]", key, k);
		if (!sl_resolve_any_column(
			    d, d->r, item, list->at[k], d->choices->model, allowed, &i))
			continue;
		if (sl_is_named_column((int)i) && is_name_in_files(list->at[k]))
			sl_config_add_problem(d->r, item,
				"%s is the name of something else in files; choose another name in "
				"columns",
				sl_show(shown, list->at[k]));
		else if (SL_HAS(set, i))
			sl_config_add_problem(d->r, item, "%s is repeated; remove it",
				sl_show(shown, list->at[k]));
		else
			set |= SL_BIT(i);
	}
	return set;
}
