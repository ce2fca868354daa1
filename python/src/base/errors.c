/* errors.c - see base.h. The class itself is written in Python: sluice/_error.py. */
#include "python/src/base/base.h"

#include <stdlib.h>
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

void sl_py_append(PyObject **list, PyObject *item)
{
	if (*list && (!item || PyList_Append(*list, item) < 0))
		Py_CLEAR(*list);
	Py_XDECREF(item);
}

bool sl_py_put(PyObject *dict, const char *key, PyObject *item)
{
	bool put = item && PyDict_SetItemString(dict, key, item) == 0;

	Py_XDECREF(item);
	return put;
}

/* The problems in the order of the report; empty without a reader. */
static PyObject *problem_list(struct sl_reader *r)
{
	PyObject *list = PyList_New(0);

	if (r)
		(void)sl_config_report(r); /* sorts them by place */
	for (size_t i = 0; list && r && i < r->n_problems; i++)
		sl_py_append(&list, problem_tuple(r, &r->problem[i]));
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

const char **sl_py_texts(PyObject *tuple, size_t *n)
{
	const char **text;

	*n = (size_t)PyTuple_Size(tuple);
	text = (const char **)calloc(*n + 1, sizeof(*text));
	if (!text)
		PyErr_NoMemory();
	for (size_t i = 0; text && i < *n; i++) {
		text[i] = sl_py_text(PyTuple_GetItem(tuple, (Py_ssize_t)i));
		if (!text[i]) {
			free((void *)text);
			return NULL;
		}
	}
	return text;
}

int sl_py_count(PyObject *o, void *count)
{
	SL_PY_OWNED PyObject *number = PyNumber_Index(o);

	if (number)
		*(uint64_t *)count = PyLong_AsUnsignedLongLong(number);
	if (number && PyErr_Occurred())
		PyErr_Format(PyExc_OverflowError,
			"%R is out of range; use a number from 0 to 18446744073709551615", number);
	return !PyErr_Occurred();
}

PyObject *sl_py_raise(enum sl_status status, const char *message, struct sl_reader *reader)
{
	SL_PY_OWNED PyObject *module = PyImport_ImportModule("sluice._error");
	SL_PY_OWNED PyObject *error = module ? PyObject_GetAttrString(module, "Error") : NULL;
	SL_PY_OWNED PyObject *problems = error ? problem_list(reader) : NULL;
	SL_PY_OWNED PyObject *made = NULL;

	if (problems)
		made = PyObject_CallFunction(error, "isssO", (int)status, sl_status_name(status),
			sl_status_meaning(status), message, problems);
	if (made)
		PyErr_SetObject(error, made);
	return NULL;
}
