/*
 * case_plan.c - builds the plan and workspace of one case.
 *
 * A case changes only the choices of device, mode, schedule and backends. The batch size is that of
 * the comparison, so that all cases generate the same batches.
 */
#include "pipeline/compare/cases/case_plan.h"

#include "pipeline/plan/memory.h"

enum sl_status sl_case_plan(const struct sl_comparison *c, const struct sl_comparison_case *entry,
	bool first_batch, struct sl_plan **plan, struct sl_workspace **w)
{
	struct sl_choices choices = c->choices;
	struct sl_config config = c->config;

	config.run.batch = choices.batch = c->batch;
	choices.n_batches = c->n_batches;
	if (first_batch) {
		config.run.threads = config.run.slots = choices.n_batches = 1;
		config.run.particles = c->batch;
	}
	if (!entry->on_device) {
		choices.device = SL_ON_CPU;
		choices.n_devices = 0;
	}
	choices.mode = entry->mode;
	choices.schedule = entry->schedule.steps > 0 ? SL_BY_ROUNDS : SL_BY_HISTORY;
	choices.rounds = entry->schedule;
	choices.scan = entry->scan;
	choices.compact = entry->compact;
	choices.sort = entry->sort;
	*w = NULL;
	SL_TRY(sl_plan_make(&config, &choices, plan));
	SL_TRY(sl_memory_plan_check(*plan));
	SL_TRY(sl_workspace_open(*plan, w));
	return sl_workspace_allocate(*w);
}
