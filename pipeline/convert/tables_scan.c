/*
 * tables_scan.c - reads the inputs of a conversion one at a time and surveys their columns.
 *
 * The survey finds columns with one value in all inputs. Such a column is stored once in the
 * output, whether an input stored it once or in every row.
 */
#include "pipeline/convert/convert.h"

#include <string.h>

#include "pipeline/text/text.h"
#include "stages/formats/formats.h"

/*
 * Marks weights and PDG codes that are equal in all rows as constant. MCPL states such a value once
 * in its header, but only openPMD and MCPL inputs say that a column is constant.
 */
static void find_one_value(struct sl_table *t)
{
	for (uint32_t k = 0; k < t->n_columns; k++) {
		struct sl_table_column *c = &t->column[k];
		const char *items = (const char *)c->data;
		size_t item = sl_column_facts[c->column].bytes;

		if (SL_HAS(SL_MCPL_STATED_ONCE, c->column) && t->n > 0 && !c->constant)
			c->constant = memcmp(items, items + item, (t->n - 1) * item) == 0;
	}
}

/* Reads a mapped file. A run of a later version can have files of a format that is unknown here. */
static enum sl_status read_table(struct sl_conversion *c, const char *path,
	const struct sl_map *file, struct sl_survivors *s)
{
	const struct sl_format *format = sl_format_of(path);
	size_t used;

	s->table.list = &c->lost;
	if (c->of_lists)
		return sl_add_context(sl_format_load(sl_mcpl_read, file->at, file->bytes, &s->table,
					      &s->block, &used),
			"%s", path);
	return format ? sl_add_context(
				sl_survivors_of(format, file->at, file->bytes, 0, s), "%s", path)
	              : sl_survivors_read_columns(path, NULL, s);
}

/* Reads an input and passes its table on. */
static enum sl_status read_input(
	struct sl_conversion *c, const char *path, const struct sl_map *file)
{
	SL_CLOSED_BY(sl_survivors_free) struct sl_survivors in = {.block = NULL};

	SL_TRY(read_table(c, path, file, &in));
	sl_runs_shift_ids(&c->runs, path, &in.table);
	find_one_value(&in.table);
	return c->each(c, path, &in.table);
}

enum sl_status sl_for_each_table(struct sl_conversion *c, sl_table_reader *each)
{
	c->each = each;
	return sl_convert_for_each(c, read_input);
}

/* In the order of columns.def. Names beyond SL_NAMES_BYTES are cut. */
const char *sl_column_names(
	sl_column_set set, const struct sl_column_label *label, char text[SL_NAMES_BYTES])
{
	text[0] = '\0';
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(set, i))
			sl_append(text, SL_NAMES_BYTES, "%s%s", *text ? ", " : "",
				sl_label_name(label, (enum sl_column)i));
	return text;
}

/* Fails unless the named columns of an input are those of the first input. */
static enum sl_status same_labels(
	const struct sl_convert_survey *all, const struct sl_table *t, const char *path)
{
	for (int i = 0; i < SL_NAMED_COLUMNS_MAX; i++) {
		const struct sl_column_label *a = &all->label[i], *b = &t->label[i];

		if (strcmp(a->name, b->name) != 0 || a->unit != b->unit)
			return sl_fail(SL_BAD_INPUT,
				"%s: the file has a column %s (%s), and the first file a column %s "
				"(%s) in its place (all inputs must have the same columns); "
				"convert it separately",
				path, b->name, sl_units[b->unit].text, a->name,
				sl_units[a->unit].text);
	}
	return SL_OK;
}

/* Fails unless an input has the columns of the first input. */
static enum sl_status same_columns(
	const struct sl_convert_survey *all, const struct sl_table *t, const char *path)
{
	sl_column_set columns = sl_columns_in(t);
	sl_column_set missing = all->columns & ~columns, more = columns & ~all->columns;
	char names[SL_NAMES_BYTES];

	if (!missing && !more)
		return same_labels(all, t, path);
	return sl_fail(SL_BAD_INPUT,
		"%s: the file has %s%s, unlike the first file (all inputs must have the same columns); "
		"convert it separately",
		path, missing ? "no " : "the additional columns ",
		sl_column_names(missing ? missing : more, missing ? all->label : t->label, names));
}

/* Records the first value of a column and whether any value differs from it. */
static void record_values(
	struct sl_convert_survey *all, const struct sl_table_column *c, uint32_t rows)
{
	sl_column_set bit = SL_BIT(c->column);
	uint64_t value = 0; /* the bits of the first item, in the low bytes */

	if (rows == 0 && !c->constant)
		return;
	memcpy(&value, c->data, sl_column_facts[c->column].bytes);
	if (!c->constant || (SL_HAS(all->seen, c->column) && value != all->value[c->column]))
		all->varied |= bit;
	all->seen |= bit;
	all->value[c->column] = value;
}

/* Bit i is column i of columns.def. */
sl_column_set sl_columns_in(const struct sl_table *t)
{
	sl_column_set columns = 0;

	for (uint32_t k = 0; k < t->n_columns; k++)
		columns |= SL_BIT(t->column[k].column);
	return columns;
}

/* The first input determines the columns; every other input is compared with the one before it. */
enum sl_status sl_survey_add(struct sl_conversion *c, const char *path, const struct sl_table *t)
{
	struct sl_convert_survey *all = &c->all;

	for (uint32_t k = 0; k < t->n_columns; k++)
		record_values(all, &t->column[k], t->n);
	if (c->files++ > 0)
		SL_TRY(same_columns(all, t, path));
	all->columns = sl_columns_in(t);
	memcpy(all->label, t->label, sizeof(all->label));
	all->rows += t->n;
	all->lost.digits |= c->lost.digits;
	all->lost.comments += c->lost.comments;
	all->lost.blobs += c->lost.blobs;
	if (c->lost.recovered)
		sl_convert_note_recovered(c, path, t->n);
	if (c->lost.trailing)
		sl_convert_note_trailing(c, path);
	return SL_OK;
}

struct sl_table sl_survey_table(const struct sl_convert_survey *s, sl_column_set set)
{
	struct sl_table t = {.n = 0};

	memcpy(t.label, s->label, sizeof(t.label));
	for (int i = 0; i < SL_COLUMN_COUNT; i++)
		if (SL_HAS(set, i))
			t.column[t.n_columns++] =
				(struct sl_table_column){.column = (enum sl_column)i,
					.constant = SL_HAS(s->seen & ~s->varied, i),
					.data = (void *)(uintptr_t)&s->value[i]};
	return t;
}
