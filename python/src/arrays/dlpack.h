/* dlpack.h - exports the memory of a column by DLPack, versions 0 and 1. */
#ifndef SL_PYTHON_ARRAYS_DLPACK_H
#define SL_PYTHON_ARRAYS_DLPACK_H

#include "python/src/arrays/python.h"

/* Column.__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None) */
PyObject *sl_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords);

/* Column.__dlpack_device__() */
PyObject *sl_py_dlpack_device(PyObject *self, PyObject *none);

#endif
