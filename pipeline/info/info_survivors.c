/*
 * info_survivors.c - reads survivor files one at a time and adds up their columns.
 *
 * Numbers have the units in which files store the columns, which are the first ones of sluice list.
 * Columns are weighted by the column weight; the weight itself and the id are not. Without a column
 * weight each particle counts once.
 */
#include "pipeline/info/info_survivors.h"

#include <inttypes.h>

#include "pipeline/info/type_table.h"
#include "pipeline/info/weighted_stats.h"
#include "pipeline/results/survivor_file.h"

/* What has been added up of all files read so far. */
struct survey {
	uint64_t head; /* rows still to be printed */
	bool headed;   /* the names above these rows are printed */
	struct sl_weighted_stats stats[SL_COLUMN_COUNT];
	struct sl_type_table types;
};

/* The value of a row; a constant column has one item for all rows. */
static double value_of(const struct sl_table_column *c, uint32_t row)
{
	size_t at = c->constant ? 0 : row * (size_t)sl_facts_of(c)->bytes;

	return sl_column_value(c->column, (const char *)c->data + at);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Whole numbers are printed with all digits. */
static void print_value(const struct sl_table_column *c, uint32_t row, FILE *out)
{
	bool real = sl_facts_of(c)->type == SL_TYPE_F32;

	fprintf(out, real ? " %13.9g" : " %13.0f", value_of(c, row));
}

/* Prints the first rows of a table, after a line with the names of the columns. */
static void print_head(struct survey *all, const struct sl_table *t, FILE *out)
{
	uint32_t rows = t->n < all->head ? t->n : (uint32_t)all->head;

	for (uint32_t k = 0; rows > 0 && !all->headed && k < t->n_columns; k++)
		fprintf(out, " %13s%s", sl_table_name(t, k), k + 1 < t->n_columns ? "" : "\n");
	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t k = 0; k < t->n_columns; k++)
			print_value(&t->column[k], row, out);
		fputc('\n', out);
	}
	all->headed |= rows > 0;
	all->head -= rows;
}

/* --- columns ---------------------------------------------------------------------------------- */

static void add_table(struct survey *all, const struct sl_table *t)
{
	const struct sl_table_column *weights = sl_table_find(t, SL_COLUMN_weight),
				     *codes = sl_table_find(t, SL_COLUMN_pdg),
				     *energies = sl_table_find(t, SL_COLUMN_energy);

	for (uint32_t k = 0; k < t->n_columns; k++) {
		const struct sl_table_column *c = &t->column[k];
		bool weighted = weights && c != weights && c->column != SL_COLUMN_id;

		for (uint32_t row = 0; row < t->n; row++)
			sl_weighted_stats_add(&all->stats[c->column], value_of(c, row),
				weighted ? value_of(weights, row) : 1);
	}
	for (uint32_t row = 0; codes && row < t->n; row++)
		sl_type_table_add(&all->types, (int32_t)value_of(codes, row),
			weights ? value_of(weights, row) : 1,
			energies ? value_of(energies, row) : 0);
}

static void print_names(const char *last, FILE *out)
{
	fprintf(out, "%-12s %-4s %-4s", "column", "type", "unit");
	sl_weighted_stats_print_names(out);
	fprintf(out, "%s\n", last);
}

/* Columns whose numbers are names. */
#define CODES                                                                         \
	(SL_BIT(SL_COLUMN_id) | SL_BIT(SL_COLUMN_pdg) | SL_BIT(SL_COLUMN_userflags) | \
		SL_BIT(SL_COLUMN_pixel) | SL_BIT(SL_COLUMN_fate))

/* Prints the facts and the statistics of a column, without an end of line. */
static void print_column(const struct survey *all, const struct sl_table *t, uint32_t k, FILE *out)
{
	static const char *const type_names[] = {"f32", "u32", "u64", "u8", "i32"};
	const struct sl_table_column *c = &t->column[k];

	fprintf(out, "%-12s %-4s %-4s", sl_table_name(t, k), type_names[sl_facts_of(c)->type],
		sl_units[sl_table_unit(t, k)].text);
	sl_weighted_stats_print(&all->stats[c->column], SL_HAS(CODES, c->column), out);
}

/*
 * The digests are those of the values as a reader gets them, so they can be compared with run.json and
 * with another format of the same batch, if that format does not round.
 */
enum sl_status sl_info_survivors(const char *path, uint64_t head, FILE *out)
{
	struct survey all = {.head = head};
	struct sl_survivors s;

	SL_TRY(sl_survivors_read_path(path, &s));
	fprintf(out, "%s: %s, %zu bytes, %u survivors, %.2f bytes each\n", path, s.format->name,
		s.file_bytes, s.table.n, s.table.n ? (double)s.file_bytes / s.table.n : 0);
	print_head(&all, &s.table, out);
	add_table(&all, &s.table);
	print_names("  digest", out);
	for (uint32_t k = 0; k < s.table.n_columns; k++) {
		print_column(&all, &s.table, k, out);
		fprintf(out, "  %016" PRIx64 "%s\n", s.table.column[k].digest,
			s.table.column[k].constant ? "  constant" : "");
	}
	sl_type_table_print(&all.types, out);
	sl_survivors_free(&s);
	return SL_OK;
}

/* All files of a run have the same columns: those of the last file are printed. */
enum sl_status sl_info_all_survivors(
	const struct sl_dir *dir, const struct sl_manifest *m, uint64_t head, FILE *out)
{
	struct survey all = {.head = head};
	struct sl_table last = {0};

	for (size_t i = 0; i < m->n; i++) {
		struct sl_survivors s;

		SL_TRY(sl_add_context(
			sl_survivors_read(dir, m->line[i].file, &s), "%s", dir->path));
		print_head(&all, &s.table, out);
		add_table(&all, &s.table);
		last = s.table;
		sl_survivors_free(&s);
	}
	if (m->n > 0)
		print_names("", out);
	for (uint32_t k = 0; k < last.n_columns; k++) {
		print_column(&all, &last, k, out);
		fputc('\n', out);
	}
	sl_type_table_print(&all.types, out);
	return SL_OK;
}
