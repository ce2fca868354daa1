/* rounds_device.c - what rounds are made of, on a device. The host waits once a round. */
#include "stages/device/rounds_device.h"

#include "stages/device/device_pipeline.h"

static enum sl_status mark(void *of, enum sl_round_mark m)
{
	const struct sl_device_pipeline *lane = (const struct sl_device_pipeline *)of;

	return sl_event_record(lane->round[m], lane->exec.stream);
}

static enum sl_status between(
	void *of, enum sl_round_mark from, enum sl_round_mark to, uint64_t *ns)
{
	const struct sl_device_pipeline *lane = (const struct sl_device_pipeline *)of;

	return sl_event_ns(lane->round[from], lane->round[to], ns);
}

/* How many are alive, twice, as it sizes what follows. */
static enum sl_status count_living(struct sl_device_pipeline *lane, struct sl_batch *b)
{
	for (int i = 0; i < 2; i++)
		SL_TRY(sl_copy(&lane->seen[i]->alive, &lane->counters->alive,
			sizeof(lane->counters->alive), lane->exec.stream));
	SL_TRY(sl_event_record(lane->counted, lane->exec.stream));
	SL_TRY(sl_event_wait(lane->counted));
	if (lane->seen[0]->alive != lane->seen[1]->alive)
		return sl_device_pipeline_torn("the number of the living");
	b->active_set.alive = (uint32_t)lane->seen[0]->alive;
	return SL_OK;
}

static enum sl_status advance(const struct sl_recipe *r, void *of, struct sl_batch *b)
{
	struct sl_device_pipeline *lane = (struct sl_device_pipeline *)of;

	SL_TRY(mark(of, SL_ROUND_BEGINS));
	SL_TRY(sl_fill(
		&lane->counters->alive, 0, sizeof(lane->counters->alive), lane->exec.stream));
	SL_TRY(r->kernels->advance(
		r->model, r->rules.bytes, r->seed, b, &lane->counters->alive, lane->exec.stream));
	SL_TRY(mark(of, SL_ROUND_ADVANCED));
	return count_living(lane, b);
}

static enum sl_status key(const struct sl_recipe *r, void *of, const struct sl_batch *b, uint32_t n)
{
	const struct sl_device_pipeline *lane = (const struct sl_device_pipeline *)of;
	struct sl_batch active_set = {.columns = b->active_set.columns,
		.index = b->index,
		.key = b->key,
		.n_survivors = n};

	return r->kernels->key(
		r->schedule.field, r->schedule.n_fields, true, &active_set, lane->exec.stream);
}

static enum sl_status gather(const struct sl_recipe *r, void *of, const struct sl_batch *b,
	const struct sl_active_set *to)
{
	const struct sl_device_pipeline *lane = (const struct sl_device_pipeline *)of;

	return r->kernels->move(b, to, lane->exec.stream);
}

enum sl_status sl_device_pipeline_rounds(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	static const struct sl_rounds_by device = {
		.advance = advance, .key = key, .gather = gather, .mark = mark, .between = between};

	return sl_rounds_run(
		r, &lane->exec, &lane->batch, &device, lane, &lane->counters->n_survivors);
}
