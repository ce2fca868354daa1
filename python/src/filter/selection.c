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
