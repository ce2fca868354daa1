/* plan_table.c - the columns of a plan as a table, and what compresses them. */
#include "pipeline/plan/plan_table.h"

struct sl_table sl_plan_table(const struct sl_plan *plan, uint32_t n)
{
	struct sl_table t = {.n = n, .n_columns = plan->recipe.n_columns};

	for (uint32_t k = 0; k < t.n_columns; k++) {
		t.column[k].column = plan->recipe.column[k];
		t.column[k].constant = SL_HAS(plan->recipe.constants, t.column[k].column);
	}
	return t;
}

const struct sl_backend *sl_plan_deflate(const struct sl_plan *plan)
{
	const struct sl_backend *pack = plan->recipe.pack.backend;

	return pack ? pack : plan->facts.deflate;
}

bool sl_plan_is_device_packed(const struct sl_plan *plan)
{
	return sl_is_device_packed(&plan->recipe.pack.packing, plan->recipe.pack.form);
}
