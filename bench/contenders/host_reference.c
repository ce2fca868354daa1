/* host_reference.c - runs the stages of one batch on the host, with the cpu backends. */
#include "bench/contenders/host_reference.h"

#include "stages/host/host.h"

static enum sl_status run_on_host(const struct sl_recipe *r, struct sl_batch_result *result)
{
	struct sl_arena measure = {0}, arena;
	struct sl_exec x = {.space = SL_HOST};
	size_t scratch = sl_stages_scratch(r, r->batch);
	struct sl_batch b;
	void *block;
	enum sl_status s;

	sl_batch_lay_out(&measure, r, r->batch, &b);
	sl_cut(&measure, scratch);
	SL_TRY(sl_memory_get(SL_HOST, measure.used, &block));
	arena = (struct sl_arena){.base = block, .size = measure.used};
	sl_batch_lay_out(&arena, r, r->batch, &b);
	x.scratch = (struct sl_arena){.base = sl_cut(&arena, scratch), .size = scratch};
	sl_batch_begin(r, &b, 0);
	s = sl_stages_run(r, &x, &b, NULL);
	sl_batch_result_of(&b, result);
	sl_memory_give(SL_HOST, block);
	return sl_add_context(s, "on the host");
}

enum sl_status sl_host_reference(const struct sl_recipe *recipe, struct sl_batch_result *r)
{
	struct sl_recipe host = *recipe;

	host.kernels = NULL;
	host.scan = host.compact = host.sort = (struct sl_choice){0};
	SL_TRY(sl_find(SL_COMPACT, "cpu", &host.compact.backend));
	SL_TRY(sl_find(SL_SORT, "cpu", &host.sort.backend));
	return run_on_host(&host, r);
}
