/* job_type.h - the type sluice._native.Job: a job (job.h) as an object of Python. */
#ifndef SL_PYTHON_JOB_TYPE_H
#define SL_PYTHON_JOB_TYPE_H

#include "python/src/base/python.h"

#include <stdbool.h>

/* Makes the type. False with an exception. */
bool sl_py_job_type_make(void);

/* start(kind, path, text, sets, inputs, in_memory, keep_all, start, id): a job that works. */
PyObject *sl_py_start(PyObject *module, PyObject *args);

#endif
