/*
 * tables_to_table.c - joins tables in memory and writes them as one file.
 *
 * One memory block holds the table and the buffers of the format. The layout runs twice: first to
 * measure the block, then to place everything in it.
 */
#include <string.h>

#include "pipeline/convert/convert.h"
#include "stages/particle/digest.h"

/* Lays out the output table for all rows; a column that is constant in all inputs has one item. */
static void lay_out_made(
	struct sl_arena *a, const struct sl_convert_survey *all, struct sl_table *t)
{
	*t = (struct sl_table){.n = (uint32_t)all->rows};
	memcpy(t->label, all->label, sizeof(t->label));
	for (int i = 0; i < SL_COLUMN_COUNT; i++) {
		bool constant = SL_HAS(sl_survey_constants(all), i);

		if (!SL_HAS(all->columns, i))
			continue;
		t->column[t->n_columns++] = (struct sl_table_column){.column = (enum sl_column)i,
			.constant = constant,
			.data = sl_cut_items(
				a, constant ? 1 : all->rows, sl_column_facts[i].bytes)};
	}
}

/*
 * Appends the rows of an input to the output table, which has memory for the inputs as surveyed. A
 * file that changed since can have other rows and columns.
 */
static enum sl_status append(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in)
{
	struct sl_table *t = &j->made;

	if (in->table.n > j->all.rows - t->n || sl_columns_in(&in->table) != j->all.columns)
		return sl_convert_changed(path);
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *to = &t->column[k];
		size_t item = sl_column_facts[to->column].bytes;
		const struct sl_table_column *from = sl_table_find(&in->table, to->column);

		if (to->constant && (from->constant || in->table.n > 0))
			memcpy(to->data, from->data, item);
		else if (!to->constant)
			sl_copy_items((char *)to->data + t->n * item, from, in->table.n);
	}
	t->n += in->table.n;
	return SL_OK;
}

/* The buffers in which the format builds the file. */
struct buffers {
	struct sl_packed packed;
	struct sl_exec x;
	void *image;
	size_t image_bytes;
};

/* Lays out what the format needs to pack and assemble the table, at its largest. */
static void lay_out_buffers(struct sl_arena *a, const struct sl_conversion *c,
	const struct sl_table *t, struct buffers *r)
{
	size_t scratch = c->format->scratch(t, &c->facts);

	c->format->lay_out(a, t, &c->facts, &r->packed);
	r->x = (struct sl_exec){.space = SL_HOST, .scratch = {sl_cut(a, scratch), 0, scratch}};
	r->image_bytes = c->format->image_bytes(t, &c->facts);
	r->image = sl_cut(a, r->image_bytes);
}

/* Writes the pieces in order. The file gets its name at the end, when it is complete. */
static enum sl_status commit(struct sl_conversion *c, const struct sl_pieces *file)
{
	struct sl_file_writer w;

	SL_TRY(sl_convert_check_stop(c));
	SL_TRY(sl_file_begin(&c->dir, c->name, &w));
	for (uint32_t i = 0; i < file->n; i++)
		SL_TRY(sl_file_add(&w, file->piece[i].at, file->piece[i].bytes));
	c->bytes = file->bytes;
	return sl_file_end(&w, c->job->force);
}

/* Digests are computed here, from the rows as they will be read back. */
static enum sl_status make_file(struct sl_convert_tables_job *j, struct buffers *r)
{
	const struct sl_conversion *c = j->c;
	struct sl_packed *p = &r->packed;
	struct sl_pieces file;

	if (j->made.n != j->all.rows)
		return sl_convert_changed("an input");
	sl_digest_table(&j->made);
	SL_TRY(c->format->pack(&r->x, &c->facts, &j->made, p));
	SL_TRY(sl_format_check_written(&p->written, j->all.rows));
	SL_TRY(c->format->assemble(&c->facts, &j->batch, p, r->image, r->image_bytes, &file));
	return commit(j->c, &file);
}

/*
 * struct sl_table counts rows in 32 bits. An MCPL file has no such limit, because tables_to_mcpl.c
 * packs one input at a time.
 */
enum sl_status sl_tables_to_table(struct sl_convert_tables_job *j)
{
	struct sl_arena a = {0};
	struct buffers buffers;
	void *block = NULL;
	enum sl_status s;

	if (j->all.rows > UINT32_MAX)
		return sl_fail(SL_USAGE,
			"%llu particles are too many for one table (at most 4294967295); convert "
			"fewer files at a time, or write MCPL",
			(unsigned long long)j->all.rows);
	for (int i = 0; i < 2; i++) {
		lay_out_made(&a, &j->all, &j->made);
		lay_out_buffers(&a, j->c, &j->made, &buffers);
		if (i == 0) {
			SL_TRY(sl_memory_get(SL_HOST, a.used, &block));
			a = (struct sl_arena){block, 0, a.used};
		}
	}
	j->made.n = 0; /* append() counts the rows that are filled */
	s = sl_for_each_table(j, append);
	if (s == SL_OK)
		s = make_file(j, &buffers);
	sl_memory_give(SL_HOST, block);
	return s;
}
