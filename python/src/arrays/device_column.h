/*
 * device_column.h - columns whose memory is in a block (device_block.h): of a CUDA device, which the host
 * cannot read, or of the emulated device, which it can.
 */
#ifndef SL_PYTHON_ARRAYS_DEVICE_COLUMN_H
#define SL_PYTHON_ARRAYS_DEVICE_COLUMN_H

#include "python/src/base/python.h"

#include "python/src/arrays/column_type.h"

/* Sets an exception if the host cannot read the memory. */
bool sl_py_is_out_of_reach(const struct sl_py_column *c, PyObject *exception);

/* A column with the items of all columns of the list, which are of one kind and on the device of first. */
PyObject *sl_py_concat_on_device(PyObject *columns, const struct sl_py_column *first, size_t bytes);

/* Column.to_host(): the column, or a copy of it in memory of the host. */
PyObject *sl_py_to_host(PyObject *self, PyObject *none);

/* Column.__cuda_array_interface__; Column.device: "cpu", or "cuda:0" */
PyObject *sl_py_get_cuda_array_interface(PyObject *self, void *closure);
PyObject *sl_py_get_device(PyObject *self, void *closure);

/*
 * Column.__array__, which numpy.asarray() looks for when there is no other interface: of a device it
 * refuses with TypeError, and columns of the host have none.
 */
PyObject *sl_py_get_array(PyObject *self, void *closure);

#endif
