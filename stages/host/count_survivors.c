/* count_survivors.c - see host.h. */
#include "stages/host/host.h"

#include <string.h>

#include "stages/inputs/inputs.h"

/* Reads and marks the particles of a batch, and returns in *survivors how many of them survive. */
static enum sl_status count_batch(
	const struct sl_recipe *r, struct sl_batch *block, uint64_t number, uint32_t *survivors)
{
	struct sl_batch batch;

	sl_batch_begin(r, &batch, number);
	memset(&block->tally, 0, sizeof(block->tally));
	if (block->bin_words > 0)
		memset(block->bins, 0, block->bin_words * sizeof(*block->bins));
	block->turn = SL_NO_TURN;
	for (uint32_t from = 0; from < batch.n; from += block->n) {
		block->first_id = batch.first_id + from;
		block->n =
			batch.n - from < SL_HOST_BLOCK ? batch.n - from : (uint32_t)SL_HOST_BLOCK;
		SL_TRY(sl_inputs_read_part(r->inputs, block));
		SL_TRY(sl_run_loop(r, block, r->loops->mark, block->n));
	}
	*survivors = 0;
	for (int f = 0; f < SL_FATE_COUNT; f++)
		if (SL_HAS(r->keep, f))
			*survivors += (uint32_t)block->tally.count[f];
	return SL_OK;
}

static void lay_out(struct sl_arena *a, const struct sl_recipe *r, struct sl_batch *block)
{
	sl_batch_lay_out(a, r, SL_HOST_BLOCK, block);
	sl_tallies_lay_out(a, r, block);
}

enum sl_status sl_count_survivors(const struct sl_recipe *r, uint32_t *most)
{
	SL_CLOSED_BY(sl_host_give) void *memory = NULL;
	struct sl_arena a = {0};
	struct sl_batch block;

	*most = 0;
	lay_out(&a, r, &block);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &memory));
	a = (struct sl_arena){.base = memory, .size = a.used};
	lay_out(&a, r, &block);
	for (uint64_t number = 0; number < r->n_batches; number++) {
		uint32_t survivors;

		SL_TRY(count_batch(r, &block, number, &survivors));
		*most = survivors > *most ? survivors : *most;
	}
	return SL_OK;
}
