/*
 * python.h - the C interface of Python in its stable form (abi3): one build serves CPython 3.11 and
 * newer. 3.11 is the first version whose stable interface has the buffer protocol.
 *
 * Include it first: Python.h defines feature macros of the C library.
 */
#ifndef SL_PYTHON_BASE_PYTHON_H
#define SL_PYTHON_BASE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#endif
