/*
 * memory.h - memory of the library as an object of Python, and the columns that use it.
 *
 * The object is the owner of memory of the host, which it exports by the buffer protocol, or of a
 * block of a device (device_block.h). Columns are objects of sluice/_column.py: arrays of NumPy that
 * keep the object alive, or addresses in a block that the host cannot read.
 */
#ifndef SL_PYTHON_ARRAYS_MEMORY_H
#define SL_PYTHON_ARRAYS_MEMORY_H

#include "python/src/base/python.h"

#include "primitives/base/status.h"
#include "primitives/device/device_block.h"
#include "python/src/arrays/dlpack.h"
#include "stages/particle/particle.h"
#include "stages/particle/table.h"

/* Makes the type sluice._native.Memory. False with an exception. */
bool sl_py_memory_make_type(void);

/*
 * bind(Column, make): the class of columns, and the function that makes one of (memory, offset,
 * type as in NumPy, shape, name, unit).
 */
PyObject *sl_py_bind(PyObject *module, PyObject *args);

/* concat(places): the memory of columns of one device, one after another, in a new block. */
PyObject *sl_py_concat(PyObject *module, PyObject *places);

/* dlpack(place, stream, major): a capsule of DLPack of version 0 or 1 of a column of a device. */
PyObject *sl_py_dlpack(PyObject *module, PyObject *args);

/* The owner of memory of sl_memory_get(SL_HOST), or of a block; takes it over, also on failure. */
PyObject *sl_py_memory_of(void *data, size_t bytes);
PyObject *sl_py_memory_of_block(struct sl_device_block *block);

/* A column of n items at data, in the memory of owner. label: of a named column, else NULL. */
PyObject *sl_py_column_of(PyObject *owner, enum sl_column column,
	const struct sl_column_label *label, const void *data, size_t n);

/* The same for items of the type of an array. column can be SL_COLUMN_COUNT: none. */
PyObject *sl_py_column_like(PyObject *owner, const struct sl_py_array *like, int column,
	const struct sl_column_label *label, const void *data, size_t n);

/* A column that alone uses the memory: takes it over, as sl_py_memory_of() does. */
PyObject *sl_py_column_alone(const struct sl_py_array *like, int column, void *data, size_t n);
PyObject *sl_py_column_of_block(
	const struct sl_py_array *like, int column, struct sl_device_block *block, size_t n);

/* Rows of n doubles, such as an image; takes over data. */
PyObject *sl_py_rows(double *data, size_t rows, size_t n);

/* The type of the items of a column. */
struct sl_py_array sl_py_items_of(enum sl_column column);

/* Whether an object is a column whose memory is in a block; describes it then. */
bool sl_py_block_column(
	PyObject *o, const struct sl_device_block **block, struct sl_py_dlpack_array *d);

/*
 * A copy of a column of a table as n items that the caller frees with sl_memory_give(). A constant
 * column is repeated.
 */
enum sl_status sl_py_copy_items(const struct sl_table_column *c, uint32_t n, void **data);

#endif
