/*
 * tables_write.c - writes the tables of all inputs as one file: an MCPL file, or one table.
 *
 * The survey decides what a record of MCPL contains: a weight or PDG code that is equal in all
 * inputs is stated in the header, else each record has it. A table is made as that of
 * output.joined, of blocks of rows; one of no more rows than a block is packed as that of a batch.
 */
#include <math.h>
#include <string.h>

#include "pipeline/convert/convert.h"
#include "stages/formats/mcpl/mcpl.h"

/* Rows that become records together. */
enum { RECORDS_AT_ONCE = 1 << 8 };

/* --- MCPL ------------------------------------------------------------------------------------- */

/* The columns that make up a record of the output file. */
static sl_column_set columns_of_record(const struct sl_conversion *c)
{
	const struct sl_mcpl_facts *facts = &c->facts.mcpl;

	return SL_MCPL_NEEDED | (isnan(facts->energy) ? SL_BIT(SL_COLUMN_energy) : 0) |
	       (facts->flags < SL_COLUMN_COUNT ? SL_BIT(facts->flags) : 0) |
	       ((SL_BIT(SL_COLUMN_pdg) | SL_MCPL_POLARISATION) & c->all.columns);
}

/*
 * An MCPL record has no field that can be left empty, so a missing column refuses the conversion.
 */
static enum sl_status check_record(const struct sl_conversion *c)
{
	sl_column_set missing = columns_of_record(c) & ~c->all.columns;
	char names[SL_NAMES_BYTES];

	if (!missing)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s: cannot be made from these files (they lack %s, which MCPL needs); use %s, or "
		"another format",
		c->job->to, sl_column_names(missing, c->all.label, names),
		missing == SL_BIT(SL_COLUMN_energy)
			? "files in the directory of their run and --set output.mcpl.energy='2 eV'"
			: "a run with these in output.columns");
}

/* Notes what the file loses: columns without a field, and digits that the packed numbers lack. */
static void note_dropped(struct sl_conversion *c)
{
	sl_column_set dropped = c->all.columns & ~columns_of_record(c);
	char names[SL_NAMES_BYTES];

	if (dropped)
		sl_convert_note(c, "dropped: %s (an MCPL record has no field for them)",
			sl_column_names(dropped, c->all.label, names));
	sl_convert_note(c, "rounded: direction, energy and time (MCPL packs them)");
}

/*
 * Starts the file with the header of all records. It is made of a table that has the surveyed values
 * as data, from which the format takes what the header states once for all particles.
 */
static enum sl_status begin_list(struct sl_conversion *c)
{
	const struct sl_file_facts *run = &c->facts;
	const struct sl_table t = sl_survey_table(&c->all, columns_of_record(c));
	const double weight = sl_mcpl_common_weight(&t, &run->mcpl);
	const size_t bytes = sl_mcpl_put_header(NULL, run, &t, weight, c->all.rows, NULL);
	struct sl_mcpl_header h = sl_mcpl_header_of(&t, &run->mcpl, weight);
	SL_CLOSED_BY(sl_host_give) void *header = NULL;

	SL_TRY(check_record(c));
	SL_TRY(sl_mcpl_record_of(&t, &run->mcpl, &c->record));
	note_dropped(c);
	SL_TRY(sl_memory_get(SL_HOST, bytes, &header));
	sl_mcpl_put_header((uint8_t *)header, run, &t, weight, c->all.rows, &c->batch);
	h.particles = c->all.rows;
	return sl_convert_begin_list(c, header, bytes, &h);
}

/* Adds the rows of a table as records. */
static enum sl_status add_records(struct sl_conversion *c, const struct sl_table *t)
{
	uint32_t words[RECORDS_AT_ONCE * SL_MCPL_RECORD_MOST / sizeof(uint32_t)];
	const size_t each = c->record.bytes / sizeof(*words);
	const struct sl_mcpl_rows rows = sl_mcpl_rows_of(t);

	for (uint32_t from = 0, n; from < t->n; from += n) {
		n = t->n - from < RECORDS_AT_ONCE ? t->n - from : (uint32_t)RECORDS_AT_ONCE;
		for (uint32_t i = 0; i < n; i++)
			sl_mcpl_record_of_row(&c->record, &rows, from + i, words + i * each);
		SL_TRY(sl_record_output_add_all(&c->records, (const uint8_t *)words, n));
	}
	return SL_OK;
}

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * struct sl_table counts rows in 32 bits. An MCPL file has no such limit, because its records are
 * made of one block at a time.
 */
static enum sl_status begin_table(struct sl_conversion *c)
{
	if (c->all.rows > UINT32_MAX)
		return sl_fail(SL_USAGE,
			"%lu particles are too many for one table (at most 4294967295); convert "
			"fewer files at a time, or write MCPL",
			c->all.rows);
	SL_TRY(sl_file_begin(&c->dir, c->name, &c->file));
	SL_TRY(sl_table_output_begin(&(struct sl_table_facts){.format = c->format,
					     .run = &c->facts,
					     .batch = c->batch,
					     .columns = sl_survey_table(&c->all, c->all.columns),
					     .rows = c->all.rows,
					     .threads = 1,
					     .packs = true,
					     .work = &c->dir,
					     .list = c->name,
					     .sink = sl_convert_put,
					     .context = c},
		&c->table));
	return SL_OK;
}

/*
 * Copies n items of a column from item `first` on to `to`, from item `at` on. The single item of a
 * constant column is repeated: the output has one per row if another input has other values.
 */
static void copy_items(const struct sl_table_column *to, uint32_t at,
	const struct sl_table_column *c, uint32_t first, uint32_t n)
{
	size_t item = sl_column_facts[c->column].bytes;
	char *out = (char *)to->data + at * item;

	if (!c->constant)
		memcpy(out, (const char *)c->data + first * item, n * item);
	for (size_t i = 0; c->constant && i < n; i++)
		memcpy(out + i * item, c->data, item);
}

/* Adds the rows of a table to the block, which is passed on whenever it is full. */
static enum sl_status add_rows(struct sl_conversion *c, const struct sl_table *t)
{
	struct sl_table *block = sl_table_output_block(c->table);
	const uint32_t room = sl_join_rows(c->all.rows);

	for (uint32_t from = 0, n; from < t->n; from += n) {
		n = room - block->n;
		n = n < t->n - from ? n : t->n - from;
		for (uint32_t k = 0; k < block->n_columns; k++)
			if (!block->column[k].constant)
				copy_items(&block->column[k], block->n,
					sl_table_find(t, block->column[k].column), from, n);
		block->n += n;
		if (block->n == room)
			SL_TRY(sl_table_output_add(c->table, NULL));
	}
	return SL_OK;
}

/* --- both ------------------------------------------------------------------------------------- */

/*
 * Appends the rows of an input to the file. An input that changed since the survey can have other
 * rows and columns.
 */
static enum sl_status append(struct sl_conversion *c, const char *path, const struct sl_table *t)
{
	if (t->n > c->all.rows - c->particles || sl_columns_in(t) != c->all.columns)
		return sl_convert_changed(path);
	c->particles += t->n;
	return c->table ? add_rows(c, t) : add_records(c, t);
}

/* Reads the inputs again. */
static enum sl_status write_rows(struct sl_conversion *c)
{
	SL_TRY(sl_for_each_table(c, append));
	if (c->particles != c->all.rows)
		return sl_convert_changed("an input");
	return c->table && sl_table_output_block(c->table)->n > 0
	               ? sl_table_output_add(c->table, NULL)
	               : SL_OK;
}

/* A failure in the middle leaves no file: the file gets its name when it is complete. */
enum sl_status sl_tables_write(struct sl_conversion *c)
{
	SL_TRY(sl_format_is_mcpl(c->format) ? begin_list(c) : begin_table(c));
	SL_TRY(write_rows(c));
	return sl_convert_end(c);
}
