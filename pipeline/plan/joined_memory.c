/* joined_memory.c - see joined_memory.h. */
#include "pipeline/plan/joined_memory.h"

#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_stream.h"

/* Bytes of the columns that one survivor has in a file of columns. */
static size_t row_bytes(const struct sl_table *t)
{
	size_t bytes = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		bytes += sl_facts_of(&t->column[k])->bytes;
	return bytes;
}

/*
 * A buffer of what goes to a joined file: rows of a table, or records and the gzip member made of
 * them.
 */
static size_t buffer_bytes(const struct sl_plan *plan, const struct sl_table *t)
{
	if (plan->choices.format->join)
		return sl_size_mul(row_bytes(t), sl_join_rows(t->n));
	if (plan->choices.format != &sl_format_mcpl_gz)
		return SL_MCPL_MEMBER_BYTES;
	return sl_size_add(SL_MCPL_MEMBER_BYTES + sl_deflate_most(SL_MCPL_MEMBER_BYTES, 0, 1),
		sl_mcpl_member_scratch(&plan->facts));
}

/* More would only need more memory: the main thread merges what the others make. */
enum { THREADS_MOST = 16 };

uint32_t sl_merge_threads(const struct sl_plan *plan)
{
	return plan->threads < THREADS_MOST ? plan->threads : (uint32_t)THREADS_MOST;
}

uint32_t sl_merge_readers(const struct sl_plan *plan, uint64_t n)
{
	const uint32_t threads = sl_merge_threads(plan);

	return n == 0 ? 1 : threads < n ? threads : (uint32_t)n;
}

/*
 * A merge by key: the lists that are open, or the batches in the intermediate file and those who
 * read them, and the blocks of the threads. Lists are mapped; those in gzip are decompressed while
 * they are read.
 */
static void lay_out_merge(struct sl_arena *a, const struct sl_plan *plan, uint32_t threads)
{
	const uint64_t n = plan->recipe.n_batches;
	const bool by_rows = plan->choices.format->join || n > SL_MERGED_FILES_MOST;
	const uint64_t readers = by_rows ? sl_merge_readers(plan, n) : 0;
	const uint32_t feeds = sl_merge_feeds(threads, n);

	(void)sl_cut_items(a, n, by_rows ? SL_MERGE_STREAM_BYTES : SL_MERGE_SOURCE_BYTES);
	(void)sl_cut_items(a, readers, SL_MERGE_READER_BYTES);
	(void)sl_cut_items(a, feeds, SL_MERGE_STREAM_BYTES);
	(void)sl_cut_items(a, feeds, 2 * SL_MERGE_BLOCK_BYTES + SL_MERGE_FEED_BYTES);
	if (plan->choices.format == &sl_format_mcpl_gz)
		(void)sl_cut_items(a, by_rows ? readers : n, SL_MCPL_GZIP_BYTES);
}

/*
 * To make a file of columns: the survivors of a batch, as they are read from its file, a block of
 * rows, and the memory of the format.
 */
static size_t table_bytes(const struct sl_plan *plan, struct sl_joined_file *j)
{
	const struct sl_format *f = plan->choices.format;
	struct sl_arena a = {0};

	(void)sl_cut(&a, SL_TABLE_OUTPUT_BYTES);
	(void)sl_cut_items(
		&a, sl_merge_readers(plan, plan->recipe.n_batches), SL_TABLE_READER_BYTES);
	f->join->lay_out(&a, j);
	return sl_size_add(sl_size_add(a.used, f->sizes(&j->all, &plan->facts).image),
		sl_size_mul(row_bytes(&j->all), sl_merge_readers(plan, plan->recipe.n_batches) *
								(size_t)sl_memory_plan_rows(plan) +
							sl_join_rows(j->rows)));
}

/*
 * The records of the batches, selected and in the order of the file, as bytes of a list or as a
 * table.
 */
static size_t selection_bytes(const struct sl_plan *plan)
{
	const struct sl_format *f = plan->choices.format;
	const bool by_key = sl_plan_order_items(plan).key, gzip = f == &sl_format_mcpl_gz;
	const uint32_t threads = sl_merge_threads(plan);
	uint64_t rows = plan->recipe.particles;
	struct sl_joined_file j = {.format = f,
		.run = &plan->facts,
		.rows = rows,
		.all = sl_plan_table(plan, rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX),
		.n_workers = threads};
	struct sl_arena a = {0};

	for (uint32_t i = 0; i < sl_merge_buffers(threads, gzip); i++)
		(void)sl_cut(&a, buffer_bytes(plan, &j.all));
	if (by_key)
		lay_out_merge(&a, plan, threads);
	else if (gzip)
		(void)sl_cut(&a, SL_MCPL_GZIP_BYTES);
	return f->join ? sl_size_add(a.used, table_bytes(plan, &j)) : a.used;
}

size_t sl_joined_memory(const struct sl_plan *plan)
{
	const struct sl_list_order *o = &plan->choices.list_order;
	size_t sample = o->sample > 0 ? SL_SAMPLE_BYTES : 0, selection;

	if (!sl_plan_is_joined(plan) ||
		!(plan->choices.format->join || o->run || o->sample > 0 || o->limit > 0))
		return 0;
	selection = selection_bytes(plan);
	return sample > selection ? sample : selection;
}
