/*
 * tables_scan.h - reads every input of a conversion as a table, and surveys their common columns.
 *
 * convert.c scans with sl_survey_add() first; tables_to_mcpl.c and tables_to_table.c scan again and
 * write.
 */
#ifndef SL_PIPELINE_CONVERT_TABLES_SCAN_H
#define SL_PIPELINE_CONVERT_TABLES_SCAN_H

#include "pipeline/convert/common/mcpl_writer.h"
#include "pipeline/convert/runs.h"
#include "stages/formats/mcpl/mcpl_read.h"

/* Summary of all inputs. Sets of columns: present; with at least one value; with several values. */
struct sl_convert_survey {
	sl_column_set columns, seen, varied;
	uint64_t value[SL_COLUMN_COUNT]; /* first value of each column */
	uint64_t rows;
	struct sl_column_label label[SL_NAMED_COLUMNS_MAX]; /* of the named columns */
	struct sl_mcpl_lost lost;
};

/* Columns that have one value in all rows of all inputs. */
static inline sl_column_set sl_survey_constants(const struct sl_convert_survey *s)
{
	return s->seen & ~s->varied;
}

/* A table in memory; block owns its columns. */
struct sl_convert_input {
	struct sl_table table;
	struct sl_mcpl_lost lost;
	void *block;
};

struct sl_convert_tables_job;

/* Processes the table of one input, which is valid until the function returns. */
typedef enum sl_status sl_table_reader(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in);

struct sl_convert_tables_job {
	struct sl_conversion *c;
	const struct sl_runs *runs;   /* of the inputs */
	bool of_lists;                /* the inputs are MCPL files */
	sl_table_reader *each;        /* of the pass in progress, set by sl_for_each_table() */
	struct sl_convert_survey all; /* filled by the first pass, constant in the second */
	struct sl_batch_facts batch;
	struct sl_table made;       /* the output table; n: rows filled so far */
	struct sl_mcpl_writer list; /* the output MCPL file */
};

/* Calls each with the table of every input in order; the table is freed after the call. */
enum sl_status sl_for_each_table(struct sl_convert_tables_job *j, sl_table_reader *each);

/* Adds an input to j->all; all inputs must have the same columns. For sl_for_each_table(). */
sl_table_reader sl_survey_add;

/* The set of the columns of a table. */
sl_column_set sl_columns_in(const struct sl_table *t);

/*
 * Writes the names of a set of columns, separated by commas, to text; returns text. label has those
 * of named columns.
 */
enum { SL_NAMES_BYTES = 256 };
const char *sl_column_names(
	sl_column_set set, const struct sl_column_label *label, char text[SL_NAMES_BYTES]);

/* Copies n items of a column to `to`; the single item of a constant column is repeated n times. */
void sl_copy_items(char *to, const struct sl_table_column *c, uint32_t n);

#endif
