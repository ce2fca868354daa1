/*
 * row_layout.h - a survivor of a format of columns as one record: a row.
 *
 * A row has the columns of the file that are not the same for the whole run, one after another.
 */
#ifndef SL_PIPELINE_OUTPUT_SOURCE_ROW_LAYOUT_H
#define SL_PIPELINE_OUTPUT_SOURCE_ROW_LAYOUT_H

#include "pipeline/plan/plan.h"

struct sl_row_item {
	enum sl_column column;
	uint32_t bytes, at; /* of the value; its offset in a row */
};

struct sl_row_layout {
	uint32_t bytes; /* at least 1 */
	uint32_t n;
	struct sl_row_item item[SL_COLUMN_COUNT];
};

/* All values of a row, if none is constant. */
enum { SL_ROW_MOST = SL_COLUMN_COUNT * sizeof(uint64_t) };

/* The layout of the rows of a plan. */
void sl_row_layout_make(const struct sl_plan *plan, struct sl_row_layout *l);

/* Where the values of each item are in a table. */
struct sl_row_columns {
	const uint8_t *data[SL_COLUMN_COUNT];
	uint32_t step[SL_COLUMN_COUNT]; /* bytes from a row to the next; 0: constant */
};

/* False if the table lacks a column. */
bool sl_row_columns_find(
	const struct sl_row_layout *l, const struct sl_table *t, struct sl_row_columns *c);

/* Copies row i of the table to `to`. */
void sl_row_put(
	const struct sl_row_layout *l, const struct sl_row_columns *c, uint64_t i, uint8_t *to);

/*
 * Copies n rows, one after another, to the columns of t that are not constant, which have their
 * layout.
 */
void sl_row_get(const struct sl_row_layout *l, const uint8_t *rows, uint32_t n, struct sl_table *t);

#endif
