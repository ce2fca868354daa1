/* device_filter_call.h - filter() of list_calls.h on columns in the memory of one device. */
#ifndef SL_PYTHON_DEVICE_FILTER_CALL_H
#define SL_PYTHON_DEVICE_FILTER_CALL_H

#include "python/src/base/python.h"

#include "python/src/primitives/device_input.h"

/*
 * columns: a dict; where and number: of the first array. The result is that of sl_py_filter_call().
 */
PyObject *sl_py_filter_on_device(
	const char *text, bool all, PyObject *columns, enum sl_py_where where, int number);

#endif
