/*
 * tables_to_table.c - joins tables into one file, as output.joined does: block by block.
 *
 * A file that has no more rows than a block is packed as that of a batch.
 */
#include "pipeline/convert/convert.h"

/*
 * Appends the rows of an input to the file. An input that changed since the survey can have other
 * rows and columns.
 */
static enum sl_status append(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in)
{
	struct sl_table *block = sl_table_output_block(j->table);

	if (in->table.n > j->all.rows - j->rows || sl_columns_in(&in->table) != j->all.columns)
		return sl_convert_changed(path);
	j->rows += in->table.n;
	for (uint32_t from = 0, n; from < in->table.n; from += n) {
		n = sl_join_rows(j->all.rows) - block->n;
		n = n < in->table.n - from ? n : in->table.n - from;
		for (uint32_t k = 0; k < block->n_columns; k++)
			if (!block->column[k].constant)
				sl_copy_items(&block->column[k], block->n,
					sl_table_find(&in->table, block->column[k].column), from,
					n);
		block->n += n;
		if (block->n == SL_JOIN_ROWS)
			SL_TRY(sl_table_output_add(j->table, NULL));
	}
	return SL_OK;
}

/* Reads the inputs again. The file gets its name at the end, when it is complete. */
static enum sl_status make_file(struct sl_convert_tables_job *j)
{
	SL_TRY(sl_for_each_table(j, append));
	if (j->rows != j->all.rows)
		return sl_convert_changed("an input");
	if (sl_table_output_block(j->table)->n > 0)
		SL_TRY(sl_table_output_add(j->table, NULL));
	SL_TRY(sl_table_output_end(j->table));
	return sl_convert_end(j->c);
}

/*
 * struct sl_table counts rows in 32 bits. An MCPL file has no such limit, because tables_to_mcpl.c
 * packs one input at a time.
 */
enum sl_status sl_tables_to_table(struct sl_convert_tables_job *j)
{
	struct sl_conversion *c = j->c;
	enum sl_status s;

	if (j->all.rows > UINT32_MAX)
		return sl_fail(SL_USAGE,
			"%llu particles are too many for one table (at most 4294967295); convert "
			"fewer files at a time, or write MCPL",
			(unsigned long long)j->all.rows);
	SL_TRY(sl_convert_begin(c));
	SL_TRY(sl_table_output_begin(&(struct sl_table_facts){.format = c->format,
					     .run = &c->facts,
					     .batch = j->batch,
					     .columns = sl_survey_table(&j->all, j->all.columns),
					     .rows = j->all.rows,
					     .threads = 1,
					     .packs = true,
					     .work = &c->dir,
					     .list = c->name,
					     .sink = sl_convert_put,
					     .context = c},
		&j->table));
	s = make_file(j);
	sl_table_output_close(j->table);
	return s;
}
