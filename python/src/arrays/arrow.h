/*
 * arrow.h - exports columns by the C data interface of Arrow, without a copy: as capsules of the
 * Arrow PyCapsule interface.
 *
 * A consumer moves the struct out of its capsule and calls its release callback when it needs the
 * memory no longer; a capsule that nobody consumed does so itself. Release callbacks can be called
 * from any thread.
 */
#ifndef SL_PYTHON_ARRAYS_ARROW_H
#define SL_PYTHON_ARRAYS_ARROW_H

#include "python/src/base/python.h"

/* Column.__arrow_c_schema__(), Column.__arrow_c_array__(requested_schema=None) */
PyObject *sl_py_column_arrow_schema(PyObject *self, PyObject *none);
PyObject *sl_py_column_arrow_array(PyObject *self, PyObject *args);

/*
 * arrow_schema(fields): of a struct with these fields, a list of (name, type as in NumPy, unit).
 * arrow_array(n, columns): a struct of n rows, from a list of arrays with the buffer protocol.
 * arrow_stream(fields, rows): structs; rows is an iterator over (n, columns).
 */
PyObject *sl_py_arrow_schema(PyObject *module, PyObject *fields);
PyObject *sl_py_arrow_array(PyObject *module, PyObject *args);
PyObject *sl_py_arrow_stream(PyObject *module, PyObject *args);

#endif
