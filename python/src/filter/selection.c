/*
 * selection.c - see filter.h.
 *
 * The condition and the key are resolved by the code of a run, for a model that has the columns of
 * the table. With a column fate it has all fates, else the one of the model list.
 */
#include "python/src/filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/resolve/output/output.h"
#include "stages/models/models.h"

/* The model list with other columns. Its rules are all 0: no column has a constant value. */
static struct sl_model model_of(const struct sl_py_table *t)
{
	struct sl_model m = *sl_models[SL_MODEL_list];

	m.columns = SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_fate);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		m.columns |= sl_py_table_has(t, c) ? SL_BIT(c) : 0;
	if (sl_py_table_has(t, SL_COLUMN_fate))
		m.fates = SL_EVERY_FATE;
	return m;
}

static void resolve(struct sl_py_selection *s, bool all, const struct sl_py_table *t)
{
	const struct sl_model m = model_of(t);
	struct sl_resolver v = {.c = &s->config, .r = s->reader, .to = &s->choices};

	s->config.run.particles = t->n;
	s->choices.model = &m;
	sl_derived_begin(&v);
	if (all)
		s->choices.keep = m.fates;
	else
		sl_resolve_keep(&v);
	v.ranges = true;
	sl_resolve_key(&v);
	sl_derived_end(&v);
	s->choices.model = NULL;
	for (uint32_t k = 0; k < s->choices.n_fields; k++)
		s->rule[k] = sl_key_rule_make(&s->choices.field[k]);
}

enum sl_status sl_py_selection_make(
	const char *text, bool all, const struct sl_py_table *t, struct sl_py_selection **made)
{
	struct sl_py_selection *s = (struct sl_py_selection *)calloc(1, sizeof(*s));

	*made = s;
	if (!s)
		return sl_fail(SL_HOST_MEMORY, "no memory for a condition");
	SL_TRY(sl_config_open_text(
		"<filter>", text, strlen(text), NULL, 0, &s->config, &s->reader));
	resolve(s, all, t);
	return sl_config_verdict(s->reader);
}

void sl_py_selection_free(struct sl_py_selection *s)
{
	if (s)
		sl_config_close(s->reader);
	free(s);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Whether an array is used as it is. */
static bool is_exact(const struct sl_py_array *a, int column)
{
	const struct sl_py_array like = sl_py_items_of((enum sl_column)column);

	return !a->constant && a->kind == like.kind && a->bytes == like.bytes &&
	       a->stride == a->bytes && (uintptr_t)a->data % a->bytes == 0;
}

/* The columns that rules read, as far as the table has them; the others are derived, or the id. */
static sl_column_set read_columns(const struct sl_py_table *t, const struct sl_py_selection *s)
{
	sl_column_set set = s->choices.condition.reads | s->choices.derivation.reads |
	                    SL_BIT(SL_COLUMN_fate) | SL_BIT(SL_COLUMN_id);
	sl_column_set has = 0;

	for (uint32_t k = 0; k < s->choices.n_fields; k++)
		set |= SL_BIT(s->rule[k].column);
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(set, c) && sl_py_table_has(t, c))
			has |= SL_BIT(c);
	return has;
}

sl_column_set sl_py_table_columns(const struct sl_py_table *t, const struct sl_py_selection *s,
	struct sl_arena *a, struct sl_columns *columns)
{
	const sl_column_set reads = read_columns(t, s);
	sl_column_set converted = 0;

	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		const struct sl_py_array *array = &t->column[c];
		void **to = (void **)(void *)((char *)columns + sl_column_facts[c].offset);

		if (SL_HAS(reads, c) && is_exact(array, c)) {
			*to = (void *)(uintptr_t)array->data;
		} else if (SL_HAS(reads | s->choices.derivation.stores, c)) {
			*to = sl_cut_items(a, t->n, sl_column_facts[c].bytes);
			converted |= SL_HAS(reads, c) ? SL_BIT(c) : 0;
		}
	}
	return converted;
}
