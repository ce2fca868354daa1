/* errors.c - see base.h. The class itself is written in Python: sluice/_error.py. */
#include "python/src/base/base.h"

#include <string.h>

#include "pipeline/config/reader/reader.h"

/*
 * A problem as (file, line, column, key, text). file is None for an override; line and column are
 * None if the problem has no place in the file.
 */
static PyObject *problem_tuple(const struct sl_reader *r, const struct sl_config_problem *p)
{
	const char *file = p->place.source == 0 ? r->name : NULL;

	if (file && p->place.line > 0)
		return Py_BuildValue("(snnss)", file, (Py_ssize_t)p->place.line,
			(Py_ssize_t)p->place.column, p->key, p->text);
	return Py_BuildValue("(zOOss)", file, Py_None, Py_None, p->key, p->text);
}

/* The problems in the order of the report; empty without a reader. */
static PyObject *problem_list(struct sl_reader *r)
{
	PyObject *list = PyList_New(0);

	if (!list || !r || sl_config_problems(r) == 0)
		return list;
	(void)sl_config_report(r); /* sorts them by place */
	for (size_t i = 0; i < r->n_problems; i++) {
		PyObject *item = problem_tuple(r, &r->problem[i]);

		if (!item || PyList_Append(list, item) < 0) {
			Py_XDECREF(item);
			Py_DECREF(list);
			return NULL;
		}
		Py_DECREF(item);
	}
	return list;
}

const char *sl_py_text(PyObject *o)
{
	Py_ssize_t bytes;
	const char *text = PyUnicode_AsUTF8AndSize(o, &bytes);

	if (!text || strlen(text) == (size_t)bytes)
		return text;
	PyErr_SetString(PyExc_ValueError, "embedded null character; remove it from the text");
	return NULL;
}

int sl_py_count(PyObject *o, void *count)
{
	PyObject *number = PyNumber_Index(o);

	if (number)
		*(uint64_t *)count = PyLong_AsUnsignedLongLong(number);
	if (number && PyErr_Occurred())
		PyErr_Format(PyExc_OverflowError,
			"%R is out of range; use a number from 0 to 18446744073709551615", number);
	Py_XDECREF(number);
	return !PyErr_Occurred();
}

PyObject *sl_py_raise(enum sl_status status, const char *message, struct sl_reader *reader)
{
	PyObject *module = PyImport_ImportModule("sluice._error"), *error = NULL, *made = NULL;
	PyObject *problems = module ? problem_list(reader) : NULL;

	if (problems)
		error = PyObject_GetAttrString(module, "Error");
	if (error)
		made = PyObject_CallFunction(error, "isssO", (int)status, sl_status_name(status),
			sl_status_meaning(status), message, problems);
	if (made)
		PyErr_SetObject(error, made);
	Py_XDECREF(made);
	Py_XDECREF(error);
	Py_XDECREF(problems);
	Py_XDECREF(module);
	return NULL;
}
