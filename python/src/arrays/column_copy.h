/* column_copy.h - copies of columns: of tables, of several columns as one, and as pickles. */
#ifndef SL_PYTHON_ARRAYS_COLUMN_COPY_H
#define SL_PYTHON_ARRAYS_COLUMN_COPY_H

#include "python/src/arrays/column.h"

/* concat(columns): one column with the items of all; they must be of one kind. */
PyObject *sl_py_concat(PyObject *module, PyObject *columns);

/*
 * The pickle of a column: a call of column(type, column, name, unit, shape, bytes). Refuses memory
 * of a device.
 */
PyObject *sl_py_column_reduce(PyObject *self, PyObject *none);
/*
 * column(type, column, name, unit, shape, bytes): makes the column again. ValueError if they do not
 * belong together.
 */
PyObject *sl_py_column_restore(PyObject *module, PyObject *arguments);

/*
 * A copy of a column of a table as n items that the caller frees with sl_memory_give(). A constant
 * column is repeated.
 */
enum sl_status sl_py_copy_items(const struct sl_table_column *c, uint32_t n, void **data);

#endif
