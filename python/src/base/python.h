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

#include "primitives/base/threads.h"

/*
 * While a thread works in the library, without the lock of the interpreter, it has the locale C.
 * Code in Python, which runs with the lock, has that of the program.
 */
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS                               \
	{                                                    \
		PyThreadState *saved_ = PyEval_SaveThread(); \
		locale_t locale_ = sl_plain_locale();
#define Py_END_ALLOW_THREADS          \
	uselocale(locale_);           \
	PyEval_RestoreThread(saved_); \
	}

#endif
