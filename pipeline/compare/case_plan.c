/* case_plan.c - the plan and workspace of one case. */
#include "pipeline/compare/case_plan.h"

#include "pipeline/plan/memory.h"

enum sl_status sl_case_plan(const struct sl_comparison *c, const struct sl_comparison_case *row,
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
	if (!row->on_device)
		choices.device = SL_ON_CPU;
	choices.mode = row->mode;
	choices.schedule = row->schedule.steps > 0 ? SL_BY_ROUNDS : SL_BY_HISTORY;
	choices.rounds = row->schedule;
	choices.scan = row->scan;
	choices.compact = row->compact;
	choices.sort = row->sort;
	*w = NULL;
	SL_TRY(sl_plan_make(&config, &choices, plan));
	SL_TRY(sl_memory_plan_refuse(*plan));
	SL_TRY(sl_workspace_open(*plan, w));
	return sl_workspace_provide(*w);
}
