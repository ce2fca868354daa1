/* table_output.c - see merge.h. */
#include "pipeline/output/merge/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/config/config.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"

/* A part of the file, while it is written and while it is mapped. */
struct part {
	struct sl_file_writer file;
	bool open;
	struct sl_map map;
};

struct sl_table_output {
	struct sl_table_facts facts;
	struct sl_file_facts run; /* of the plan, with the configuration as this file states it */
	char *config;
	struct sl_joined_file join;
	struct sl_row_layout layout;
	struct sl_table block;
	struct sl_particle constant; /* values of the constant columns */
	void *image;
	size_t image_bytes;
	uint32_t n_parts; /* 0: what is packed is the file */
	struct part part[SL_COLUMN_COUNT];
	void *memory; /* of the join, the block and the image */
};

static const struct sl_format *format_of(const struct sl_table_output *o)
{
	return o->facts.plan->choices.format;
}

/* --- beginning -------------------------------------------------------------------------------- */

/*
 * The configuration of a file in the order of the run does not state the size of batches: the file
 * is the same for each.
 */
static enum sl_status print_config(struct sl_table_output *o)
{
	const struct sl_plan *plan = o->facts.plan;
	struct sl_config *config; /* too large for a stack */
	void *memory, *text;
	enum sl_status s;
	size_t bytes;

	SL_TRY(sl_memory_get(SL_HOST, sizeof(*config), &memory));
	config = (struct sl_config *)memory;
	*config = plan->config;
	if (plan->choices.list_order.run || plan->recipe.n_fields == 0)
		config->run.batch = 0;
	bytes = sl_config_print(config, false, NULL, 0) + 1;
	s = sl_memory_get(SL_HOST, bytes, &text);
	if (s == SL_OK)
		sl_config_print(config, false, (char *)text, bytes);
	sl_memory_give(SL_HOST, memory);
	SL_TRY(s);
	o->run = plan->facts;
	o->run.config = o->config = (char *)text;
	return SL_OK;
}

/* The columns of the file, with pointers to the values of constant ones. */
static struct sl_table columns_of(struct sl_table_output *o)
{
	struct sl_table t = sl_plan_table(o->facts.plan, 0);

	t = sl_format_table(format_of(o), &t);
	for (uint32_t k = 0; k < t.n_columns; k++)
		if (t.column[k].constant)
			t.column[k].data =
				(char *)&o->constant + sl_facts_of(&t.column[k])->in_particle;
	return t;
}

/* Cuts all memory from an arena, which only measures if it has no base. */
static void lay_out(struct sl_arena *a, struct sl_table_output *o)
{
	o->join.all = o->block = columns_of(o);
	o->join.all.n = o->join.rows < UINT32_MAX ? (uint32_t)o->join.rows : UINT32_MAX;
	for (uint32_t k = 0; k < o->block.n_columns; k++)
		if (!o->block.column[k].constant)
			o->block.column[k].data = sl_cut_items(
				a, SL_JOIN_ROWS, sl_facts_of(&o->block.column[k])->bytes);
	o->join.x = (struct sl_exec){.space = SL_HOST};
	format_of(o)->join->lay_out(a, &o->join);
	o->image_bytes = o->n_parts ? format_of(o)->image_bytes(&o->join.all, &o->run) : 0;
	o->image = sl_cut(a, o->image_bytes);
}

/* A common weight is that of the sample. */
static void set_constants(struct sl_table_output *o)
{
	o->constant = o->facts.plan->recipe.constant;
	o->constant.weight =
		(float)sl_selection_weight(o->facts.selection, (double)o->constant.weight);
}

static enum sl_status check_rows(const struct sl_table_facts *f)
{
	if (f->rows <= UINT32_MAX || !f->plan->choices.format->join->parts)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"%s: %" PRIu64 " survivors are too many for one file of the format %s (at most "
		"4294967295); set output.limit or output.sample, use another output.format, or load "
		"the files of the batches, which are complete",
		f->list, f->rows, f->plan->choices.format->name);
}

/* Appends bytes to a part. Implements sl_joined_file.put. */
static enum sl_status put(void *context, uint32_t part, const void *bytes, size_t size)
{
	struct sl_table_output *o = (struct sl_table_output *)context;

	if (o->n_parts == 0)
		return o->facts.sink(o->facts.context, bytes, size);
	return sl_file_add(&o->part[part].file, bytes, size);
}

static enum sl_status open_parts(struct sl_table_output *o)
{
	char name[SL_FILE_NAME_BYTES];

	for (uint32_t k = 0; k < o->n_parts; k++) {
		snprintf(name, sizeof(name), "%.220s.0_%" PRIu32, o->facts.list, k);
		SL_TRY(sl_file_begin(o->facts.work, name, &o->part[k].file));
		o->part[k].open = true;
	}
	return SL_OK;
}

static enum sl_status begin(struct sl_table_output *o)
{
	struct sl_arena a = {0};

	SL_TRY(print_config(o));
	set_constants(o);
	sl_row_layout_make(o->facts.plan, &o->layout);
	o->join = (struct sl_joined_file){
		.run = &o->run, .rows = o->facts.rows, .put = put, .context = o};
	lay_out(&a, o);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &o->memory));
	a = (struct sl_arena){.base = o->memory, .size = a.used};
	lay_out(&a, o);
	SL_TRY(open_parts(o));
	return format_of(o)->join->begin(&o->join);
}

static uint32_t parts_of(const struct sl_plan *plan)
{
	const struct sl_format *f = plan->choices.format;
	struct sl_table t = sl_plan_table(plan, 0);

	t = sl_format_table(f, &t);
	return f->join->parts ? f->join->parts(&t) : 0;
}

enum sl_status sl_table_output_begin(
	const struct sl_table_facts *facts, struct sl_table_output **made)
{
	struct sl_table_output *o;
	enum sl_status s;
	void *memory;

	*made = NULL;
	SL_TRY(check_rows(facts));
	SL_TRY(sl_memory_get(SL_HOST, sizeof(*o), &memory));
	o = (struct sl_table_output *)memory;
	memset(o, 0, sizeof(*o));
	o->facts = *facts;
	o->n_parts = parts_of(facts->plan);
	s = begin(o);
	if (s == SL_OK)
		*made = o;
	else
		sl_table_output_close(o);
	return s;
}

/* --- rows ------------------------------------------------------------------------------------- */

enum sl_status sl_table_output_add(struct sl_table_output *o, const uint8_t *rows, uint32_t n)
{
	o->block.n = n;
	sl_row_get(&o->layout, rows, n, &o->block);
	return format_of(o)->join->add(&o->join, &o->block);
}

/* --- the file --------------------------------------------------------------------------------- */

/* Closes the parts and maps them: they have no names from then on. */
static enum sl_status map_parts(struct sl_table_output *o, const uint8_t *at[])
{
	char path[SL_PATH_BYTES];
	enum sl_status s;

	for (uint32_t k = 0; k < o->n_parts; k++) {
		struct part *p = &o->part[k];

		p->open = false; /* a failure removes the file */
		SL_TRY(sl_file_sync(&p->file));
		snprintf(path, sizeof(path), "%.3800s/%.280s", o->facts.work->path, p->file.part);
		s = sl_map_file(path, &p->map);
		sl_file_remove_part(&p->file);
		SL_TRY(s);
		at[k] = (const uint8_t *)p->map.at;
	}
	return SL_OK;
}

static enum sl_status assemble(struct sl_table_output *o)
{
	const struct sl_batch_facts whole = {SL_WHOLE_RUN, 0, o->facts.generated};
	const uint8_t *at[SL_COLUMN_COUNT];
	struct sl_packed packed;
	struct sl_pieces file;

	SL_TRY(map_parts(o, at));
	format_of(o)->join->packed(&o->join, at, &packed);
	SL_TRY(format_of(o)->assemble(&o->run, &whole, &packed, o->image, o->image_bytes, &file));
	for (uint32_t k = 0; k < file.n; k++)
		SL_TRY(o->facts.sink(o->facts.context, file.piece[k].at, file.piece[k].bytes));
	return SL_OK;
}

enum sl_status sl_table_output_end(struct sl_table_output *o)
{
	SL_TRY(format_of(o)->join->end(&o->join));
	SL_TRY(sl_format_check_written(&o->join.written, o->facts.rows));
	return o->n_parts ? assemble(o) : SL_OK;
}

void sl_table_output_close(struct sl_table_output *o)
{
	char why[SL_MESSAGE_BYTES];

	if (!o)
		return;
	memcpy(why, sl_last_error(), sizeof(why));
	for (uint32_t k = 0; k < o->n_parts; k++) {
		sl_unmap(&o->part[k].map);
		if (o->part[k].open)
			sl_file_drop(&o->part[k].file);
	}
	sl_memory_give(SL_HOST, o->memory);
	sl_memory_give(SL_HOST, o->config);
	sl_memory_give(SL_HOST, o);
	sl_set_last_error(why);
}
