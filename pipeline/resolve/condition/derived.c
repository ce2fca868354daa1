/* derived.c - finds definitions by name, compiles them, and appends their steps to the program. */
#include "pipeline/resolve/condition/condition.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

/* Appends the steps that compute a column. False after adding a problem for key. */
static bool append(
	struct sl_resolver *v, const char *key, const struct sl_program *k, enum sl_column column)
{
	struct sl_program *to = &v->to->derivation;

	if (__builtin_popcountll(to->stores) >= SL_DERIVED_MAX)
		return sl_config_add_problem(v->r, key,
			"is one derived column more than the %d that a run can have, built-in ones that it "
			"uses included; use fewer",
			SL_DERIVED_MAX);
	if (to->n + k->n + 1 > SL_PROGRAM_STEPS ||
		to->n_numbers + k->n_numbers > SL_PROGRAM_NUMBERS)
		return sl_config_add_problem(v->r, key,
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
static int definition_of(const struct sl_resolver *v, const char *word)
{
	for (uint32_t i = 0; i < v->c->columns.n; i++)
		if (strcmp(v->c->columns.at[i].name, word) == 0)
			return (int)i;
	return -1;
}

/*
 * The column of a name: the built-in one, or the named column, or the next free one, which gets the
 * name; SL_COLUMN_COUNT if none is free.
 */
static enum sl_column column_of(struct sl_resolver *v, const char *name)
{
	struct sl_named_columns *named = &v->to->named;
	int number = built_in_number(name);
	uint32_t i = 0;

	if (number >= 0)
		return built_in[number].column;
	while (i < named->n && strcmp(named->label[i].name, name) != 0)
		i++;
	if (i == SL_NAMED_COLUMNS_MAX)
		return SL_COLUMN_COUNT;
	if (i == named->n)
		snprintf(named->label[named->n++].name, SL_COLUMN_NAME_BYTES, "%s", name);
	return (enum sl_column)(SL_COLUMN_derived_1 + (int)i);
}

/* Gives the steps k the column of their name: a built-in one, or a named one. */
static bool store(struct sl_resolver *v, const char *key, const char *name,
	const struct sl_program *k, enum sl_unit unit, enum sl_column *column)
{
	*column = column_of(v, name);
	if (*column == SL_COLUMN_COUNT)
		return sl_config_add_problem(v->r, key,
			"is one column more than the %d that a configuration can define, functions "
			"in keep included; use fewer",
			SL_NAMED_COLUMNS_MAX);
	if (sl_is_named_column((int)*column))
		v->to->named.label[*column - SL_COLUMN_derived_1].unit = unit;
	else if (definition_of(v, name) >= 0)
		v->to->replaced |= SL_BIT(*column);
	if (sl_label_unit(v->to->named.label, *column) != unit)
		return sl_config_add_problem(v->r, key,
			"replaces the built-in column '%s', which is in %s, by an expression in %s; use another name",
			name, sl_units[sl_column_facts[*column].unit].text,
			*sl_units[unit].text ? sl_units[unit].text : "no unit");
	return append(v, key, k, *column);
}

/*
 * Compiles a column when it is first named, and before it those that it names. Problems of the
 * length of a built-in one are those of section columns as a whole.
 */
bool sl_derived_find(
	struct sl_resolver *v, const char *word, enum sl_column *column, enum sl_unit *unit)
{
	int i = definition_of(v, word), number = built_in_number(word);
	enum sl_definition_state *state;
	struct sl_program k = {.n = 0};
	char key[SL_KEY_BYTES];

	if (i < 0 && (number < 0 || built_in[number].reads & ~v->to->model->columns))
		return false;
	state = i >= 0 ? &v->state[i] : &v->built_in[built_in[number].column];
	snprintf(key, sizeof(key), i >= 0 ? "columns.%s" : "columns", word);
	if (*state == SL_COMPILING) {
		*state = SL_WRONG;
		sl_config_add_problem(v->r, key,
			"depends on itself; define it by columns that do not depend on it");
	}
	if (*state == SL_DEFINED) {
		const char *text = i >= 0 ? v->c->columns.at[i].text : built_in[number].text;

		*state = SL_COMPILING;
		*state = sl_expression_compute(v, key, text, &k, unit) &&
		                         store(v, key, word, &k, *unit, column)
		                 ? SL_COMPILED
		                 : SL_WRONG;
	}
	*column = *state == SL_COMPILED ? column_of(v, word) : SL_COLUMN_COUNT;
	*unit = *state == SL_COMPILED ? sl_label_unit(v->to->named.label, *column) : SL_UNIT_NONE;
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

/* Equal calls share a column. Its name is none that a configuration can give. */
bool sl_derived_add(struct sl_resolver *v, const char *key, const struct sl_program *k,
	enum sl_unit unit, enum sl_column *column)
{
	for (uint32_t i = 0; i < v->n_calls; i++)
		if (is_same(&v->call[i].k, k)) {
			*column = v->call[i].column;
			return true;
		}
	if (!store(v, key, sl_said("call %u", v->n_calls + 1), k, unit, column))
		return false;
	v->call[v->n_calls++] = (struct sl_derived_call){*column, *k};
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

static void check_name(struct sl_resolver *v, uint32_t i)
{
	const char *name = v->c->columns.at[i].name, *meaning = meaning_of(name);
	const char *key = sl_said("columns.%s", name);

	v->state[i] = SL_WRONG;
	if (meaning)
		sl_config_add_problem(
			v->r, key, "'%s' is the name of %s; choose another name", name, meaning);
	else if (!is_word(name))
		sl_config_add_problem(v->r, key,
			"%s is not a name: letters, digits and '_' are allowed, no digit first, and "
			"no _log at the end; choose another name",
			sl_shown(name));
	else
		v->state[i] = SL_DEFINED;
}

void sl_derived_begin(struct sl_resolver *v)
{
	const struct sl_texts *written = &v->c->output.columns;

	for (uint32_t i = 0; i < v->c->columns.n; i++) {
		check_name(v, i);
		v->name[v->n_names++] = v->c->columns.at[i].name;
	}
	/* those that are written get the first places (struct sl_named_columns) */
	for (uint32_t k = 0; k < written->n; k++) {
		int i = definition_of(v, written->at[k]);

		if (i >= 0 && v->state[i] == SL_DEFINED)
			(void)column_of(v, written->at[k]);
	}
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (!(built_in[i].reads & ~v->to->model->columns))
			v->name[v->n_names++] = sl_column_facts[built_in[i].column].name;
}

/* Wrong expressions are reported even if nothing uses them. */
void sl_derived_end(struct sl_resolver *v)
{
	enum sl_column column;
	enum sl_unit unit;

	for (uint32_t i = 0; i < v->c->columns.n; i++) {
		const char *name = v->c->columns.at[i].name;
		size_t before = sl_config_problems(v->r);

		if (v->state[i] == SL_DEFINED && sl_derived_find(v, name, &column, &unit) &&
			before == 0)
			sl_config_add_problem(v->r, sl_said("columns.%s", name),
				"has no effect: keep, key, tallies and output.columns do not use it; remove it");
	}
}

/* --- columns by name -------------------------------------------------------------------------- */

bool sl_resolve_any_column(struct sl_resolver *v, const char *key, const char *word,
	sl_column_set allowed, enum sl_column *column)
{
	enum sl_column own = sl_column_named(word);
	const char *meant;
	enum sl_unit unit;

	if (!(own < SL_COLUMN_COUNT && SL_HAS(allowed, own)) &&
		sl_derived_find(v, word, column, &unit))
		return *column < SL_COLUMN_COUNT;
	if (built_in_number(word) >= 0)
		return sl_config_add_problem(v->r, key,
			"'%s' is derived from columns that particles of model %s lack: %s; remove it",
			word, v->to->model->name, built_in[built_in_number(word)].text);
	meant = own == SL_COLUMN_COUNT ? sl_derived_meant(v, word, allowed) : NULL;
	if (meant)
		return sl_config_add_problem(v->r, key, "%s is not a column of model %s; use %s",
			sl_shown(word), v->to->model->name, meant);
	return sl_resolve_column(v, key, word, allowed, column);
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
	struct sl_resolver *v, const char *key, const struct sl_texts *list, sl_column_set allowed)
{
	sl_column_set set = 0;

	for (uint32_t k = 0; k < list->n; k++) {
		char item[SL_WORD_BYTES];
		enum sl_column i;

		snprintf(item, sizeof(item), "%s[%u]", key, k);
		if (!sl_resolve_any_column(v, item, list->at[k], allowed, &i))
			continue;
		if (sl_is_named_column((int)i) && is_name_in_files(list->at[k]))
			sl_config_add_problem(v->r, item,
				"%s is the name of something else in files; choose another name in columns",
				sl_shown(list->at[k]));
		else if (SL_HAS(set, i))
			sl_config_add_problem(
				v->r, item, "%s is repeated; remove it", sl_shown(list->at[k]));
		else
			set |= SL_BIT(i);
	}
	return set;
}
