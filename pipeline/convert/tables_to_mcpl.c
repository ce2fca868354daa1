/*
 * tables_to_mcpl.c - writes tables as one MCPL file: one header, then the records of each input.
 *
 * The layout of a record follows from the survey: a weight or PDG code that is equal in all inputs
 * is stated in the header, else each record has it. Each input is packed by the MCPL format itself.
 */
#include <math.h>
#include <string.h>

#include "pipeline/convert/convert.h"
#include "stages/formats/mcpl/mcpl.h"
#include "stages/formats/mcpl/mcpl_head.h"
#include "stages/formats/mcpl/mcpl_header.h"

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

/*
 * Reduces *t to the columns of a record. A column that is constant in this input but not in all
 * inputs is expanded into memory from a. If a only measures, the expanded column has no data.
 */
static void choose(const struct sl_convert_tables_job *j, struct sl_arena *a, struct sl_table *t)
{
	sl_column_set set = columns_of_record(j), constants = sl_survey_constants(&j->all);
	uint32_t n = 0;

	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column c = t->column[k];

		if (!SL_HAS(set, c.column))
			continue;
		if (c.constant && !SL_HAS(constants, c.column)) {
			c.constant = false;
			c.data = sl_cut_items(a, t->n, sl_column_facts[c.column].bytes);
			if (c.data)
				sl_copy_items(&c, 0, &t->column[k], 0, t->n);
		}
		t->column[n++] = c;
	}
	t->n_columns = n;
}

/* Packs the rows of an input as uncompressed records and passes them to the writer. */
static enum sl_status add_records(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in)
{
	const struct sl_file_facts *facts = &j->c->facts;
	struct sl_exec x = {.space = SL_HOST};
	struct sl_arena a = {0};
	struct sl_packed p;
	struct sl_table t;
	enum sl_status s;
	void *block = NULL;

	/* the first pass only measures; both passes lay out the same memory */
	for (int i = 0; i < 2; i++) {
		t = in->table;
		choose(j, &a, &t);
		sl_format_mcpl.lay_out(&a, &t, facts, &p);
		if (i == 0) {
			SL_TRY(sl_memory_get(SL_HOST, a.used, &block));
			a = (struct sl_arena){block, 0, a.used};
		}
	}
	s = sl_add_context(sl_format_mcpl.pack(&x, facts, &t, &p), "%s", path);
	if (s == SL_OK)
		s = sl_record_output_add_all(&j->records, p.bytes, t.n);
	j->c->particles += t.n;
	sl_memory_give(SL_HOST, block);
	return s;
}

/*
 * Starts the file with the header of all records. Its table has the surveyed values as data, from
 * which the format takes a weight and a PDG code that the header states once for all particles.
 */
static enum sl_status begin_list(struct sl_convert_tables_job *j)
{
	struct sl_conversion *c = j->c;
	const struct sl_mcpl_facts facts = sl_mcpl_facts_of(&c->facts);
	const struct sl_table t = sl_survey_table(&j->all, columns_of_record(j));
	struct sl_mcpl_header h;
	double weight;
	enum sl_status s;
	void *header;
	size_t bytes;

	weight = sl_mcpl_common_weight(&t, &facts);
	bytes = sl_mcpl_put_list(NULL, &c->facts, &t, weight, j->all.rows, NULL);
	SL_TRY(sl_memory_get(SL_HOST, bytes, &header));
	sl_mcpl_put_list((uint8_t *)header, &c->facts, &t, weight, j->all.rows, &j->batch);
	h = sl_mcpl_header_of(&t, &facts, weight);
	h.particles = j->all.rows;
	s = sl_convert_begin_list(c, header, bytes, &h, &j->records);
	sl_memory_give(SL_HOST, header);
	return s;
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

/* A failure in the middle leaves no file: the writer removes what it has written. */
enum sl_status sl_tables_to_mcpl(struct sl_convert_tables_job *j)
{
	enum sl_status s;

	SL_TRY(check_record(j));
	note_dropped(j);
	s = begin_list(j);
	if (s == SL_OK)
		s = sl_for_each_table(j, add_records);
	return sl_convert_end_list(j->c, s, &j->records);
}
