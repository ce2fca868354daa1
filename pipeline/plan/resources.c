/* resources.c - see plan.h. */
#include "pipeline/plan/plan.h"

#include <math.h>

enum sl_status sl_plan_check_resources(struct sl_plan *plan, uint64_t done, bool predict)
{
	SL_TRY(sl_memory_plan_check(plan));
	SL_TRY(sl_pilot_run(plan));
	if (predict)
		SL_TRY(sl_pilot_sample(plan));
	return sl_disk_plan_check(plan, done);
}

/* Upper bound of the bytes of all survivors as arrays of one item per particle. */
static uint64_t survivor_bytes(const struct sl_plan *plan)
{
	double row = 0;

	for (uint32_t k = 0; k < plan->recipe.n_columns; k++)
		row += sl_column_facts[plan->recipe.column[k]].bytes;
	row *= ceil(plan->pilot.most_fraction * (double)plan->recipe.particles);
	return row < 0x1p63 ? (uint64_t)row : UINT64_MAX / 2;
}

/* Whether bytes of survivors, shared by the devices, fit on each of them next to the run. */
static enum sl_status check_resident(const struct sl_plan *plan, uint64_t bytes)
{
	uint64_t each = plan->memory.device + bytes / plan->n_devices;

	for (uint32_t i = 0; i < plan->n_devices; i++)
		if (each > plan->device[i].free_bytes)
			return sl_fail(SL_DEVICE_MEMORY,
				"the run and its survivors need %s of device memory and %s are free on "
				"%s; take the batches one by one, or use fewer output.columns or run.particles",
				sl_sized((double)each),
				sl_sized((double)plan->device[i].free_bytes), plan->device[i].name);
	return SL_OK;
}

enum sl_status sl_plan_check_in_memory(struct sl_plan *plan, bool keep_all)
{
	uint64_t bytes;

	if (plan->choices.list_order.run || plan->choices.list_order.sample > 0 ||
		plan->choices.list_order.limit > 0)
		return sl_fail(SL_USAGE,
			"output.order: run, output.sample and output.limit make a list of the whole "
			"run, which is a file; give the run a directory, or remove these keys");
	SL_TRY(sl_memory_plan_check(plan));
	SL_TRY(sl_pilot_run(plan));
	bytes = keep_all ? survivor_bytes(plan) : 0;
	if (plan->recipe.resident)
		return check_resident(plan, bytes);
	if (plan->memory.host + bytes <= plan->machine.free_bytes)
		return SL_OK;
	return sl_fail(SL_HOST_MEMORY,
		"the run and its survivors need %s of memory and %s are free; take the batches one by "
		"one, write them to a directory, or use fewer output.columns or run.particles",
		sl_sized((double)plan->memory.host + (double)bytes),
		sl_sized((double)plan->machine.free_bytes));
}
