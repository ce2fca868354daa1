/* tables_scan.h - reads every input of a conversion as a table: first for what they have in common. */
#ifndef SL_PIPELINE_CONVERT_TABLES_SCAN_H
#define SL_PIPELINE_CONVERT_TABLES_SCAN_H

#include "pipeline/convert/mcpl_writer.h"
#include "stages/formats/mcpl/mcpl_read.h"

/* What all inputs are together. Sets of columns: those there are; with values; with several. */
struct sl_convert_survey {
	uint32_t columns, seen, varied;
	uint64_t value[SL_COLUMN_COUNT]; /* the first of each */
	uint64_t rows;
	struct sl_mcpl_lost lost;
};

/* Columns that have one value in all rows of all inputs. */
static inline uint32_t sl_survey_constants(const struct sl_convert_survey *s)
{
	return s->seen & ~s->varied;
}

/* A table in memory. */
struct sl_convert_input {
	struct sl_table table;
	struct sl_mcpl_lost lost;
	void *block;
};

struct sl_convert_tables_job {
	struct sl_converting *c;
	bool of_lists;
	struct sl_convert_survey all;
	struct sl_batch_facts batch;
	struct sl_table made;       /* a table that is made, as far as it is filled */
	struct sl_list_writer list; /* a list that is made */
};

/* Calls each with the table of every input in turn. */
enum sl_status sl_each_table(struct sl_convert_tables_job *j,
	enum sl_status (*each)(struct sl_convert_tables_job *j, const char *path,
		const struct sl_convert_input *in));

/* Adds an input to j->all; all inputs must have the same columns. For sl_each_table(). */
enum sl_status sl_survey_add(
	struct sl_convert_tables_job *j, const char *path, const struct sl_convert_input *in);

/* The names of a set of columns, with commas between them. */
enum { SL_NAMES_BYTES = 256 };
const char *sl_names_of(uint32_t set, char text[SL_NAMES_BYTES]);

/* n items of a column, or so many times its one, to to. */
void sl_copy_items(char *to, const struct sl_table_column *c, uint32_t n);

#endif
