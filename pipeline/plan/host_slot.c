/* host_slot.c - one function measures a slot and places its pointers, so that both always agree. */
#include "pipeline/plan/plan.h"

#include "stages/device/device_pipeline.h"
#include "stages/host/host.h"

/*
 * Lays out a batch on the host and the packed survivors in memory that its stages no longer need,
 * so that a slot has less memory, which the system must provide.
 */
static void lay_out_on_host(struct sl_arena *block, const struct sl_plan *plan,
	const struct sl_recipe *r, const struct sl_table *most, struct sl_host_slot *s)
{
	struct sl_arena spent = *block;

	spent.used = sl_batch_lay_out(block, r, sl_memory_plan_batch(plan), &s->batch);
	plan->choices.format->lay_out(&spent, most, &plan->facts, &s->packed);
	if (spent.used > block->used)
		block->used = spent.used;
}

/*
 * On the host, the stages and the compression of a batch share one scratch, because the same thread
 * runs them one after the other. With a device, the stages use scratch of the device pipeline.
 */
void sl_host_slot_lay_out(struct sl_arena *block, struct sl_arena *pinned,
	const struct sl_plan *plan, const struct sl_recipe *r, struct sl_host_slot *s)
{
	uint32_t n = sl_memory_plan_batch(plan);
	struct sl_table table = sl_plan_table(plan, sl_most_survivors(r, n));
	struct sl_table most = sl_format_table(plan->choices.format, &table);
	size_t scratch = plan->choices.format->scratch(&most, &plan->facts);

	if (plan->on_device) {
		plan->choices.format->lay_out(block, &most, &plan->facts, &s->packed);
		if (r->inputs)
			sl_layout_columns(pinned, sl_stored_columns(r), n, &s->batch.columns);
		sl_table_lay_out(pinned, r, n, r->unpacked, &s->batch.table);
		sl_layout_source(pinned, r, n, &s->batch);
		if (r->pack.form != SL_AS_COLUMNS)
			sl_device_packed_lay_out(pinned, r, n, &s->batch.device_packed);
	} else {
		size_t stages = sl_stages_scratch(r, n);

		lay_out_on_host(block, plan, r, &most, s);
		scratch = stages > scratch ? stages : scratch;
	}
	sl_tallies_lay_out(block, r, &s->batch);
	s->exec = (struct sl_exec){.space = SL_HOST};
	s->exec.scratch = (struct sl_arena){.base = sl_cut(block, scratch), .size = scratch};
}
