/* table_output.c - see merge.h. */
#include "pipeline/output/merge/merge.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/plan/joined_memory.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"
#include "stages/particle/digest.h"

/* Stands for the bytes of a part that are in the file already: no object is at this address. */
#define IN_PLACE ((const uint8_t *)(UINTPTR_MAX / 2))

struct sl_table_output {
	struct sl_table_facts facts;
	struct sl_joined_file join;
	struct sl_table block;
	bool packs;              /* the block is the whole file, which is packed at the end */
	struct sl_packed packed; /* then */
	struct sl_exec x;        /* then */
	void *image;
	size_t image_bytes;
	bool assembles;   /* what is packed is not the file, but its parts */
	uint32_t n_parts; /* in intermediate files */
	struct sl_file_writer part[SL_COLUMN_COUNT];
	const uint8_t *at[SL_COLUMN_COUNT]; /* where they were mapped; NULL: empty */
	uint64_t sent;                      /* bytes that are in the file already, packed */
	struct sl_pieces file;              /* at the end */
	void *memory;                       /* of the join, the block and the image */
};

_Static_assert(sizeof(struct sl_table_output) <= SL_TABLE_OUTPUT_BYTES, "plans count these bytes");

/* --- beginning -------------------------------------------------------------------------------- */

/* What the format needs: to pack the block, or to join blocks. */
static void lay_out_format(struct sl_arena *a, struct sl_table_output *o)
{
	const struct sl_table_facts *f = &o->facts;

	if (!o->packs) {
		f->format->join->lay_out(a, &o->join);
		return;
	}
	sl_format_lay_out(f->format, a, &o->join.all, f->run, &o->packed);
	o->x = (struct sl_exec){
		.space = SL_HOST, .scratch.size = f->format->sizes(&o->join.all, f->run).scratch};
	o->x.scratch.base = sl_cut(a, o->x.scratch.size);
}

/* Cuts all memory from an arena, which only measures if it has no base. */
static void lay_out(struct sl_arena *a, struct sl_table_output *o)
{
	const struct sl_table_facts *f = &o->facts;

	o->join.all = o->block = f->columns;
	o->join.all.n = o->join.rows < UINT32_MAX ? (uint32_t)o->join.rows : UINT32_MAX;
	o->block.n = 0;
	for (uint32_t k = 0; k < o->block.n_columns; k++)
		if (!o->block.column[k].constant)
			o->block.column[k].data = sl_cut_items(
				a, sl_join_rows(f->rows), sl_facts_of(&o->block.column[k])->bytes);
	lay_out_format(a, o);
	o->image_bytes = o->assembles ? f->format->sizes(&o->join.all, f->run).image : 0;
	o->image = sl_cut(a, o->image_bytes);
}

static enum sl_status check_rows(const struct sl_table_facts *f)
{
	if (f->rows <= UINT32_MAX || !f->format->join->packed)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s: %lu survivors are too many for one file of the format %s (at most "
		"4294967295); set output.limit or output.sample, use another output.format, or load "
		"the files of the batches, which are complete",
		f->list, f->rows, f->format->name);
}

/* Appends bytes to a part, or to the file. Implements sl_joined_file.put. */
static enum sl_status put(void *context, uint32_t part, const void *bytes, size_t size)
{
	struct sl_table_output *o = (struct sl_table_output *)context;

	if (o->n_parts > 0)
		return sl_file_add(&o->part[part], bytes, size);
	o->sent += size;
	return o->facts.sink(
		o->facts.context, o->facts.format->join->before + o->sent - size, bytes, size);
}

static enum sl_status open_parts(struct sl_table_output *o)
{
	char name[SL_FILE_NAME_BYTES];

	for (uint32_t k = 0; k < o->n_parts; k++) {
		snprintf(name, sizeof(name), "%.220s.0_%u", o->facts.list, k);
		SL_TRY(sl_file_begin(o->facts.work, name, &o->part[k]));
	}
	return SL_OK;
}

static enum sl_status begin(struct sl_table_output *o)
{
	const struct sl_format_join *join = o->facts.format->join;
	struct sl_arena a = {0};

	o->packs = o->facts.packs && o->facts.rows <= SL_PACK_ROWS;
	o->assembles = join->packed || o->packs;
	o->n_parts = join->parts && !o->packs ? join->parts(&o->facts.columns) : 0;
	o->join = (struct sl_joined_file){.format = o->facts.format,
		.run = o->facts.run,
		.rows = o->facts.rows,
		.block = &o->block,
		.n_workers = o->facts.threads,
		.put = put,
		.context = o};
	lay_out(&a, o);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &o->memory));
	a = (struct sl_arena){.base = o->memory, .size = a.used};
	lay_out(&a, o);
	SL_TRY(open_parts(o));
	return o->packs ? SL_OK : join->begin(&o->join);
}

enum sl_status sl_table_output_begin(
	const struct sl_table_facts *facts, struct sl_table_output **made)
{
	struct sl_table_output *o;
	enum sl_status s;

	*made = NULL;
	SL_TRY(check_rows(facts));
	SL_TRY(sl_host_get(1, sizeof(*o), &o));
	memset(o, 0, sizeof(*o));
	o->facts = *facts;
	s = begin(o);
	if (s == SL_OK)
		*made = o;
	else
		sl_table_output_close(o);
	return s;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct sl_table *sl_table_output_block(struct sl_table_output *o)
{
	return &o->block;
}

enum sl_status sl_table_output_add(struct sl_table_output *o, struct sl_job_pool *pool)
{
	if (o->packs)
		return SL_OK;
	o->join.pool = pool;
	SL_TRY(o->facts.format->join->add(&o->join));
	o->block.n = 0;
	return SL_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Packs the block as the file of a batch. */
static enum sl_status pack(struct sl_table_output *o)
{
	const struct sl_table_facts *f = &o->facts;

	sl_digest_table(&o->block);
	SL_TRY(sl_format_pack(f->format, &o->x, f->run, &o->block, NULL, &o->packed));
	return sl_format_check_written(&o->packed.written, f->rows);
}

/* Ends the parts, and maps those that are not in place. */
static enum sl_status join(struct sl_table_output *o)
{
	const struct sl_table_facts *f = &o->facts;

	o->at[0] = IN_PLACE;
	SL_TRY(sl_format_check_written(&o->join.written, f->rows));
	for (uint32_t k = 0; k < o->n_parts; k++) {
		SL_TRY(sl_file_map(&o->part[k]));
		o->at[k] = (const uint8_t *)o->part[k].map.at;
	}
	if (o->assembles)
		f->format->join->packed(&o->join, o->at, &o->packed);
	return SL_OK;
}

/* Task: sends a piece to its place, and frees the part that it is. */
static enum sl_status send_piece(void *context, uint32_t worker, uint32_t i)
{
	struct sl_table_output *o = (struct sl_table_output *)context;
	const struct sl_piece *piece = &o->file.piece[i];
	uint64_t at = 0;

	(void)worker;
	for (uint32_t k = 0; k < i; k++)
		at += o->file.piece[k].bytes;
	if (piece->at == IN_PLACE)
		return at == o->facts.format->join->before
		               ? SL_OK
		               : sl_fail(SL_INTERNAL,
					 "internal error: what was packed is not where it belongs in "
					 "the file, which is removed; please report it");
	SL_TRY(o->facts.sink(o->facts.context, at, piece->at, piece->bytes));
	for (uint32_t k = 0; k < o->n_parts; k++)
		if (piece->bytes > 0 && piece->at == o->at[k])
			return sl_file_unmap(&o->part[k]);
	return SL_OK;
}

enum sl_status sl_table_output_end(struct sl_table_output *o)
{
	const struct sl_table_facts *f = &o->facts;
	struct sl_job_pool pool;
	enum sl_status s;

	SL_TRY(o->packs ? pack(o) : join(o));
	if (o->assembles)
		SL_TRY(sl_format_assemble(f->format, f->run, &f->batch, &o->packed, o->image,
			o->image_bytes, &o->file));
	/* assemble may have started a process, which must not inherit locks of threads */
	sl_job_pool_open(&pool, o->n_parts > 0 && f->threads > 1 ? f->threads : 0);
	s = sl_tasks_run(&pool, f->threads, o->file.n, send_piece, o);
	sl_job_pool_close(&pool);
	return s;
}

void sl_table_output_close(struct sl_table_output *o)
{
	const struct sl_failure last = sl_failure_keep(SL_OK);

	for (uint32_t k = 0; o && k < o->n_parts; k++)
		sl_file_drop(&o->part[k]);
	if (o)
		sl_memory_give(SL_HOST, o->memory);
	sl_memory_give(SL_HOST, o);
	sl_set_last_error(last.message);
}
