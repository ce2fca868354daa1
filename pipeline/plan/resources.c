/* resources.c - predicts the bytes on the disk, and checks whether a run fits; see plan.h. */
#include "pipeline/plan/joined_memory.h"

#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "primitives/files/files.h"

enum sl_status sl_dir_open_nearest(const char *to, struct sl_dir *dir, bool *is_to)
{
	char path[SL_PATH_BYTES];
	enum sl_status s;

	snprintf(path, sizeof(path), "%.4000s", to);
	s = sl_dir_open(path, false, dir);
	*is_to = s == SL_OK;
	while (s != SL_OK && strcmp(path, "/") != 0 && strcmp(path, ".") != 0) {
		const char *above = dirname(path); /* path, made shorter, or a constant */

		if (above != path)
			snprintf(path, sizeof(path), "%s", above);
		s = sl_dir_open(path, false, dir);
	}
	return s;
}

/* The free bytes of the file system of `to`. */
static enum sl_status free_disk(const char *to, uint64_t *bytes)
{
	SL_CLOSED_BY(sl_dir_close) struct sl_dir dir = {.fd = -1, .lock = -1};
	bool is_to;

	SL_TRY(sl_dir_open_nearest(to, &dir, &is_to));
	return sl_dir_free_bytes(&dir, bytes);
}

/* Upper bound of the bytes of a survivor file: packed columns if compression gains nothing. */
static size_t file_bytes(const struct sl_plan *plan, const struct sl_table *most)
{
	struct sl_file_facts facts = plan->facts;
	struct sl_format_sizes sizes;

	facts.form = SL_AS_COLUMNS;
	sizes = plan->choices.format->sizes(most, &facts);
	return sl_size_add(sizes.image, sizes.packed);
}

/*
 * Bytes of the intermediate files of a file of columns: what is packed before the file is
 * assembled, and the rows with their keys.
 */
static size_t table_parts_bytes(const struct sl_plan *plan, size_t list, double all)
{
	struct sl_table t = sl_plan_table(plan, 0);
	size_t row = sizeof(uint64_t), parts = plan->choices.format->join->parts ? list : 0;

	if (!sl_plan_order_items(plan).key)
		return parts;
	for (uint32_t k = 0; k < t.n_columns; k++)
		row += t.column[k].constant ? 0 : sl_facts_of(&t.column[k])->bytes;
	return sl_size_add(parts, sl_size_mul(row, (size_t)all));
}

/*
 * Upper bound of the bytes of the joined file and the intermediate files of its merge, if each of
 * the batches has a file of so many bytes and rows.
 */
static size_t list_bytes(const struct sl_plan *plan, size_t file, double rows)
{
	const struct sl_list_order *o = &plan->choices.list_order;
	uint64_t batches = plan->recipe.n_batches;
	double all = rows * (double)batches, list = all;
	size_t bytes = sl_size_mul(file, batches);

	if (!sl_plan_is_joined(plan))
		return 0;
	list = o->sample > 0 ? fmin(list, (double)o->sample) : list;
	list = o->limit > 0 ? fmin(list, (double)o->limit) : list;
	if (all > 0)
		bytes = sl_size_add(file, (size_t)fmin((double)bytes * (list / all), 0x1p63));
	if (plan->choices.format->join)
		return sl_size_add(bytes, table_parts_bytes(plan, bytes, all));
	if (sl_plan_order_items(plan).key && batches > SL_MERGED_FILES_MOST)
		bytes = sl_size_add(bytes, sl_size_add(bytes, sl_size_mul((size_t)all, 8)));
	return bytes;
}

/*
 * The bytes that a run still writes if each batch has so many survivors. packed: bytes of a
 * survivor in a file; 0: those without compression.
 */
static uint64_t run_bytes(const struct sl_plan *plan, double rows, double packed, uint64_t done)
{
	struct sl_table most = sl_plan_table(plan, (uint32_t)rows);
	struct sl_batch_range batches = sl_plan_batches(plan);
	size_t file = file_bytes(plan, &most), list;

	if (packed > 0)
		file = sl_size_add(plan->choices.format->sizes(&most, &plan->facts).image,
			(size_t)(packed * rows));
	list = list_bytes(plan, file, rows);
	file = sl_size_add(file, sl_counter_words(&plan->recipe) * sizeof(uint64_t));
	file = sl_size_add(file, sl_size_mul(sl_plan_order_items(plan).bytes, (size_t)rows));
	file = sl_size_mul(file, batches.end - batches.first - done);
	return sl_size_add(
		sl_size_add(file, list), sl_image_sum_disk(&plan->choices.image, &plan->facts));
}

/*
 * A run is refused if half of the estimate does not fit: no error of the pilot is that large. The
 * text of a list can become much smaller by compression, which the pilot of lists does not try. A
 * run with a stop rule can end after few batches.
 */
static bool surely_too_large(const struct sl_plan *plan)
{
	uint64_t least = plan->disk_expected / (plan->pilot.bytes > 0 ? 2 : 16);

	return least > plan->disk_free && plan->choices.stop_rule.below == 0;
}

/*
 * Compares the files that are still to be written with the free disk space, and sets
 * plan->disk_bytes, plan->disk_expected and plan->disk_free. done batches are on the disk already.
 * SL_DISK if the free space is far below the estimate; a warning if it may be too small.
 */
static enum sl_status check_disk(struct sl_plan *plan, uint64_t done)
{
	const struct sl_pilot *p = &plan->pilot;
	double batch = sl_memory_plan_batch(plan), most = sl_memory_plan_rows(plan);
	double share = p->particles > 0 ? (double)p->survivors / p->particles : 0;
	const char *text;

	plan->disk_bytes = run_bytes(plan, fmin(ceil(p->most_fraction * batch), most), 0, done);
	SL_TRY(free_disk(plan->to, &plan->disk_free));
	if (plan->disk_bytes > plan->disk_free)
		SL_TRY(sl_pilot_sample(plan));
	plan->disk_expected = run_bytes(plan, fmin(ceil(share * batch), most), p->bytes, done);
	if (plan->disk_expected > plan->disk_bytes)
		plan->disk_expected = plan->disk_bytes;
	text = sl_said(
		"the run may write about %s%s, at most %s before compression, and %s are free",
		sl_sized((double)plan->disk_expected), p->bytes > 0 ? "" : " before compression",
		sl_sized((double)plan->disk_bytes), sl_sized((double)plan->disk_free));
	if (surely_too_large(plan))
		return sl_fail(SL_DISK,
			"%s: %s: choose another output.to, fewer output.columns or fewer particles",
			plan->to, text);
	if (plan->disk_bytes > plan->disk_free && plan->disk_expected > plan->disk_free / 4 * 3)
		sl_plan_warn(plan,
			"%s: %s; if the disk becomes full, free space and use --resume, or choose "
			"another output.to, fewer output.columns or fewer particles",
			plan->to, text);
	return SL_OK;
}

/* --- all resources ---------------------------------------------------------------------------- */

enum sl_status sl_plan_check_resources(struct sl_plan *plan, uint64_t done, bool predict)
{
	SL_TRY(sl_memory_plan_check(plan));
	SL_TRY(sl_pilot_run(plan));
	if (predict)
		SL_TRY(sl_pilot_sample(plan));
	return check_disk(plan, done);
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
