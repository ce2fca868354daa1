/* ordered_list.c - see ordered_list.h. */
#include "pipeline/output/merge/ordered_list.h"

#include <stdio.h>

#include "pipeline/output/merge/merge_pass.h"
#include "pipeline/output/merge/sample.h"
#include "pipeline/plan/file_names.h"

bool sl_ordered_list_is_needed(const struct sl_plan *plan, const struct sl_manifest *m)
{
	const struct sl_list_order *o = &plan->choices.list_order;

	return o->sample > 0 || o->limit > 0 || (sl_plan_order_items(plan).key && m->n > 1);
}

/* Reads the header of the first batch: all batches have records of the same layout. */
static enum sl_status read_layout(
	const struct sl_dir *dir, const struct sl_manifest_line *l, struct sl_mcpl_header *layout)
{
	char path[SL_PATH_BYTES];
	struct sl_mcpl_stream s;
	enum sl_status status;
	struct sl_map file;

	snprintf(path, sizeof(path), "%.3800s/%s", dir->path, l->file);
	SL_TRY(sl_map_file(path, &file));
	status = sl_add_context(sl_mcpl_open(&s, file.at, file.bytes), "%s", path);
	if (status == SL_OK) {
		*layout = s.header;
		sl_mcpl_close(&s);
	}
	sl_unmap(&file);
	return status;
}

/* Sends the records of the batches one after another, each in its own order. */
static enum sl_status send_in_sequence(const struct sl_dir *dir, const struct sl_manifest *m,
	const struct sl_selection *selection, struct sl_record_output *o)
{
	enum sl_status status = SL_OK;

	for (size_t i = 0; status == SL_OK && i < m->n; i++) {
		struct sl_record_source s;
		bool more = true;

		status = sl_record_source_open(&s, dir, &m->line[i], selection);
		while (status == SL_OK && more) {
			status = sl_record_source_next(&s, &more);
			if (status == SL_OK && more)
				status = sl_record_output_add(o, s.record);
		}
		sl_record_source_close(&s);
	}
	return status;
}

/* Sends the records in the order of the list. */
static enum sl_status send_records(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest *m, uint32_t most, const struct sl_selection *selection,
	struct sl_record_output *o)
{
	char name[SL_FILE_NAME_BYTES];
	struct sl_merge merge = {.dir = dir, .batches = m, .selection = selection, .most = most};

	merge.list = sl_merged_list_name(plan->config.run.name, plan->choices.format, name);
	SL_TRY(selection->items.key ? sl_merge_run(&merge, o)
				    : send_in_sequence(dir, m, selection, o));
	return sl_record_output_flush(o);
}

/* Sends the header of the list, with its number of particles and their weight. */
static enum sl_status send_header(const struct sl_format_merge *merge, void *sum,
	const struct sl_selection *selection, uint64_t particles, sl_byte_sink *sink, void *context)
{
	const void *header;
	size_t bytes;

	merge->describe(sum, particles, sl_selection_weight(selection, selection->layout.weight));
	SL_TRY(merge->finish(sum, &header, &bytes));
	return sink(context, header, bytes);
}

enum sl_status sl_ordered_list_send(const struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_manifest *m, void *sum, uint32_t most, sl_byte_sink *sink, void *context,
	struct sl_joined_list *list)
{
	const struct sl_list_order *order = &plan->choices.list_order;
	struct sl_selection selection = {.items = sl_plan_order_items(plan)};
	struct sl_record_output o = {.block = NULL};
	enum sl_status s;

	SL_TRY(read_layout(dir, &m->line[0], &selection.layout));
	SL_TRY(sl_sample_find(dir, m, order->sample, &selection));
	list->particles =
		order->limit > 0 && order->limit < selection.kept ? order->limit : selection.kept;
	list->threshold = selection.sampled ? selection.threshold : 0;
	s = sl_record_output_begin(
		&o, plan, selection.layout.record_bytes, list->particles, sink, context);
	if (s == SL_OK)
		s = send_header(plan->choices.format->merge, sum, &selection, list->particles, sink,
			context);
	if (s == SL_OK)
		s = send_records(plan, dir, m, most, &selection, &o);
	sl_record_output_end(&o);
	return s;
}
