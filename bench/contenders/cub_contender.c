/* cub_contender.c - runs one batch by the CUB pipeline and takes its times. */
#include "bench/contenders/contenders.h"

#include <string.h>

#include "stages/host/host.h"
#include "stages/particle/digest.h"

#ifdef SL_WITH_CUDA

static struct sl_cub_pipeline cub_of(const struct sl_recipe *r)
{
	struct sl_cub_pipeline p = {.model = sl_model_number_of(r->model),
		.rules = r->rules.bytes,
		.seed = r->seed,
		.keep = r->keep,
		.key_bits = r->key_bits,
		.needed = SL_BIT(SL_COLUMN_fate)};

	for (uint32_t k = 0; k < r->n_fields; k++)
		p.needed |= SL_BIT(r->field[k].column);
	for (uint32_t k = 0; k < r->n_columns; k++)
		p.needed |= SL_BIT(r->column[k]);
	p.needed = SL_STORED(p.needed & ~r->constants);
	return p;
}

static void lay_out(struct sl_contender *c, struct sl_arena *device, struct sl_arena *pinned)
{
	uint32_t n = c->recipe->batch;

	c->cub = cub_of(c->recipe);
	sl_table_lay_out(device, c->recipe, n, SL_EVERY_COLUMN, &c->cub.batch.table);
	sl_cub_pipeline_lay_out(device, n, &c->cub);
	c->n_survivors = (uint32_t *)sl_cut(pinned, sizeof(*c->n_survivors));
	sl_table_lay_out(pinned, c->recipe, n, SL_EVERY_COLUMN, &c->on_host.table);
}

static enum sl_status open_pipeline(struct sl_contender *c)
{
	SL_TRY(sl_contender_allocate(c, lay_out));
	SL_TRY(sl_stream_make(&c->stream));
	for (int i = 0; i < SL_CONTENDER_EVENTS; i++)
		SL_TRY(sl_event_make(&c->event[i]));
	return SL_OK;
}

static void close_pipeline(struct sl_contender *c)
{
	for (int i = 0; i < SL_CONTENDER_EVENTS; i++)
		sl_event_free(c->event[i]);
	sl_stream_free(c->stream);
}

/* Runs up to the number of survivors, which the host needs to size the sort and the gather. */
static enum sl_status count_survivors(struct sl_contender *c)
{
	SL_TRY(sl_event_record(c->event[0], c->stream));
	SL_TRY(sl_cub_pipeline_generate(&c->cub, c->stream));
	SL_TRY(sl_event_record(c->event[1], c->stream));
	SL_TRY(sl_cub_pipeline_select(&c->cub, c->stream));
	SL_TRY(sl_event_record(c->event[2], c->stream));
	SL_TRY(sl_copy(c->n_survivors, c->cub.n_survivors, sizeof(*c->n_survivors), c->stream));
	SL_TRY(sl_stream_wait(c->stream));
	c->cub.batch.n_survivors = *c->n_survivors;
	return SL_OK;
}

static enum sl_status make_table(struct sl_contender *c)
{
	const struct sl_recipe *r = c->recipe;

	SL_TRY(sl_event_record(c->event[3], c->stream));
	SL_TRY(r->kernels->key(r->field, r->n_fields, true, &c->cub.batch, c->stream));
	SL_TRY(sl_cub_pipeline_sort(&c->cub, c->stream));
	SL_TRY(sl_event_record(c->event[4], c->stream));
	SL_TRY(sl_cub_pipeline_gather(&c->cub, c->stream));
	SL_TRY(sl_event_record(c->event[5], c->stream));
	return sl_event_wait(c->event[5]);
}

static enum sl_status run(struct sl_contender *c, struct sl_contender_times *times)
{
	static const struct {
		const char *name;
		int from;
	} steps[] = {{"generate", 0}, {"compact", 1}, {"sort", 3}, {"write", 4}};
	enum sl_status s = count_survivors(c);

	if (s == SL_OK)
		s = make_table(c);
	times->all_ms = sl_ms_between(c->event[0], c->event[5], &s);
	times->n = sizeof(steps) / sizeof(steps[0]);
	for (uint32_t i = 0; i < times->n; i++) {
		times->step[i] = steps[i].name;
		times->ms[i] =
			sl_ms_between(c->event[steps[i].from], c->event[steps[i].from + 1], &s);
	}
	return s;
}

static enum sl_status result(struct sl_contender *c, struct sl_batch_result *r)
{
	struct sl_table *table = &c->on_host.table;

	c->on_host.n_survivors = table->n = c->cub.batch.n_survivors;
	for (uint32_t k = 0; k < table->n_columns; k++) {
		const struct sl_table_column *from = &c->cub.batch.table.column[k];

		if (!from->constant)
			SL_TRY(sl_copy(table->column[k].data, from->data,
				table->n * sizeof(uint32_t), c->stream));
	}
	SL_TRY(sl_stream_wait(c->stream));
	sl_digest_table(table);
	sl_batch_result_of(&c->on_host, r);
	return SL_OK;
}

static const struct sl_contender_type contender = {
	.name = "CUB",
	.open = open_pipeline,
	.run = run,
	.result = result,
	.close = close_pipeline,
};

const struct sl_contender_type *const sl_cub_contender = &contender;

#else

const struct sl_contender_type *const sl_cub_contender = NULL;
const struct sl_backend sl_cub_backends[] = {{.name = NULL}};
const int sl_cub_version = 0;

#endif
