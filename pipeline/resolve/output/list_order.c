/* list_order.c - see output.h. */
#include "pipeline/resolve/output/output.h"

#include <string.h>

#include "stages/formats/mcpl/mcpl.h"

/* Is output.order run? Adds a problem for a word that is no order. */
static bool is_over_run(struct sl_resolver *v)
{
	const char *word = v->c->output.order;

	if (word[0] && strcmp(word, "run") != 0 && strcmp(word, "batch") != 0)
		sl_config_add_problem(v->r, "output.order",
			"%s is not an order; use run (by key over the whole run) or batch (by key within each batch)",
			sl_shown(word));
	return strcmp(word, "run") == 0;
}

/* The columns that the order files of a run are made of; a constant column is not needed. */
static sl_column_set columns_of(const struct sl_choices *choices, bool rules)
{
	const struct sl_list_order *o = &choices->list_order;
	struct sl_particle values;
	sl_column_set set = 0;

	for (uint32_t k = 0; o->run && k < choices->n_fields; k++)
		set |= SL_BIT(choices->field[k].column);
	if (o->sample > 0)
		set |= SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_weight);
	return rules ? set & ~choices->model->constants(choices->rules.bytes, &values) : set;
}

void sl_resolve_list_order(struct sl_resolver *v)
{
	static const char *const keys[] = {
		"output.joined", "output.order", "output.sample", "output.limit"};

	if (!v->to->format)
		return;
	if (!sl_format_is_mcpl(v->to->format) && !v->to->format->join) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			sl_config_refuse_unused(v->r, keys[i],
				"the format has no file of the whole run",
				"remove it or use another output.format");
		return;
	}
	v->to->list_order = (struct sl_list_order){
		.run = is_over_run(v), .sample = v->c->output.sample, .limit = v->c->output.limit};
	/* a sample of a format of columns changes the weights in the files */
	if (!SL_HAS(v->to->columns, SL_COLUMN_weight) && v->to->format->join &&
		v->to->list_order.sample > 0)
		sl_config_add_problem(v->r, "output.columns",
			"lacks weight, with which the particles of output.sample count; add weight");
	v->to->list_order.columns = columns_of(v->to, v->ranges);
	v->to->internal |= v->to->list_order.columns & ~v->to->columns;
	v->to->columns |= v->to->list_order.columns;
}
