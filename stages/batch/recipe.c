/*
 * recipe.c - values derived from a recipe: scale of weights, columns of a batch, jobs of
 * primitives, cancellation.
 */
#include "stages/batch/recipe.h"

#include <math.h>

#include "stages/formats/mcpl/mcpl.h"

float sl_weight_scale(const struct sl_recipe *r)
{
	return ldexpf(1, r->weight_shift);
}

float sl_square_scale(const struct sl_recipe *r)
{
	return sl_sums_weights(r) ? ldexpf(1, r->weight_shift - (r->model->read ? 14 : 0)) : 0;
}

double sl_square_unit(const struct sl_recipe *r)
{
	return ldexp(1 / pow((double)sl_square_scale(r), 2), -32);
}

double sl_weight_of(const struct sl_recipe *r, uint64_t sum)
{
	return ldexp((double)(int64_t)sum, -32 - r->weight_shift);
}

sl_column_set sl_record_columns(const struct sl_recipe *r)
{
	sl_column_set set = 0;

	if (r->model->recomputed)
		return 0;
	for (uint32_t k = 0; k < r->n_columns; k++)
		set |= SL_BIT(r->column[k]);
	return set & ~r->constants;
}

sl_column_set sl_stored_columns(const struct sl_recipe *r)
{
	return SL_STORED(r->model->columns);
}

static sl_column_set key_columns(const struct sl_recipe *r)
{
	sl_column_set set = 0;

	for (uint32_t k = 0; k < r->n_fields; k++)
		set |= SL_BIT(r->field[k].column);
	return set;
}

sl_column_set sl_decoded_columns(const struct sl_recipe *r)
{
	return r->records ? r->digested & SL_MCPL_LIST & ~key_columns(r) : 0;
}

sl_column_set sl_survivor_columns(const struct sl_recipe *r)
{
	sl_column_set set = key_columns(r);

	for (uint32_t k = 0; k < r->n_columns; k++)
		set |= SL_BIT(r->column[k]);
	set &= ~sl_decoded_columns(r);
	set &= ~r->constants | key_columns(r); /* a key reads a column also if it is constant */
	return set & (sl_stored_columns(r) | r->derivation.stores);
}

void sl_layout_columns(struct sl_arena *a, sl_column_set set, uint32_t n, struct sl_columns *c)
{
#define COLUMN(name, type, unit, record, component, help) \
	if (SL_HAS(set, SL_COLUMN_##name))                \
		c->name = (type *)sl_cut_items(a, n, sizeof(type));
#include "stages/particle/columns.def"
#undef COLUMN
}

void sl_layout_source(struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	b->source = NULL;
	if (r->source_bytes > 0 && !r->records)
		b->source = (uint32_t *)sl_cut_items(a, n, r->source_bytes);
	b->table.source = b->source;
}

enum sl_status sl_check_cancelled(const struct sl_recipe *r)
{
	if (sl_is_cancelled(r))
		return sl_fail(SL_STOPPED, "cancelled: the run was asked to stop");
	return SL_OK;
}

enum sl_status sl_compact_indices(const struct sl_recipe *r, struct sl_exec *x,
	const struct sl_batch *b, uint32_t n, uint32_t *n_out)
{
	struct sl_compact_job job = {
		.keep = b->keep, .out = b->index, .n_out = n_out, .n = n, .scan = r->scan};

	x->tuning = r->compact.tuning;
	return sl_compact(r->compact.backend, x, &job);
}

enum sl_status sl_sort_indices(
	const struct sl_recipe *r, struct sl_exec *x, const struct sl_batch *b)
{
	struct sl_sort_job job = {.key = b->key,
		.index = b->index,
		.n = b->n_survivors,
		.n_on_device = b->n_counted,
		.type = sl_key_type(r),
		.end_bit = r->key_bits,
		.key_spent = true,
		.scan = r->scan};

	x->tuning = r->sort.tuning;
	return sl_sort(r->sort.backend, x, &job);
}
