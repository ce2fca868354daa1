/* list_order.c - see output.h. */
#include "pipeline/resolve/output/output.h"

#include <string.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"
#include "stages/formats/mcpl/mcpl.h"

/* Is output.order run? Adds a problem for a word that is no order. */
static bool is_over_run(const struct sl_config *c, struct sl_reader *r)
{
	const char *word = c->output.order;
	char shown[SL_SHOWN_BYTES];

	if (word[0] && strcmp(word, "run") != 0 && strcmp(word, "batch") != 0)
		sl_config_add_problem(r, "output.order",
			"%s is not an order; use run (by key over the whole run) or batch (by key "
			"within each batch)",
			sl_show(shown, word));
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

/* A sample of a format of columns changes the weights in the files, so they must have one. */
static void check_weight(struct sl_reader *r, const struct sl_choices *choices)
{
	if (!SL_HAS(choices->columns, SL_COLUMN_weight) && choices->format->join &&
		choices->list_order.sample > 0)
		sl_config_add_problem(r, "output.columns",
			"lacks weight, with which the particles of output.sample count; add weight");
}

/* For a format whose batches cannot become one file. */
static void refuse_all(struct sl_reader *r)
{
	static const char *const keys[] = {
		"output.joined", "output.order", "output.sample", "output.limit"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		sl_config_refuse_unused(r, keys[i], "the format has no file of the whole run",
			"remove it or use another output.format");
}

void sl_resolve_list_order(
	const struct sl_config *c, struct sl_reader *r, struct sl_choices *choices, bool rules)
{
	if (!choices->format)
		return;
	if (!sl_format_is_mcpl(choices->format) && !choices->format->join) {
		refuse_all(r);
		return;
	}
	choices->list_order = (struct sl_list_order){
		.run = is_over_run(c, r), .sample = c->output.sample, .limit = c->output.limit};
	check_weight(r, choices);
	choices->list_order.columns = columns_of(choices, rules);
	choices->internal |= choices->list_order.columns & ~choices->columns;
	choices->columns |= choices->list_order.columns;
}
