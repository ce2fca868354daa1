/* plan_recipe.c - choices become the recipe of the stages. */
#include "pipeline/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "stages/formats/formats.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/host/host.h"
#include "stages/inputs/inputs.h"

/* The columns of survivors whose items the host reads even if it does not write columns. */
static sl_column_set columns_read(const struct sl_choices *c)
{
	/* the image is a sum of these, and order files are made of the others */
	sl_column_set summed =
		c->image.width > 0 ? SL_BIT(SL_COLUMN_pixel) | SL_BIT(SL_COLUMN_weight) : 0;

	return summed | c->list_order.columns;
}

/* How the device packs survivors, and which columns are also copied to the host unpacked. */
static enum sl_status make_pack_rule(
	const struct sl_choices *c, const struct sl_config *config, struct sl_recipe *r)
{
	bool written = c->format != &sl_format_none;
	struct sl_arena none = {0};
	struct sl_table t;

	r->unpacked = SL_EVERY_COLUMN;
	r->resident = c->resident;
	if (c->form == SL_AS_COLUMNS && !c->resident && written)
		return SL_OK;
	r->unpacked = columns_read(c);
	if (c->resident || !written)
		return SL_OK;
	r->pack = (struct sl_pack_rule){.form = c->form,
		.packing = c->format->packing,
		.backend = c->pack,
		.level = (int)config->output.level};
	if (!c->format->record_of)
		return SL_OK;
	sl_table_lay_out(&none, r, 0, 0, &t);
	return c->format->record_of(&t, &c->mcpl, &r->pack.record);
}

/* SL_LEVEL names no level; the message has those of this processor. */
static enum sl_status refuse_level(const char *level)
{
	const char *names[8];
	size_t n = 0;

	for (const struct sl_loops *l; n < 8 && (l = sl_loops_at(n)) != NULL; n++)
		names[n] = l->level;
	for (size_t i = n; i-- > 0;)
		if (!sl_find_loops(names[i]))
			memmove(names + i, names + i + 1, (--n - i) * sizeof(*names));
	return sl_fail(SL_USAGE,
		"SL_LEVEL=%s is not an instruction level of this processor; use %s", level,
		sl_listed(names, n));
}

enum sl_status sl_recipe_make(
	const struct sl_choices *c, const struct sl_config *config, struct sl_recipe *r)
{
	const char *level = getenv("SL_LEVEL");

	r->model = config->model;
	memcpy(r->rules.bytes, c->rules.bytes, sizeof(r->rules.bytes));
	r->seed = config->run.seed;
	r->particles = config->run.particles;
	r->batch = (uint32_t)c->batch;
	r->n_batches = c->n_batches;
	r->keep = c->keep;
	r->condition = c->condition;
	r->derivation = c->derivation;
	r->n_fields = c->n_fields;
	for (uint32_t k = 0; k < c->n_fields; k++)
		r->field[k] = sl_key_rule_make(&c->field[k]);
	r->key_bits = c->key_bits;
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(c->columns, i))
			r->column[r->n_columns++] = (enum sl_column)i;
	r->internal = c->internal;
	memcpy(r->label, c->named.label, sizeof(r->label));
	r->constants = c->model->constants(c->rules.bytes, &r->constant);
	sl_grid_make(c->grid, c->n_grids, c->grid_edge, sl_sums_weights(r), &r->grids);
	r->mode = c->mode;
	if (c->schedule == SL_BY_ROUNDS)
		r->schedule = c->rounds[0];
	if (c->model->resampling)
		c->model->resampling(c->rules.bytes, &r->resampling);
	r->scan = c->scan;
	if (r->mode == SL_MODE_staged)
		r->compact = c->compact;
	r->sort = c->sort;
	r->loops = sl_find_loops(level && level[0] ? level : NULL);
	return r->loops ? make_pack_rule(c, config, r) : refuse_level(level);
}

/* Records of lists are copied to MCPL files: batches keep them, in the layout of the output. */
static void keep_records(const struct sl_choices *c, struct sl_recipe *r)
{
	struct sl_inputs *inputs = r->inputs;
	struct sl_arena none = {0};
	struct sl_table t;

	if (!inputs || !sl_format_is_mcpl(c->format))
		return;
	sl_table_lay_out(&none, r, 0, 0, &t);
	inputs->layout = sl_mcpl_header_of(&t, &c->mcpl, sl_mcpl_common_weight(&t, &c->mcpl));
	r->source_bytes = inputs->layout.record_bytes;
	if (c->device == SL_ON_CPU)
		r->records = (const uint32_t *)sl_inputs_records(inputs);
}

/*
 * Chooses the columns of which a batch on the host needs only the digests: those of survivors that
 * are not written, or whose source records are written. User flags that the run replaces are made
 * of a column.
 */
static void choose_digested(const struct sl_choices *c, struct sl_recipe *r)
{
	bool written = c->format != &sl_format_none, copied = r->source_bytes > 0;
	sl_column_set read = columns_read(c);

	if (c->device != SL_ON_CPU || c->reads_columns || (written && !copied))
		return;
	if (copied && c->mcpl.flags < SL_COLUMN_COUNT)
		read |= SL_BIT(c->mcpl.flags);
	r->digested = SL_EVERY_COLUMN & ~read;
}

void sl_recipe_choose_kept(const struct sl_choices *c, struct sl_recipe *r)
{
	keep_records(c, r);
	choose_digested(c, r);
}
