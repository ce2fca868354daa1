/* device_modes.c - what each of the two ways queues, and the memory for it. */
#include "stages/device/device_modes.h"

#include "stages/device/device_pipeline.h"
#include "stages/device/rounds_device.h"
#include "stages/models/list.h"
#include "stages/batch/packed_record.h"

/* --- both ------------------------------------------------------------------------------------- */

static void cut_scratch(struct sl_arena *device, size_t bytes, struct sl_device_pipeline *lane)
{
	lane->exec.scratch = (struct sl_arena){.base = sl_cut(device, bytes), .size = bytes};
}

/* Nothing is counted yet. */
static enum sl_status clear_census(struct sl_device_pipeline *lane)
{
	return sl_fill(lane->counters, 0, lane->cleared_bytes, lane->exec.stream);
}

static size_t key_bytes(const struct sl_recipe *r)
{
	return sl_key_type(r) == SL_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

static enum sl_status sort_keys(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	struct sl_sort_job job = {.key = lane->batch.key,
		.index = lane->batch.index,
		.n = lane->batch.n_survivors,
		.type = sl_key_type(r),
		.begin_bit = 0,
		.end_bit = r->key_bits,
		.key_spent = true,
		.scan = r->scan};

	lane->exec.tuning = r->sort.tuning;
	return sl_sort(r->sort.backend, &lane->exec, &job);
}

/* What was read of the batch goes to the columns of the device. */
static enum sl_status copy_listed(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	uint32_t columns = SL_STORED(sl_models[r->model]->columns);

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(columns, c))
			SL_TRY(sl_copy(sl_column_at(&lane->batch.columns, (enum sl_column)c),
				sl_column_at(lane->listed, (enum sl_column)c),
				(size_t)lane->batch.n * sl_column_facts[c].bytes,
				lane->exec.stream));
	return SL_OK;
}

/* --- staged ----------------------------------------------------------------------------------- */

static enum sl_status generate(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	if (r->inputs)
		return copy_listed(r, lane);
	return r->kernels->generate(
		r->model, r->rules.bytes, r->seed, &lane->batch, lane->exec.stream);
}

static enum sl_status advance(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	if (r->schedule.steps > 0)
		return sl_device_pipeline_rounds(r, lane);
	sl_active_set_begin(&lane->batch, UINT32_MAX);
	return r->kernels->advance(
		r->model, r->rules.bytes, r->seed, &lane->batch, NULL, lane->exec.stream);
}

static enum sl_status mark(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	SL_TRY(clear_census(lane));
	SL_TRY(r->kernels->mark(r->keep, &r->condition, sl_models[r->model]->weighted,
		sl_weight_scale(r), &lane->batch, &lane->counters->tally, lane->exec.stream));
	if (r->bins.n == 0)
		return SL_OK;
	return r->kernels->bins(&r->bins, sl_weight_scale(r), &lane->batch,
		sl_batch_counters_histogram(lane->counters), lane->exec.stream);
}

static enum sl_status compact(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	struct sl_compact_job job = {.keep = lane->batch.keep,
		.out = lane->batch.index,
		.n_out = &lane->counters->n_survivors,
		.n = lane->batch.n,
		.scan = r->scan};

	lane->exec.tuning = r->compact.tuning;
	return sl_compact(r->compact.backend, &lane->exec, &job);
}

static enum sl_status sort(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	if (r->n_fields == 0 || lane->batch.n_survivors == 0)
		return SL_OK;
	SL_TRY(r->kernels->key(
		r->field, r->n_fields, sl_key_type(r) == SL_U32, &lane->batch, lane->exec.stream));
	return sort_keys(r, lane);
}

static enum sl_status write(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	if (lane->batch.n_survivors == 0)
		return SL_OK;
	return r->kernels->gather(&lane->batch, lane->counters->digest, lane->exec.stream);
}

static void lay_out_staged(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
	struct sl_device_pipeline *lane)
{
	sl_batch_lay_out(device, r, n, &lane->batch);
	cut_scratch(device, sl_stages_scratch(r, n), lane);
}

/* --- fused ------------------------------------------------------------------------------------ */

static struct sl_fused fused(const struct sl_recipe *r, const struct sl_device_pipeline *lane)
{
	return (struct sl_fused){.model = r->model,
		.rules = r->rules.bytes,
		.seed = r->seed,
		.first_id = lane->first_id,
		.keep = r->keep,
		.condition = &r->condition,
		.n_fields = r->n_fields,
		.field = r->field,
		.narrow = sl_key_type(r) == SL_U32,
		.metadata = sl_record_columns(r),
		.weight_scale = sl_weight_scale(r),
		.bins = &r->bins};
}

static enum sl_status select(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	struct sl_fused f = fused(r, lane);
	struct sl_list listed = {.first_id = lane->batch.first_id, .at = lane->batch.columns};

	f.padded = lane->whole;
	if (r->inputs) {
		f.rules = &listed;
		SL_TRY(copy_listed(r, lane));
	}
	SL_TRY(clear_census(lane));
	return r->kernels->select(
		&f, &lane->batch, lane->counters, lane->select, lane->exec.stream);
}

static enum sl_status sort_fused(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	if (r->n_fields == 0 || lane->batch.n_survivors == 0)
		return SL_OK;
	return sort_keys(r, lane);
}

static enum sl_status write_rows(const struct sl_recipe *r, struct sl_device_pipeline *lane)
{
	struct sl_fused f = fused(r, lane);

	if (lane->batch.n_survivors == 0)
		return SL_OK;
	return r->kernels->rows(&f, &lane->batch, lane->counters, lane->exec.stream);
}

/* Scratch is of no use any more when the table is written: they have one place. */
static void lay_out_fused(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
	struct sl_device_pipeline *lane)
{
	struct sl_batch *b = &lane->batch;
	struct sl_fused f = fused(r, lane);
	struct sl_arena table;

	lane->first_id = (uint64_t *)sl_cut(device, sizeof(*lane->first_id));
	if (r->inputs)
		sl_columns_lay_out(device, r, n, &b->columns);
	b->index = (uint32_t *)sl_cut_items(device, n, sizeof(uint32_t));
	if (r->n_fields > 0)
		b->key = sl_cut_items(device, n, key_bytes(r));
	if (!sl_models[r->model]->remade)
		b->record = (uint32_t *)sl_cut_items(
			device, n, sl_record_words(sl_record_columns(r)) * sizeof(uint32_t));
	table = *device;
	cut_scratch(device, sl_sort_scratch(r, n), lane);
	sl_table_lay_out(&table, r, n, UINT32_MAX, &b->table);
	if (table.used > device->used)
		device->used = table.used;
	lane->select.size = r->kernels->select_scratch(&f, n);
}

const struct sl_device_mode sl_device_modes[SL_MODE_COUNT] = {
	[SL_MODE_staged] = {.name = "staged",
		.lay_out = lay_out_staged,
		.marks = SL_STAGE_mark,
		.compacts = SL_STAGE_compact,
		.n_counted = 4,
		.n = 6,
		.step = {{SL_STAGE_generate, generate}, {SL_STAGE_advance, advance},
			{SL_STAGE_mark, mark}, {SL_STAGE_compact, compact}, {SL_STAGE_sort, sort},
			{SL_STAGE_write, write}}},
	[SL_MODE_fused] = {.name = "fused",
		.lay_out = lay_out_fused,
		.marks = SL_STAGE_select,
		.compacts = SL_STAGE_select,
		.n_counted = 1,
		.whole = 2048,
		.n = 3,
		.step = {{SL_STAGE_select, select}, {SL_STAGE_sort, sort_fused},
			{SL_STAGE_write, write_rows}}},
};
