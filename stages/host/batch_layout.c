/* batch_layout.c - see host.h. */
#include "stages/host/host.h"

#include <string.h>

#include "stages/rounds/rounds.h"

/* Whether a batch is computed in blocks: not if its particles advance in rounds. */
static bool has_blocks(const struct sl_recipe *r)
{
	return !r->kernels && r->schedule.steps == 0;
}

/*
 * The particles for which a batch of n particles has memory. If the survivors were counted, the
 * batch is computed in blocks: it has memory for them and for one block more, which begins after
 * the last of them.
 */
static uint32_t places_of(const struct sl_recipe *r, uint32_t n)
{
	uint32_t most = sl_most_survivors(r, n);

	return n - most < SL_HOST_BLOCK ? n : most + SL_HOST_BLOCK;
}

/* The columns of which the table has the items. */
static sl_column_set columns_of_table(const struct sl_recipe *r)
{
	if (r->kernels && r->resident)
		return 0;
	return has_blocks(r) ? SL_EVERY_COLUMN & ~r->digested : SL_EVERY_COLUMN;
}

/* The part of a batch that is read after the stage write: the table and its records. */
static void lay_out_results(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	b->index = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
	sl_table_lay_out(a, r, n, columns_of_table(r), &b->table);
	if (!r->kernels || r->pack.form != SL_AS_COLUMNS)
		sl_layout_source(a, r, n, b);
	b->table.source_index = has_blocks(r) ? b->index : NULL;
}

/*
 * In a batch that is computed in blocks, what survivors do not keep has only the items of one
 * block.
 */
static void lay_out_columns(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	const sl_column_set all = sl_stored_columns(r) | r->derivation.stores;
	const sl_column_set kept = has_blocks(r) ? sl_survivor_columns(r) : all;
	const uint32_t block = has_blocks(r) && n > SL_HOST_BLOCK ? (uint32_t)SL_HOST_BLOCK : n;

	sl_layout_columns(a, all & kept, n, &b->columns);
	sl_layout_columns(a, all & ~kept, block, &b->columns);
	b->keep = (uint8_t *)sl_cut_items(a, block, 1);
}

size_t sl_batch_lay_out(
	struct sl_arena *a, const struct sl_recipe *r, uint32_t n, struct sl_batch *b)
{
	size_t results;

	memset(b, 0, sizeof(*b));
	n = places_of(r, n);
	lay_out_results(a, r, n, b);
	results = a->used;
	lay_out_columns(a, r, n, b);
	if (has_blocks(r))
		b->place = (uint32_t *)sl_cut_items(a, n, sizeof(uint32_t));
	if (r->n_fields > 0)
		b->key = sl_cut_items(a, n, sl_key_bytes(r));
	sl_rounds_lay_out(a, r, n, b);
	return results;
}

void sl_table_lay_out(struct sl_arena *a, const struct sl_recipe *r, uint32_t n, sl_column_set set,
	struct sl_table *t)
{
	memset(t, 0, sizeof(*t));
	t->n_columns = r->n_columns;
	memcpy(t->label, r->label, sizeof(t->label));
	for (uint32_t k = 0; k < r->n_columns; k++) {
		const struct sl_column_facts *facts = &sl_column_facts[r->column[k]];
		struct sl_table_column *c = &t->column[k];

		c->column = r->column[k];
		c->constant = SL_HAS(r->constants, c->column);
		c->internal = SL_HAS(r->internal, c->column);
		if (c->constant)
			c->data = (void *)((const char *)&r->constant + facts->in_particle);
		else if (SL_HAS(set, c->column))
			c->data = sl_cut_items(a, n, facts->bytes);
	}
}

void sl_tallies_lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *b)
{
	b->bin_words = (uint32_t)sl_counter_words(r);
	b->bins = NULL;
	if (b->bin_words > 0)
		b->bins = (uint64_t *)sl_cut_items(a, b->bin_words, sizeof(*b->bins));
}

size_t sl_sort_scratch(const struct sl_recipe *r, uint32_t n)
{
	struct sl_shape most = {
		.n = n, .type = sl_key_type(r), .tuning = r->sort.tuning, .scan = r->scan};

	return r->n_fields > 0 ? sl_scratch(r->sort.backend, &most) : 0;
}

size_t sl_stages_scratch(const struct sl_recipe *r, uint32_t n)
{
	struct sl_shape compact = {
		.n = places_of(r, n), .tuning = r->compact.tuning, .scan = r->scan};
	size_t compact_bytes = sl_scratch(r->compact.backend, &compact);
	size_t sort_bytes = sl_sort_scratch(r, compact.n);
	size_t rounds_bytes = sl_rounds_scratch(r, n);
	size_t most = compact_bytes > sort_bytes ? compact_bytes : sort_bytes;

	return rounds_bytes > most ? rounds_bytes : most;
}
