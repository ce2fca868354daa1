/* batch_memory.c - see batch_memory.h. */
#include "tests/support/basic/batch_memory.h"

#include <string.h>

#include "stages/host/host.h"
#include "tests/support/basic/check.h"

void open_batch_memory(struct batch_memory *m, const struct sl_recipe *r, int garbage)
{
	struct sl_arena measure = {0}, cut = {0};
	size_t scratch = sl_stages_scratch(r, r->batch);

	memset(m, 0, sizeof(*m));
	sl_batch_lay_out(&measure, r, r->batch, &m->b);
	sl_tallies_lay_out(&measure, r, &m->b);
	assert_null(m->b.keep);
	cut.size = measure.used;
	assert_ok(sl_memory_get(SL_HOST, cut.size, &m->block));
	assert_ok(sl_memory_get(SL_HOST, scratch, &m->x.scratch.base));
	memset(m->block, garbage, cut.size);
	memset(m->x.scratch.base, garbage, scratch);
	m->x.scratch.size = scratch;
	cut.base = m->block;
	sl_batch_lay_out(&cut, r, r->batch, &m->b);
	sl_tallies_lay_out(&cut, r, &m->b);
	assert_true(sl_fits(&cut) && m->b.keep);
}

static void lay_out_whole(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *b)
{
	sl_layout_columns(a, sl_stored_columns(r) | r->derivation.stores, r->batch, &b->columns);
	b->keep = (uint8_t *)sl_cut_items(a, r->batch, 1);
}

void open_whole_batch_memory(struct batch_memory *m, const struct sl_recipe *r, int garbage)
{
	struct sl_arena a = {0};

	open_batch_memory(m, r, garbage);
	m->b.place = NULL;
	lay_out_whole(&a, r, &m->b);
	a = (struct sl_arena){.size = a.used};
	assert_ok(sl_memory_get(SL_HOST, a.size, &a.base));
	memset(a.base, garbage, a.size);
	lay_out_whole(&a, r, &m->b);
	m->whole = a.base;
}

void run_batch(const struct sl_recipe *r, struct batch_memory *m, uint64_t number)
{
	sl_batch_begin(r, &m->b, number);
	assert_ok(sl_stages_run(r, &m->x, &m->b, NULL));
}

void close_batch_memory(struct batch_memory *m)
{
	sl_memory_give(SL_HOST, m->block);
	sl_memory_give(SL_HOST, m->whole);
	sl_memory_give(SL_HOST, m->x.scratch.base);
}
