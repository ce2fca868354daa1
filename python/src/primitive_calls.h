/* primitive_calls.h - functions of sluice._native that call primitives (sluice/_primitives.py). */
#ifndef SL_PYTHON_PRIMITIVE_CALLS_H
#define SL_PYTHON_PRIMITIVE_CALLS_H

#include "python/src/base/python.h"

/*
 * backend and device are texts or None; out is an array to write to, or None: a Column is made.
 * stream is None, or the number of a CUDA stream. Arrays of a device stay there.
 *
 * scan(array, inclusive, backend, device, out, stream): the array of sums compact(flags, backend,
 * device, out, stream): (array of indices, number of them that are valid) sort(keys, values or
 * None, begin_bit, end_bit or -1, backend, device, out, values_out, stream): (keys, values)
 * deflate(data, wrapper, level, backend, device, out, stream): bytes, or a Column of a device; with
 * out, their number
 */
PyObject *sl_py_scan(PyObject *module, PyObject *args);
PyObject *sl_py_compact(PyObject *module, PyObject *args);
PyObject *sl_py_sort(PyObject *module, PyObject *args);
PyObject *sl_py_deflate(PyObject *module, PyObject *args);

#endif
