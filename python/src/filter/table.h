/*
 * table.h - arrays as columns of particles: the values that a run would have read from a list.
 *
 * A value has the type of its column: real numbers are rounded to single precision, integers must
 * be in range.
 */
#ifndef SL_PYTHON_FILTER_TABLE_H
#define SL_PYTHON_FILTER_TABLE_H

#include "primitives/base/status.h"
#include "python/src/arrays/array.h"
#include "stages/particle/particle.h"

struct sl_py_table {
	uint32_t n;                                 /* particles */
	struct sl_py_array column[SL_COLUMN_COUNT]; /* kind 0: the table does not have it */
	bool (*stop)(void *ctx);                    /* struct sl_py_blocks */
};

static inline bool sl_py_table_has(const struct sl_py_table *t, int column)
{
	return t->column[column].kind != 0;
}

/* The largest number of a column of integers; 2^64 where that is not reached. */
double sl_py_most_whole(int column);

/* Fails because item i of a column has a value that the column cannot hold. */
enum sl_status sl_py_table_refuse(int column, size_t i, double value);

/* Checks the types and sizes of all columns, and sets t->n. */
enum sl_status sl_py_table_check(struct sl_py_table *t);

/*
 * The values of particles from .. from + n - 1 as doubles, as sl_program_value() has them. A
 * missing id is the number of the row. SL_USAGE if a number does not fit in the column.
 */
enum sl_status sl_py_table_load(
	const struct sl_py_table *t, int column, size_t from, uint32_t n, double *to);

/* Sets one column of *p to that of particle i. */
enum sl_status sl_py_table_get(
	const struct sl_py_table *t, int column, size_t i, struct sl_particle *p);

#endif
