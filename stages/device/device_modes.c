/* device_modes.c - the steps of staged and fused mode on a device, and their memory. */
#include "stages/device/device.h"

#include "stages/batch/packed_record.h"
#include "stages/device/device_pipeline.h"
#include "stages/host/host.h"
#include "stages/models/list.h"

static const void *rules_of(const struct sl_recipe *r, const struct sl_device_pipeline *pipeline)
{
	return pipeline->rules ? pipeline->rules : r->rules.bytes;
}

enum sl_status sl_device_pipeline_advance(const struct sl_recipe *r,
	struct sl_device_pipeline *pipeline, const struct sl_batch *b, uint64_t *alive)
{
	if (r->grids.scored)
		return sl_rule_kernels(r)->scored(rules_of(r, pipeline), r->seed, b, &r->grids,
			pipeline->grids, pipeline->grid_copies, alive, pipeline->exec.stream);
	return sl_rule_kernels(r)->advance(
		rules_of(r, pipeline), r->seed, b, alive, pipeline->exec.stream);
}

enum sl_status sl_device_pipeline_count(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline, bool each_step)
{
	return r->kernels->grids(&r->grids, pipeline->grids, each_step, sl_weight_scale(r),
		sl_square_scale(r), &pipeline->batch, pipeline->grid_copies,
		sl_batch_counters_tallies(pipeline->counters), pipeline->exec.stream);
}

/* --- both modes ------------------------------------------------------------------------------- */

/* Cuts the scratch that the steps of a mode share, as they run one after another. */
static void cut_scratch(struct sl_arena *device, size_t bytes, struct sl_device_pipeline *pipeline)
{
	pipeline->exec.scratch = (struct sl_arena){.base = sl_cut(device, bytes), .size = bytes};
}

/* Sets all counters, and the scratch of select, to 0. */
static enum sl_status clear_counters(struct sl_device_pipeline *pipeline)
{
	return sl_fill(pipeline->counters, 0, pipeline->cleared_bytes, pipeline->exec.stream);
}

/* Adds the copies of the counters in global memory to the counters, after all counting. */
static enum sl_status total_grids(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	return r->kernels->grids_total(&r->grids, pipeline->grid_copies,
		sl_batch_counters_tallies(pipeline->counters), pipeline->exec.stream);
}

/*
 * Sorts the keys of the survivors. In fused mode select has made the keys, so this is the whole
 * stage.
 */
static enum sl_status sort_keys(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	const struct sl_batch *b = &pipeline->batch;

	if (r->n_fields == 0 || b->n_survivors == 0)
		return SL_OK;
	return sl_sort_indices(r, &pipeline->exec, b);
}

/* Copies particles that were read from files to the device: columns, and records that it packs. */
static enum sl_status copy_input(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	sl_column_set columns = sl_stored_columns(r);

	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(columns, c))
			SL_TRY(sl_copy(sl_column_at(&pipeline->batch.columns, (enum sl_column)c),
				sl_column_at(pipeline->input_columns, (enum sl_column)c),
				(size_t)pipeline->batch.n * sl_column_facts[c].bytes,
				pipeline->exec.stream));
	if (!pipeline->batch.source)
		return SL_OK;
	return sl_copy(pipeline->batch.source, pipeline->input_source,
		(size_t)pipeline->batch.n * r->source_bytes, pipeline->exec.stream);
}

/* --- staged ----------------------------------------------------------------------------------- */

/* The particles of a model that reads files are in pinned memory, so the copy is asynchronous. */
static enum sl_status generate(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	if (sl_counts_early(r))
		SL_TRY(clear_counters(pipeline));
	if (r->inputs)
		return copy_input(r, pipeline);
	return sl_rule_kernels(r)->generate(
		rules_of(r, pipeline), r->seed, &pipeline->batch, pipeline->exec.stream);
}

/*
 * Without rounds, one kernel takes all steps of each particle. With rounds, the host waits once per
 * round.
 */
static enum sl_status advance(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	if (r->resampling.steps > 0)
		return sl_device_pipeline_filter(r, pipeline);
	if (r->schedule.steps > 0)
		return sl_device_pipeline_rounds(r, pipeline);
	sl_active_set_begin(&pipeline->batch, UINT32_MAX);
	return sl_device_pipeline_advance(r, pipeline, &pipeline->batch, NULL);
}

/*
 * Counts fates and tallies. The counters are cleared here unless advance has counted
 * scores or steps of a filter.
 */
static enum sl_status mark(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	if (!sl_counts_early(r))
		SL_TRY(clear_counters(pipeline));
	if (r->derivation.n > 0)
		SL_TRY(r->kernels->derive(&r->derivation, &pipeline->batch.columns,
			pipeline->batch.first_id_on_device, pipeline->batch.n,
			pipeline->exec.stream));
	SL_TRY(r->kernels->mark(r->keep, &r->condition, sl_common_weight(r), sl_weight_scale(r),
		sl_square_scale(r), &pipeline->batch, &pipeline->counters->tally,
		pipeline->exec.stream));
	SL_TRY(sl_device_pipeline_count(r, pipeline, false));
	return total_grids(r, pipeline);
}

/* The number of survivors stays on the device; the host receives it with the counters. */
static enum sl_status compact(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	return sl_compact_indices(r, &pipeline->exec, &pipeline->batch, pipeline->batch.n,
		&pipeline->counters->n_survivors);
}

static enum sl_status sort(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	if (r->n_fields == 0 || pipeline->batch.n_survivors == 0)
		return SL_OK;
	SL_TRY(r->kernels->key(r->field, r->n_fields, sl_key_type(r) == SL_U32, &pipeline->batch,
		pipeline->exec.stream));
	return sort_keys(r, pipeline);
}

static enum sl_status write_survivors(
	const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	if (pipeline->batch.n_survivors == 0)
		return SL_OK;
	return r->kernels->gather(
		&pipeline->batch, pipeline->counters->digest, pipeline->exec.stream);
}

static void lay_out_staged(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
	struct sl_device_pipeline *pipeline)
{
	sl_batch_lay_out(device, r, n, &pipeline->batch);
	cut_scratch(device, sl_stages_scratch(r, n), pipeline);
}

/* --- fused ------------------------------------------------------------------------------------ */

/* The parameters of the fused kernels. */
static struct sl_fused fused(const struct sl_recipe *r, const struct sl_device_pipeline *pipeline)
{
	return (struct sl_fused){.rules = rules_of(r, pipeline),
		.seed = r->seed,
		.keep = r->keep,
		.condition = &r->condition,
		.derivation = &r->derivation,
		.n_fields = r->n_fields,
		.field = r->field,
		.narrow = sl_key_type(r) == SL_U32,
		.record_columns = sl_record_columns(r),
		.weight_scale = sl_weight_scale(r),
		.square_scale = sl_square_scale(r),
		.grids = &r->grids,
		.device_grids = r->grids.ends ? pipeline->grids : NULL,
		.grid_copies = pipeline->grid_copies};
}

/* Computes all particles and writes the survivors. */
static enum sl_status select(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	struct sl_fused f = fused(r, pipeline);
	struct sl_list list = {.first_id = pipeline->batch.first_id, .at = pipeline->batch.columns};

	if (r->inputs) {
		f.rules = &list;
		SL_TRY(copy_input(r, pipeline));
	}
	SL_TRY(clear_counters(pipeline));
	SL_TRY(sl_rule_kernels(r)->select(&f, &pipeline->batch, pipeline->counters,
		pipeline->select_scratch, pipeline->exec.stream));
	return total_grids(r, pipeline);
}

/* Writes the columns of the survivors from their records, or by computing the particles again. */
static enum sl_status write_rows(const struct sl_recipe *r, struct sl_device_pipeline *pipeline)
{
	struct sl_fused f = fused(r, pipeline);

	if (pipeline->batch.n_survivors == 0)
		return SL_OK;
	return sl_rule_kernels(r)->rows(
		&f, &pipeline->batch, pipeline->counters, pipeline->exec.stream);
}

/* The sort scratch and the table share memory: the table is written after the sort. */
static void lay_out_fused(struct sl_arena *device, const struct sl_recipe *r, uint32_t n,
	struct sl_device_pipeline *pipeline)
{
	struct sl_batch *b = &pipeline->batch;
	struct sl_fused f = fused(r, pipeline);
	struct sl_arena table;

	if (r->inputs)
		sl_layout_columns(device, sl_stored_columns(r), n, &b->columns);
	b->index = (uint32_t *)sl_cut_items(device, n, sizeof(uint32_t));
	if (r->n_fields > 0)
		b->key = sl_cut_items(device, n, sl_key_bytes(r));
	if (!r->model->recomputed)
		b->record = (uint32_t *)sl_cut_items(
			device, n, sl_record_words(sl_record_columns(r)) * sizeof(uint32_t));
	table = *device;
	cut_scratch(device, sl_sort_scratch(r, n), pipeline);
	sl_table_lay_out(&table, r, n, r->resident ? 0 : SL_EVERY_COLUMN, &b->table);
	if (table.used > device->used)
		device->used = table.used;
	if (r->pack.form != SL_AS_COLUMNS)
		sl_layout_source(device, r, n, b);
	pipeline->select_scratch.size = sl_rule_kernels(r)->select_scratch(&f, n);
}

const struct sl_device_mode sl_device_modes[SL_MODE_COUNT] = {
	[SL_MODE_staged] = {.name = "staged",
		.lay_out = lay_out_staged,
		.marks = SL_STAGE_mark,
		.compacts = SL_STAGE_compact,
		.n_counted = 4,
		.whole_per_multiprocessor = 2048,
		.n = 6,
		.step = {{SL_STAGE_generate, generate}, {SL_STAGE_advance, advance},
			{SL_STAGE_mark, mark}, {SL_STAGE_compact, compact}, {SL_STAGE_sort, sort},
			{SL_STAGE_write, write_survivors}}},
	[SL_MODE_fused] = {.name = "fused",
		.lay_out = lay_out_fused,
		.marks = SL_STAGE_select,
		.compacts = SL_STAGE_select,
		.n_counted = 1,
		.whole_per_multiprocessor = 2048,
		.n = 3,
		.step = {{SL_STAGE_select, select}, {SL_STAGE_sort, sort_keys},
			{SL_STAGE_write, write_rows}}},
};
