/*
 * tables_write.c - writes the tables of all inputs as one file: an MCPL file, or one table.
 *
 * Rows are collected in blocks. The survey decides what a record of MCPL contains: a weight or PDG
 * code that is equal in all inputs is stated in the header, else each record has it. A table is
 * made as that of output.joined; one of no more rows than a block is packed as that of a batch.
 */
#include <math.h>
#include <string.h>

#include "pipeline/convert/convert.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_header.h"

/* Rows that become records together: they stay in the cache until then. */
enum { RECORDS_AT_ONCE = 1 << 14 };

/* --- MCPL ------------------------------------------------------------------------------------- */

/* The columns that make up a record of the output file. */
static sl_column_set columns_of_record(const struct sl_convert_tables_job *j)
{
	const struct sl_mcpl_facts facts = sl_mcpl_facts_of(&j->c->facts);

	return SL_MCPL_NEEDED | (isnan(facts.energy) ? SL_BIT(SL_COLUMN_energy) : 0) |
	       (facts.flags < SL_COLUMN_COUNT ? SL_BIT(facts.flags) : 0) |
	       ((SL_BIT(SL_COLUMN_pdg) | SL_MCPL_POLARISATION) & j->all.columns);
}

/*
 * An MCPL record has no field that can be left empty, so a missing column refuses the conversion.
 */
static enum sl_status check_record(const struct sl_convert_tables_job *j)
{
	sl_column_set missing = columns_of_record(j) & ~j->all.columns;
	char names[SL_NAMES_BYTES];

	if (!missing)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT,
		"%s: cannot be made from these files (they lack %s, which MCPL needs); use %s, or "
		"another format",
		j->c->job->to, sl_column_names(missing, j->all.label, names),
		missing == SL_BIT(SL_COLUMN_energy)
			? "files in the directory of their run and --set output.mcpl.energy='2 eV'"
			: "a run with these in output.columns");
}

/* Notes what the file loses: columns without a field, and digits that the packed numbers lack. */
static void note_dropped(struct sl_convert_tables_job *j)
{
	sl_column_set dropped = j->all.columns & ~columns_of_record(j);
	char names[SL_NAMES_BYTES];

	if (dropped)
		sl_convert_note(j->c, "dropped: %s (an MCPL record has no field for them)",
			sl_column_names(dropped, j->all.label, names));
	sl_convert_note(j->c, "rounded: direction, energy and time (MCPL packs them)");
}

/*
 * Cuts the header, a block and its records. The table that the header is made of has the surveyed
 * values as data, from which the format takes what the header states once for all particles.
 */
static uint8_t *lay_out(struct sl_arena *a, struct sl_convert_tables_job *j, size_t header_bytes)
{
	uint8_t *header = (uint8_t *)sl_cut(a, header_bytes);
	struct sl_table *t = &j->rows;

	*t = sl_survey_table(&j->all, columns_of_record(j));
	t->n = j->all.rows < RECORDS_AT_ONCE ? (uint32_t)j->all.rows : RECORDS_AT_ONCE;
	j->room = t->n;
	for (uint32_t k = 0; k < t->n_columns; k++)
		if (!t->column[k].constant)
			t->column[k].data =
				sl_cut_items(a, t->n, sl_facts_of(&t->column[k])->bytes);
	sl_format_mcpl.lay_out(a, t, &j->c->facts, &j->packed);
	t->n = 0;
	j->block = t;
	return header;
}

/* Starts the file with the header of all records. */
static enum sl_status begin_list(struct sl_convert_tables_job *j)
{
	const struct sl_file_facts *run = &j->c->facts;
	const struct sl_mcpl_facts facts = sl_mcpl_facts_of(run);
	const struct sl_table t = sl_survey_table(&j->all, columns_of_record(j));
	const double weight = sl_mcpl_common_weight(&t, &facts);
	const size_t bytes = sl_mcpl_put_list(NULL, run, &t, weight, j->all.rows, NULL);
	struct sl_mcpl_header h = sl_mcpl_header_of(&t, &facts, weight);
	struct sl_arena a = {0};
	uint8_t *header;

	SL_TRY(check_record(j));
	note_dropped(j);
	lay_out(&a, j, bytes);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &j->memory));
	a = (struct sl_arena){j->memory, 0, a.used};
	header = lay_out(&a, j, bytes);
	sl_mcpl_put_list(header, run, &t, weight, j->all.rows, &j->batch);
	h.particles = j->all.rows;
	return sl_convert_begin_list(j->c, header, bytes, &h, &j->records);
}

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * struct sl_table counts rows in 32 bits. An MCPL file has no such limit, because its records are
 * made of one block at a time.
 */
static enum sl_status begin_table(struct sl_convert_tables_job *j)
{
	struct sl_conversion *c = j->c;

	if (j->all.rows > UINT32_MAX)
		return sl_fail(SL_USAGE,
			"%llu particles are too many for one table (at most 4294967295); convert "
			"fewer files at a time, or write MCPL",
			(unsigned long long)j->all.rows);
	SL_TRY(sl_file_begin(&c->dir, c->name, &c->file));
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
	j->block = sl_table_output_block(j->table);
	j->room = sl_join_rows(j->all.rows);
	return SL_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Writes the rows of the block, which is full or the last one. */
static enum sl_status add_block(struct sl_convert_tables_job *j)
{
	struct sl_exec x = {.space = SL_HOST};

	if (j->table)
		return sl_table_output_add(j->table, NULL);
	SL_TRY(sl_format_mcpl.pack(&x, &j->c->facts, j->block, &j->packed));
	SL_TRY(sl_record_output_add_all(&j->records, j->packed.bytes, j->block->n));
	j->block->n = 0;
	return SL_OK;
}

/*
 * Appends the rows of an input to the file. An input that changed since the survey can have other
 * rows and columns.
 */
static enum sl_status append(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in)
{
	struct sl_table *block = j->block;

	if (in->table.n > j->all.rows - j->c->particles ||
		sl_columns_in(&in->table) != j->all.columns)
		return sl_convert_changed(path);
	j->c->particles += in->table.n;
	for (uint32_t from = 0, n; from < in->table.n; from += n) {
		n = j->room - block->n;
		n = n < in->table.n - from ? n : in->table.n - from;
		for (uint32_t k = 0; k < block->n_columns; k++)
			if (!block->column[k].constant)
				sl_copy_items(&block->column[k], block->n,
					sl_table_find(&in->table, block->column[k].column), from,
					n);
		block->n += n;
		if (block->n == j->room)
			SL_TRY(add_block(j));
	}
	return SL_OK;
}

/* Reads the inputs again. */
static enum sl_status write_rows(struct sl_convert_tables_job *j)
{
	SL_TRY(sl_for_each_table(j, append));
	if (j->c->particles != j->all.rows)
		return sl_convert_changed("an input");
	if (j->block->n > 0)
		SL_TRY(add_block(j));
	return j->table ? sl_table_output_end(j->table) : SL_OK;
}

/* A failure in the middle leaves no file: the file gets its name when it is complete. */
enum sl_status sl_tables_write(struct sl_convert_tables_job *j)
{
	enum sl_status s = sl_format_is_mcpl(j->c->format) ? begin_list(j) : begin_table(j);

	if (s == SL_OK)
		s = write_rows(j);
	sl_table_output_close(j->table);
	s = sl_convert_end(j->c, s, &j->records);
	sl_memory_give(SL_HOST, j->memory);
	return s;
}
