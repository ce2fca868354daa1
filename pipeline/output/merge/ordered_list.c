/* ordered_list.c - see merge.h. */
#include "pipeline/output/merge/merge.h"

#include "pipeline/config/config.h"
#include "pipeline/plan/joined_memory.h"
#include "pipeline/plan/plan.h"
#include "primitives/device/device.h"

bool sl_ordered_list_is_needed(const struct sl_plan *plan, const struct sl_manifest *m)
{
	const struct sl_list_order *o = &plan->choices.list_order;

	return plan->choices.format->join || o->sample > 0 || o->limit > 0 ||
	       (sl_plan_order_items(plan).key && m->n > 1);
}

/* Sends the records of the batches one after another, each in its own order. */
static enum sl_status send_in_sequence(const struct sl_dir *dir, const struct sl_manifest *m,
	const struct sl_selection *selection, struct sl_record_output *o)
{
	for (size_t i = 0; i < m->n; i++) {
		SL_CLOSED_BY(sl_record_source_close) struct sl_record_source s;
		bool more = true;

		SL_TRY(sl_record_source_open(&s, dir, &m->line[i], selection));
		while (more) {
			SL_TRY(sl_record_source_next(&s, &more));
			if (more)
				SL_TRY(sl_record_output_add(o, s.record));
		}
	}
	return SL_OK;
}

/* Sends the records in the order of the list. */
static enum sl_status send_records(const struct sl_ordered_list *l,
	const struct sl_selection *selection, struct sl_record_output *o)
{
	SL_TRY(selection->items.key ? sl_merge_run(l, selection, o)
				    : send_in_sequence(l->dir, l->m, selection, o));
	return sl_record_output_flush(o);
}

/* Selects the records, and counts those of the list. */
static enum sl_status select_records(const struct sl_ordered_list *l,
	struct sl_selection *selection, struct sl_joined_list *list)
{
	const struct sl_list_order *order = &l->plan->choices.list_order;

	selection->items = sl_plan_order_items(l->plan);
	SL_TRY(sl_sample_find(l->dir, l->m, order->sample, selection));
	list->particles =
		order->limit > 0 && order->limit < selection->kept ? order->limit : selection->kept;
	list->threshold = selection->sampled ? selection->threshold : 0;
	return SL_OK;
}

/* One thread needs no pool. */
static uint32_t threads_of(const struct sl_plan *plan)
{
	return plan->threads > 1 ? plan->threads : 0;
}

/* --- lists of records ------------------------------------------------------------------------- */

/* Sends the header of the list, with its number of particles and their weight. */
static enum sl_status send_header(struct sl_mcpl_head *sum, const struct sl_selection *selection,
	uint64_t particles, const struct sl_list_target *to)
{
	sum->fixed.particles = particles;
	if (sum->fixed.weight != 0)
		sum->fixed.weight = sl_selection_weight(selection, sum->fixed.weight);
	sl_mcpl_head_finish(sum);
	return sl_list_header_send(to, sum->bytes, sum->size);
}

static enum sl_status send_list(const struct sl_ordered_list *l, struct sl_mcpl_head *sum,
	const struct sl_list_target *to, struct sl_joined_list *list)
{
	const struct sl_mcpl_header *h = &sum->fixed;
	struct sl_selection selection = {.layout = *h,
		.record_bytes = h->record_bytes,
		.weight_at = h->weight != 0 ? SL_NO_WEIGHT : sl_mcpl_number_at(h, SL_MCPL_WEIGHT)};
	SL_CLOSED_BY(sl_job_pool_close) struct sl_job_pool pool = {.n = 0};
	SL_CLOSED_BY(sl_record_output_end) struct sl_record_output o = {.block = NULL};

	sl_job_pool_open(&pool, threads_of(l->plan));
	SL_TRY(select_records(l, &selection, list));
	SL_TRY(sl_record_output_begin(&o, to, &pool, selection.record_bytes, list->particles));
	SL_TRY(send_header(sum, &selection, list->particles, to));
	return send_records(l, &selection, &o);
}

/* --- files of columns ------------------------------------------------------------------------- */

static uint64_t generated_in(const struct sl_manifest *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->line[i].generated;
	return sum;
}

/*
 * The configuration of a file in the order of the run does not state the size of batches: the file
 * is the same for each. The caller frees *text.
 */
static enum sl_status print_config(const struct sl_plan *plan, char **text)
{
	SL_CLOSED_BY(sl_host_give) struct sl_config *config = NULL; /* too large for a stack */
	size_t bytes;

	SL_TRY(sl_host_get(1, sizeof(*config), &config));
	*config = plan->config;
	if (plan->choices.list_order.run || plan->recipe.n_fields == 0)
		config->run.batch = 0;
	bytes = sl_config_print(config, false, NULL, 0) + 1;
	SL_TRY(sl_host_get(1, bytes, text));
	sl_config_print(config, false, *text, bytes);
	return SL_OK;
}

/* The columns of the file. Constant ones have their values in *p; the weight is the sample's. */
static struct sl_table columns_of(
	const struct sl_plan *plan, const struct sl_selection *selection, struct sl_particle *p)
{
	struct sl_table t = sl_plan_table(plan, 0);

	*p = plan->recipe.constant;
	p->weight = (float)sl_selection_weight(selection, (double)p->weight);
	for (uint32_t k = 0; k < t.n_columns; k++)
		if (t.column[k].constant)
			t.column[k].data = (char *)p + sl_facts_of(&t.column[k])->in_particle;
	return t;
}

/*
 * The threads of the pool that makes a table. They start with the first job, so with a key after
 * the last table was read; without one, tables are read between jobs. A format that starts
 * processes to read a table must have no threads then.
 */
static enum sl_status send_rows(const struct sl_ordered_list *l, const struct sl_table_facts *facts,
	const struct sl_selection *selection)
{
	struct sl_record_output o = {.block = NULL};
	struct sl_table_output *table;
	struct sl_job_pool pool;
	enum sl_status s;

	SL_TRY(sl_table_output_begin(facts, &table));
	sl_job_pool_open(&pool,
		selection->items.key || !facts->format->starts_processes ? threads_of(l->plan) : 0);
	s = sl_record_output_begin_table(&o, &pool, selection->rows, facts->rows, table);
	if (s == SL_OK)
		s = send_records(l, selection, &o);
	sl_record_output_end(&o);
	sl_job_pool_close(&pool);
	if (s == SL_OK)
		s = sl_table_output_end(table);
	sl_table_output_close(table);
	return s;
}

static enum sl_status send_table(const struct sl_ordered_list *l, const struct sl_list_target *to,
	struct sl_joined_list *list)
{
	const struct sl_plan *plan = l->plan;
	char name[SL_FILE_NAME_BYTES];
	struct sl_row_layout layout;
	struct sl_selection selection = {.rows = &layout};
	struct sl_file_facts run = plan->facts;
	SL_CLOSED_BY(sl_host_give) char *config = NULL;
	struct sl_particle constant;

	sl_row_layout_make(plan, &layout);
	selection.record_bytes = layout.bytes;
	selection.weight_at = layout.weight_at;
	SL_TRY(select_records(l, &selection, list));
	SL_TRY(print_config(plan, &config));
	run.config = config;
	return send_rows(l,
		&(struct sl_table_facts){.format = plan->choices.format,
			.run = &run,
			.batch = {SL_WHOLE_RUN, 0, generated_in(l->m)},
			.columns = columns_of(plan, &selection, &constant),
			.rows = list->particles,
			.threads = sl_merge_threads(plan),
			.work = l->work,
			.list = sl_merged_list_name(
				plan->config.run.name, plan->choices.format, name),
			.sink = to->sink,
			.context = to->context},
		&selection);
}

enum sl_status sl_ordered_list_send(const struct sl_ordered_list *l, struct sl_mcpl_head *sum,
	const struct sl_list_target *to, struct sl_joined_list *list)
{
	return l->plan->choices.format->join ? send_table(l, to, list)
	                                     : send_list(l, sum, to, list);
}
