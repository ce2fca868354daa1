/* contender.c - memory and times that all contenders need. */
#include "bench/contenders/contenders.h"

#include <string.h>

#include "pipeline/text/text.h"
#include "stages/host/host.h"
#include "stages/particle/digest.h"

double sl_ms_between(sl_event from, sl_event to, enum sl_status *s)
{
	float ms = 0;

	if (*s == SL_OK)
		*s = sl_event_ms(from, to, &ms);
	return (double)ms;
}

void sl_batch_result_of(const struct sl_batch *b, struct sl_batch_result *r)
{
	memset(r, 0, sizeof(*r));
	r->n_survivors = b->n_survivors;
	for (uint32_t k = 0; k < b->table.n_columns; k++)
		r->digest[b->table.column[k].column] = b->table.column[k].digest;
}

enum sl_status sl_contender_allocate(struct sl_contender *c, sl_contender_lay_out *lay_out)
{
	struct sl_arena device = {0}, pinned = {0};

	lay_out(c, &device, &pinned);
	c->device.size = device.used;
	c->pinned.size = pinned.used;
	SL_TRY(sl_memory_get(SL_DEVICE, device.used, &c->device.base));
	SL_TRY(sl_memory_get(SL_PINNED, pinned.used, &c->pinned.base));
	device = c->device;
	pinned = c->pinned;
	lay_out(c, &device, &pinned);
	return SL_OK;
}

enum sl_status sl_contender_open(const struct sl_contender_type *type,
	const struct sl_recipe *recipe, struct sl_contender *c)
{
	memset(c, 0, sizeof(*c));
	c->type = type;
	c->recipe = recipe;
	SL_TRY(sl_event_make(&c->from));
	return sl_add_context(type->open(c), "%s", type->name);
}

void sl_contender_close(struct sl_contender *c)
{
	c->type->close(c);
	sl_event_free(c->from);
	sl_memory_give(SL_DEVICE, c->device.base);
	sl_memory_give(SL_PINNED, c->pinned.base);
	memset(c, 0, sizeof(*c));
}

/* --- this project's device pipeline ----------------------------------------------------------- */

static void lay_out(struct sl_contender *c, struct sl_arena *device, struct sl_arena *pinned)
{
	sl_device_pipeline_lay_out(device, pinned, c->recipe, c->recipe->batch, &c->pipeline);
	sl_table_lay_out(pinned, c->recipe, c->recipe->batch, SL_EVERY_COLUMN, &c->on_host.table);
}

static enum sl_status open_pipeline(struct sl_contender *c)
{
	SL_TRY(sl_contender_allocate(c, lay_out));
	return sl_device_pipeline_open(&c->pipeline);
}

static void close_pipeline(struct sl_contender *c)
{
	sl_device_pipeline_close(&c->pipeline);
}

/* The transfer of the columns comes last and is not counted: CUB's contender does not make it. */
static enum sl_status run(struct sl_contender *c, struct sl_contender_times *times)
{
	uint64_t ns[SL_STAGE_COUNT] = {0};
	enum sl_status s;

	sl_batch_begin(c->recipe, &c->on_host, 0);
	SL_TRY(sl_event_record(c->from, c->pipeline.exec.stream));
	SL_TRY(sl_device_pipeline_run(c->recipe, &c->pipeline, &c->on_host, ns));
	s = SL_OK;
	times->all_ms = sl_ms_between(c->from, c->pipeline.copied, &s) -
	                1e-6 * (double)c->pipeline.transfer_ns;
	times->n = 0;
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		if (ns[i] > 0) {
			times->step[times->n] = sl_stages[i].name;
			times->ms[times->n++] = 1e-6 * (double)ns[i];
		}
	return s;
}

/* The columns on the host must have the digests that the device computed. */
static enum sl_status result(struct sl_contender *c, struct sl_batch_result *r)
{
	sl_batch_result_of(&c->on_host, r);
	return sl_digest_check(&c->on_host.table);
}

const struct sl_contender_type sl_sluice_contender = {
	.name = "sluice",
	.open = open_pipeline,
	.run = run,
	.result = result,
	.close = close_pipeline,
};

/* --- the host, whose loops are the specification ---------------------------------------------- */

static enum sl_status run_on_host(const struct sl_recipe *r, struct sl_batch_result *result)
{
	struct sl_arena measure = {0}, arena;
	struct sl_exec x = {.space = SL_HOST};
	size_t scratch = sl_stages_scratch(r, r->batch);
	SL_CLOSED_BY(sl_host_give) void *block = NULL;
	struct sl_batch b;

	sl_batch_lay_out(&measure, r, r->batch, &b);
	sl_cut(&measure, scratch);
	SL_TRY(sl_memory_get(SL_HOST, measure.used, &block));
	arena = (struct sl_arena){.base = block, .size = measure.used};
	sl_batch_lay_out(&arena, r, r->batch, &b);
	x.scratch = (struct sl_arena){.base = sl_cut(&arena, scratch), .size = scratch};
	sl_batch_begin(r, &b, 0);
	SL_TRY(sl_add_context(sl_stages_run(r, &x, &b, NULL), "on the host"));
	sl_batch_result_of(&b, result);
	return SL_OK;
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
