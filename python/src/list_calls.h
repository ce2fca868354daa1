/* list_calls.h - functions of sluice._native on particle lists (sluice/_lists.py). */
#ifndef SL_PYTHON_LIST_CALLS_H
#define SL_PYTHON_LIST_CALLS_H

#include "python/src/base/python.h"

/* write_mcpl(path, {field: array or number}, single, comments, force) */
PyObject *sl_py_write_mcpl(PyObject *module, PyObject *args);

/*
 * filter(text, all, {column: array or number}, device): (n, index, {column: Column}) of the
 * particles that the keys keep (unless all) and key of the configuration text select. None instead
 * of a Column: its type is that of no Column. Columns of a device stay there; device: None, or
 * where they are.
 */
PyObject *sl_py_filter_call(PyObject *module, PyObject *args);

#endif
