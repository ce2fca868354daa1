/* rounds_device.c - the operations of rounds (rounds.h) and filters (resample.h) on a device. */
#include "stages/device/device.h"

#include "stages/device/device_pipeline.h"

/* Records an event; the device reaches it after all work queued so far. */
static enum sl_status mark(void *ctx, enum sl_round_mark m)
{
	const struct sl_device_pipeline *pipeline = (const struct sl_device_pipeline *)ctx;

	return sl_event_record(pipeline->round[m], pipeline->exec.stream);
}

static enum sl_status between(
	void *ctx, enum sl_round_mark from, enum sl_round_mark to, uint64_t *ns)
{
	const struct sl_device_pipeline *pipeline = (const struct sl_device_pipeline *)ctx;

	return sl_event_ns(pipeline->round[from], pipeline->round[to], ns);
}

/* Waits for the number of alive particles. It is copied twice and compared, because it sizes later
 * work. */
static enum sl_status wait_for_alive(struct sl_device_pipeline *pipeline, struct sl_batch *b)
{
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(&pipeline->host_counters[i]->alive, &pipeline->counters->alive,
			sizeof(pipeline->counters->alive), pipeline->exec.stream));
	SL_TRY(sl_event_record(pipeline->counted, pipeline->exec.stream));
	SL_TRY(sl_event_wait(pipeline->counted));
	if (pipeline->host_counters[0]->alive != pipeline->host_counters[1]->alive)
		return sl_transfer_error("the number of alive particles");
	b->active_set.alive = (uint32_t)pipeline->host_counters[0]->alive;
	return SL_OK;
}

static enum sl_status advance(const struct sl_recipe *r, void *ctx, struct sl_batch *b)
{
	struct sl_device_pipeline *pipeline = (struct sl_device_pipeline *)ctx;

	SL_TRY(mark(ctx, SL_ROUND_BEGINS));
	SL_TRY(sl_fill(&pipeline->counters->alive, 0, sizeof(pipeline->counters->alive),
		pipeline->exec.stream));
	SL_TRY(sl_device_pipeline_advance(r, pipeline, b, &pipeline->counters->alive));
	SL_TRY(mark(ctx, SL_ROUND_ADVANCED));
	return wait_for_alive(pipeline, b);
}

static enum sl_status run_filter(const struct sl_recipe *r, void *ctx, struct sl_batch *b,
	enum sl_filter_work which, const struct sl_filter_pass *p)
{
	struct sl_device_pipeline *pipeline = (struct sl_device_pipeline *)ctx;

	if (which == SL_FILTER_ADVANCE) {
		SL_TRY(sl_device_pipeline_advance(r, pipeline, b, NULL));
		return r->grids.each_step ? sl_device_pipeline_count(r, pipeline, true) : SL_OK;
	}
	return which == SL_FILTER_LARGEST ? SL_OK
	                                  : r->kernels->filter(which, p, pipeline->exec.stream);
}

enum sl_status sl_device_pipeline_filter(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	return sl_filter_run(r, &pipeline->exec, &pipeline->batch, run_filter, pipeline,
		sl_filter_counters_of(r, sl_batch_counters_tallies(pipeline->counters)));
}

enum sl_status sl_device_pipeline_rounds(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	static const struct sl_round_operations device = {
		.advance = advance, .mark = mark, .between = between};

	return sl_rounds_run(r, &pipeline->exec, &pipeline->batch, &device, pipeline,
		&pipeline->counters->n_survivors);
}
