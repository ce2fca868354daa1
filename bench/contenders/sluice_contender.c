/* sluice_contender.c - runs one batch by this project's device pipeline and takes its times. */
#include "bench/contenders/sluice_contender.h"

#include "stages/host/host.h"
#include "stages/particle/digest.h"

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
