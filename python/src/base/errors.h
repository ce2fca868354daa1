/*
 * errors.h - a status of the library becomes the Python exception sluice.Error.
 */
#ifndef SL_PYTHON_BASE_ERRORS_H
#define SL_PYTHON_BASE_ERRORS_H

#include "python/src/base/python.h"

#include "pipeline/config/reader/reader.h"

/*
 * Raises sluice.Error and returns NULL. reader is NULL, or a configuration whose problems, if it has
 * any, become the data of the exception.
 */
PyObject *sl_py_raise(enum sl_status status, const char *message, struct sl_reader *reader);

#endif
