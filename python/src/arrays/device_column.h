/*
 * device_column.h - columns whose memory is in a block (device_block.h): of a CUDA device, which
 * the host cannot read, or of the emulated device, which it can.
 */
#ifndef SL_PYTHON_ARRAYS_DEVICE_COLUMN_H
#define SL_PYTHON_ARRAYS_DEVICE_COLUMN_H

#include "python/src/base/python.h"

#include "python/src/arrays/column.h"

/*
 * An object that owns a block, for columns in it. It takes over the block, and gives it back if the
 * call fails.
 */
PyObject *sl_py_block_owner(struct sl_device_block *block);

/* A column of n items at data, in the block of owner. */
PyObject *sl_py_column_in(PyObject *owner, enum sl_column column, void *data, size_t n);

/*
 * The same for the first n items of the block, of the type of an array; column as for
 * sl_py_column_of_array(). Takes over the block.
 */
PyObject *sl_py_column_of_block(
	const struct sl_py_array *a, int column, struct sl_device_block *block, size_t n);

/* The column that an object is, if its memory is in a block; else NULL. */
const struct sl_py_column *sl_py_block_column(PyObject *o);

/* Sets an exception if the host cannot read the memory. */
bool sl_py_is_out_of_reach(const struct sl_py_column *c, PyObject *exception);

/*
 * A column with the items of all columns of the list, which are of one kind and on the device of
 * first.
 */
PyObject *sl_py_concat_on_device(PyObject *columns, const struct sl_py_column *first, size_t bytes);

/* Column.to_host(): the column, or a copy of it in memory of the host. */
PyObject *sl_py_to_host(PyObject *self, PyObject *none);

/* Column.__cuda_array_interface__; Column.device: "cpu", or "cuda:0" */
PyObject *sl_py_get_cuda_array_interface(PyObject *self, void *closure);
PyObject *sl_py_get_device(PyObject *self, void *closure);

/*
 * Column.__array__, which numpy.asarray() calls when there is no other interface: of a device it is
 * a method that refuses with TypeError, and columns of the host have none.
 */
PyObject *sl_py_get_array(PyObject *self, void *closure);

#endif
