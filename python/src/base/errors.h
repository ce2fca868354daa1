/*
 * errors.h - a status of the library becomes the Python exception sluice.Error; arguments that the
 * library cannot have raise those of Python.
 */
#ifndef SL_PYTHON_BASE_ERRORS_H
#define SL_PYTHON_BASE_ERRORS_H

#include "python/src/base/python.h"

#include "pipeline/config/reader/reader.h"

/*
 * Raises sluice.Error and returns NULL. reader is NULL, or a configuration whose problems, if it
 * has any, become the data of the exception.
 */
PyObject *sl_py_raise(enum sl_status status, const char *message, struct sl_reader *reader);

/*
 * The text of a str, while the str lives. NULL with an exception: ValueError if a null character is
 * in it.
 */
const char *sl_py_text(PyObject *o);

/*
 * For O& of PyArg_ParseTuple(): an int to a uint64_t. OverflowError if it is negative or has more
 * bits.
 */
int sl_py_count(PyObject *o, void *count);

#endif
