/* list_calls.c - see src.h. The work is done in lists/, without the interpreter. */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/device/device.h"
#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"
#include "python/src/filter/filter.h"
#include "python/src/lists/lists.h"

/* --- what all calls share --------------------------------------------------------------------- */

/*
 * Whether a signal handler has raised; called by a thread that has released the interpreter's lock.
 */
static bool is_interrupted(void *ctx)
{
	PyGILState_STATE state = PyGILState_Ensure();
	locale_t plain = uselocale(LC_GLOBAL_LOCALE); /* a handler is code in Python */
	bool raised = PyErr_CheckSignals() != 0;

	(void)ctx;
	uselocale(plain);
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

/* The texts of a tuple, while it lives. NULL with an exception. */
static const char **texts_of(PyObject *tuple, size_t *n)
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

/*
 * Takes the array of a dict with that name, if there is one. An array may run code in Python, so
 * the dict must be a copy that no such code can change. False with an exception.
 */
static bool take_column(
	PyObject *dict, const char *name, struct sl_py_input *in, struct sl_py_array *array)
{
	PyObject *key = PyUnicode_FromString(name);
	PyObject *value = key ? PyDict_GetItemWithError(dict, key) : NULL;

	Py_XDECREF(key);
	if (PyErr_Occurred() || (value && !sl_py_input_take(value, name, false, in)))
		return false;
	*array = in->array;
	if (in->ndim <= 1)
		return true;
	sl_fail(SL_USAGE,
		"%s: the array has %d dimensions; a column has one, with a number per particle",
		name, in->ndim);
	sl_py_raise(SL_USAGE, sl_last_error(), NULL);
	return false;
}

/* --- write_mcpl ------------------------------------------------------------------------------- */

/* Takes the arrays of a dict by the names of fields. False with an exception. */
static bool take_fields(PyObject *fields, struct sl_py_mcpl *l, struct sl_py_input *in)
{
	for (int f = 0; f < SL_PY_FIELDS; f++)
		if (!take_column(fields, sl_py_field_name[f], &in[f], &l->field[f]))
			return false;
	return true;
}

/*
 * The headers of a tuple of bytes, while it lives; *made is NULL without any. Each counts as the
 * list of one particle, so that the sums over all particles are those of the headers. False with an
 * exception.
 */
static bool take_headers(PyObject *tuple, struct sl_mcpl_metadata **made)
{
	const size_t n = (size_t)PyTuple_Size(tuple);
	struct sl_mcpl_part *part = (struct sl_mcpl_part *)calloc(n + 1, sizeof(*part));
	enum sl_status s = SL_OK;

	*made = NULL;
	if (!part)
		return PyErr_NoMemory() != NULL;
	for (size_t i = 0; i < n; i++) {
		PyObject *header = PyTuple_GetItem(tuple, (Py_ssize_t)i);

		part[i].file = PyBytes_AsString(header);
		if (!part[i].file) {
			free(part);
			return false;
		}
		part[i].bytes = (size_t)PyBytes_Size(header);
		part[i].first = i;
		part[i].particles = 1;
	}
	if (n > 0)
		s = sl_mcpl_metadata_add(part, (uint32_t)n, false, made);
	free(part);
	return s == SL_OK || sl_py_raise(s, sl_last_error(), NULL);
}

PyObject *sl_py_write_mcpl(PyObject *module, PyObject *args)
{
	struct sl_py_input in[SL_PY_FIELDS];
	struct sl_py_mcpl l = {.stop = is_interrupted};
	struct sl_mcpl_metadata *metadata = NULL;
	PyObject *fields, *comments, *headers, *result = NULL;
	int single, force;
	enum sl_status s;

	(void)module;
	memset(in, 0, sizeof(in));
	if (!PyArg_ParseTuple(args, "sO!pO!pO!", &l.path, &PyDict_Type, &fields, &single,
		    &PyTuple_Type, &comments, &force, &PyTuple_Type, &headers) ||
		!(fields = PyDict_Copy(fields)))
		return NULL;
	l.single = single != 0;
	l.force = force != 0;
	l.comment = texts_of(comments, &l.n_comments);
	if (l.comment && take_fields(fields, &l, in) && take_headers(headers, &metadata)) {
		l.metadata = metadata;
		Py_BEGIN_ALLOW_THREADS
		s = sl_py_mcpl_write(&l);
		Py_END_ALLOW_THREADS
		result = none_or_error(s);
	}
	for (int f = 0; f < SL_PY_FIELDS; f++)
		sl_py_input_give(&in[f]);
	sl_mcpl_metadata_free(metadata);
	free((void *)l.comment);
	Py_DECREF(fields);
	return result;
}

/* --- filter ----------------------------------------------------------------------------------- */

/* A call of filter(). */
struct filter_call {
	struct sl_py_table table;
	struct sl_py_input in[SL_COLUMN_COUNT];
	struct sl_py_selection *selection;
	uint32_t *index, n_kept;
};

/*
 * Whether filter runs on a device: if the first column that is an array is there. device: NULL, or
 * emulated to take columns of the emulated device, which are arrays of the host too, as such. False
 * with an exception.
 */
static bool find_device(PyObject *columns, const char *device, enum sl_py_where *where, int *number)
{
	*where = SL_PY_ON_HOST;
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		PyObject *value = PyDict_GetItemString(columns, sl_column_facts[k].name);

		if (!value || PyFloat_Check(value) || PyLong_Check(value))
			continue;
		*where = sl_py_where_is(value, number);
		break;
	}
	if (*where == SL_PY_ON_EMULATED && !(device && strcmp(device, "emulated") == 0))
		*where = SL_PY_ON_HOST;
	if (*where == SL_PY_ON_HOST && device) {
		sl_py_raise(SL_USAGE,
			"device: the columns are in memory of the host; leave device out", NULL);
		return false;
	}
	return *where != SL_PY_NOWHERE;
}

/* Without the lock of the interpreter. */
static enum sl_status filter(struct filter_call *c, const char *text, bool all)
{
	void *block;

	SL_TRY(sl_py_table_check(&c->table));
	SL_TRY(sl_py_selection_make(text, all, &c->table, &c->selection));
	SL_TRY(sl_memory_get(SL_HOST, c->table.n * sizeof(*c->index), &block));
	c->index = (uint32_t *)block;
	return sl_py_filter(&c->table, c->selection, c->index, &c->n_kept);
}

/* (n, index, {}): the caller takes the items of its arrays. */
static PyObject *filter_result(struct filter_call *c)
{
	static const struct sl_py_array numbers = {.kind = 'u', .bytes = 4};
	PyObject *index = sl_py_column_alone(&numbers, SL_COLUMN_COUNT, c->index, c->n_kept);

	c->index = NULL;
	return index ? Py_BuildValue("(IN{})", (unsigned)c->n_kept, index) : NULL;
}

static PyObject *filter_on_host(const char *text, bool all, PyObject *columns)
{
	struct filter_call *c = (struct filter_call *)calloc(1, sizeof(*c));
	PyObject *result = NULL;
	enum sl_status s;
	bool taken = true;

	if (!c)
		return PyErr_NoMemory();
	c->table.stop = is_interrupted;
	for (int k = 0; taken && k < SL_COLUMN_COUNT; k++)
		taken = take_column(
			columns, sl_column_facts[k].name, &c->in[k], &c->table.column[k]);
	if (taken) {
		Py_BEGIN_ALLOW_THREADS
		s = filter(c, text, all);
		Py_END_ALLOW_THREADS
		if (s == SL_OK)
			result = filter_result(c);
		else if (!PyErr_Occurred())
			sl_py_raise(s, sl_last_error(), c->selection ? c->selection->reader : NULL);
	}
	sl_py_selection_free(c->selection);
	sl_memory_give(SL_HOST, c->index);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		sl_py_input_give(&c->in[k]);
	free(c);
	return result;
}

PyObject *sl_py_filter_call(PyObject *module, PyObject *args)
{
	PyObject *columns, *result = NULL;
	const char *text, *device;
	enum sl_py_where where;
	int all, number;

	(void)module;
	if (!PyArg_ParseTuple(args, "spO!z", &text, &all, &PyDict_Type, &columns, &device) ||
		!(columns = PyDict_Copy(columns)))
		return NULL;
	if (find_device(columns, device, &where, &number))
		result = where == SL_PY_ON_HOST
		                 ? filter_on_host(text, all != 0, columns)
		                 : sl_py_filter_on_device(text, all != 0, columns, where, number);
	Py_DECREF(columns);
	return result;
}
