/* record_output.c - see merge.h. */
#include "pipeline/output/merge/merge.h"

#include <string.h>

#include "pipeline/plan/joined_memory.h"
#include "stages/formats/common/common.h"
#include "stages/formats/mcpl/mcpl.h"

enum { ROWS_AT_ONCE = 1 << 12 };

size_t sl_list_header_bytes(const struct sl_list_target *t, size_t bytes)
{
	return t->gzip ? sl_gzip_stored_bytes(bytes) : bytes;
}

enum sl_status sl_list_header_send(const struct sl_list_target *t, const void *header, size_t bytes)
{
	SL_CLOSED_BY(sl_host_give) uint8_t *member = NULL;

	if (!t->gzip)
		return t->sink(t->context, SL_NEXT, header, bytes);
	SL_TRY(sl_host_get(1, sl_gzip_stored_bytes(bytes), &member));
	return t->sink(t->context, SL_NEXT, member, sl_gzip_store(header, bytes, member));
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void lay_out_member(struct sl_arena *a, struct sl_output_buffer *b)
{
	b->packed = (uint8_t *)sl_cut(a, sl_deflate_most(SL_MCPL_MEMBER_BYTES, 0, 1));
	b->x = (struct sl_exec){.space = SL_HOST};
	b->x.scratch.size = sl_mcpl_member_scratch(b->output->list.facts);
	b->x.scratch.base = sl_cut(a, b->x.scratch.size);
}

/* Task: makes columns of some rows of a buffer, so few that they stay in the cache. */
static enum sl_status get_rows(void *context, uint32_t worker, uint32_t t)
{
	const struct sl_output_buffer *b = (const struct sl_output_buffer *)context;
	const struct sl_record_output *o = b->output;
	const uint32_t from = t * ROWS_AT_ONCE, left = (uint32_t)(b->used / o->bytes) - from;

	(void)worker;
	sl_row_get(o->rows, b->records + (size_t)from * o->bytes, from,
		left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, sl_table_output_block(o->table));
	return SL_OK;
}

/* Passes on the records of a buffer: as rows, or as bytes of the list. */
static enum sl_status pass_on(struct sl_output_buffer *b, const uint8_t *bytes, size_t size)
{
	struct sl_record_output *o = b->output;
	const uint32_t records = (uint32_t)(b->used / o->bytes);

	o->written.values += records;
	if (!o->table)
		return o->list.sink(o->list.context, SL_NEXT, bytes, size);
	sl_table_output_block(o->table)->n = records;
	SL_TRY(sl_tasks_run(
		o->pool, o->pool->n, (uint32_t)sl_ceil_div(records, ROWS_AT_ONCE), get_rows, b));
	return sl_table_output_add(o->table, o->pool);
}

/* Job of a buffer: compresses the records, or passes them on. */
static enum sl_status pack(void *context)
{
	struct sl_output_buffer *b = (struct sl_output_buffer *)context;

	return b->packed ? sl_format_deflate(&b->x, b->output->list.facts, SL_GZIP, b->records,
				   b->used, b->packed, &b->packed_bytes)
	                 : pass_on(b, b->records, b->used);
}

/* Cuts the buffers from an arena, which only measures if it has no memory. */
static void lay_out(struct sl_arena *a, bool gzip, size_t bytes, struct sl_record_output *o)
{
	struct sl_output_buffer unplaced = {.output = o};

	o->buffer = (struct sl_output_buffer *)sl_cut_items(a, o->n, sizeof(*o->buffer));
	for (uint32_t i = 0; i < o->n; i++) {
		struct sl_output_buffer *b = o->buffer ? &o->buffer[i] : &unplaced;

		*b = (struct sl_output_buffer){.output = o, .job = {.run = pack, .context = b}};
		b->records = (uint8_t *)sl_cut(a, bytes);
		if (gzip)
			lay_out_member(a, b);
	}
}

/* Allocates buffers of so many bytes each, for so many records of o->bytes. */
static enum sl_status begin(struct sl_record_output *o, bool gzip, size_t bytes,
	struct sl_job_pool *pool, uint64_t records)
{
	struct sl_arena a = {0};

	o->pool = pool;
	o->all = o->left = records;
	o->written.columns = 1;
	o->most = bytes / o->bytes * o->bytes;
	o->n = sl_merge_buffers(pool->n, gzip);
	lay_out(&a, gzip, bytes, o);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &o->block));
	a = (struct sl_arena){.base = o->block, .size = a.used};
	lay_out(&a, gzip, bytes, o);
	o->records = o->buffer[0].records;
	return SL_OK;
}

enum sl_status sl_record_output_begin(struct sl_record_output *o, const struct sl_list_target *list,
	struct sl_job_pool *pool, uint32_t record_bytes, uint64_t records)
{
	*o = (struct sl_record_output){.list = *list, .bytes = record_bytes};
	return begin(o, list->gzip, SL_MCPL_MEMBER_BYTES, pool, records);
}

enum sl_status sl_record_output_begin_table(struct sl_record_output *o, struct sl_job_pool *pool,
	const struct sl_row_layout *layout, uint64_t rows, struct sl_table_output *table)
{
	*o = (struct sl_record_output){.table = table, .rows = layout, .bytes = layout->bytes};
	return begin(o, false, (size_t)layout->bytes * sl_join_rows(rows), pool, rows);
}

void sl_record_output_end(struct sl_record_output *o)
{
	for (uint32_t i = 0; o->block && i < o->n; i++)
		sl_job_finish(o->pool, &o->buffer[i].job);
	sl_memory_give(SL_HOST, o->block);
	o->block = NULL;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Waits for the job of a buffer, and passes on its member. */
static enum sl_status empty(struct sl_record_output *o, struct sl_output_buffer *b)
{
	size_t bytes;

	SL_TRY(sl_job_wait(o->pool, &b->job));
	bytes = b->packed_bytes;
	b->packed_bytes = 0;
	return bytes > 0 ? pass_on(b, b->packed, bytes) : SL_OK;
}

/* The next buffer is emptied first: with two buffers, one job at a time passes on bytes. */
enum sl_status sl_record_output_submit(struct sl_record_output *o)
{
	struct sl_output_buffer *full = &o->buffer[o->at];

	o->at = (o->at + 1) % o->n;
	full->used = o->used;
	o->used = 0;
	o->records = o->buffer[o->at].records;
	if (o->n > 1)
		SL_TRY(empty(o, &o->buffer[o->at]));
	sl_job_submit(o->pool, &full->job, false);
	return o->n > 1 ? SL_OK : empty(o, full);
}

enum sl_status sl_record_output_add_all(
	struct sl_record_output *o, const uint8_t *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		SL_TRY(sl_record_output_add(o, records + i * o->bytes));
	return SL_OK;
}

enum sl_status sl_record_output_flush(struct sl_record_output *o)
{
	if (o->used > 0)
		SL_TRY(sl_record_output_submit(o));
	for (uint32_t i = 0; i < o->n; i++)
		SL_TRY(empty(o, &o->buffer[(o->at + i) % o->n]));
	return sl_format_check_written(&o->written, o->all);
}
