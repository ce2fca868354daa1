/* list_calls.c - see list_calls.h. The work is done in lists/, without the interpreter. */
#include "python/src/list_calls.h"

#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/input.h"
#include "python/src/errors.h"
#include "python/src/lists/mcpl_write.h"

/* --- what all calls share --------------------------------------------------------------------- */

/* Whether a signal handler has raised; called by a thread that has released the interpreter's lock. */
static bool is_interrupted(void *ctx)
{
	PyGILState_STATE state = PyGILState_Ensure();
	bool raised = PyErr_CheckSignals() != 0;

	(void)ctx;
	PyGILState_Release(state);
	return raised;
}

/* None; or NULL with the exception of a signal handler, or else sluice.Error. */
static PyObject *none_or_error(enum sl_status s)
{
	if (s == SL_OK)
		Py_RETURN_NONE;
	return PyErr_Occurred() ? NULL : sl_py_raise(s, sl_last_error(), NULL);
}

/* The texts of a list; they live as long as the list is not changed. NULL with an exception. */
static const char **texts_of(PyObject *list, size_t *n)
{
	const char **text;

	*n = (size_t)PyList_Size(list);
	if (PyErr_Occurred())
		return NULL;
	text = (const char **)calloc(*n + 1, sizeof(*text));
	if (!text)
		PyErr_NoMemory();
	for (size_t i = 0; text && i < *n; i++) {
		Py_ssize_t bytes;

		text[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, (Py_ssize_t)i), &bytes);
		if (text[i] && strlen(text[i]) != (size_t)bytes)
			PyErr_SetString(PyExc_ValueError,
				"comment: a text contains a zero byte; remove it");
		if (PyErr_Occurred()) {
			free((void *)text);
			return NULL;
		}
	}
	return text;
}

/* --- write_mcpl ------------------------------------------------------------------------------- */

/* Takes the arrays of a dict by the names of fields. False with an exception. */
static bool take_fields(PyObject *fields, struct sl_py_mcpl *l, struct sl_py_input *in)
{
	for (int f = 0; f < SL_PY_FIELDS; f++) {
		PyObject *key = PyUnicode_FromString(sl_py_field_name[f]);
		PyObject *value = key ? PyDict_GetItemWithError(fields, key) : NULL;

		Py_XDECREF(key);
		if (PyErr_Occurred() ||
			(value && !sl_py_input_take(value, sl_py_field_name[f], false, &in[f])))
			return false;
		if (value && in[f].ndim > 1) {
			sl_py_raise(SL_USAGE, "a column has one dimension: one number per particle",
				NULL);
			return false;
		}
		l->field[f] = in[f].array;
	}
	return true;
}

PyObject *sl_py_write_mcpl(PyObject *module, PyObject *args)
{
	struct sl_py_input in[SL_PY_FIELDS];
	struct sl_py_mcpl l = {.stop = is_interrupted};
	PyObject *fields, *comments, *result = NULL;
	int single, force;
	enum sl_status s;

	(void)module;
	memset(in, 0, sizeof(in));
	if (!PyArg_ParseTuple(args, "sO!pO!p", &l.path, &PyDict_Type, &fields, &single,
		    &PyList_Type, &comments, &force))
		return NULL;
	l.single = single != 0;
	l.force = force != 0;
	l.comment = texts_of(comments, &l.n_comments);
	if (l.comment && take_fields(fields, &l, in)) {
		Py_BEGIN_ALLOW_THREADS
		s = sl_py_mcpl_write(&l);
		Py_END_ALLOW_THREADS
		result = none_or_error(s);
	}
	for (int f = 0; f < SL_PY_FIELDS; f++)
		sl_py_input_give(&in[f]);
	free((void *)l.comment);
	return result;
}
