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

/* A column has one dimension, or none for a number. False with an exception. */
static bool check_dimensions(const char *name, int ndim)
{
	return ndim <= 1 ||
	       sl_py_refuse(sl_fail(SL_USAGE,
		       "%s: the array has %d dimensions; a column has one, with a number per particle",
		       name, ndim));
}

/*
 * Takes the array of a dict with the name of a column, if there is one. An array may run code in
 * Python, so the dict must be a copy that no such code can change. False with an exception.
 */
static bool take_column(
	PyObject *dict, int column, struct sl_py_input *in, struct sl_py_table *table)
{
	const char *name = sl_column_facts[column].name;
	PyObject *value = PyDict_GetItemString(dict, name);

	if (value && !sl_py_input_take(value, name, false, &in[column]))
		return false;
	table->column[column] = in[column].at.array;
	return check_dimensions(name, in[column].at.ndim);
}

/* --- write_mcpl ------------------------------------------------------------------------------- */

/* Takes the columns of a list. False with an exception. */
static bool take_fields(PyObject *fields, struct sl_py_mcpl *l, struct sl_py_input *in)
{
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		if (SL_HAS(SL_MCPL_LIST, c) && !take_column(fields, c, in, &l->table))
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

	if (!part)
		return PyErr_NoMemory() != NULL;
	for (size_t i = 0; i < n; i++) {
		PyObject *header = PyTuple_GetItem(tuple, (Py_ssize_t)i);

		part[i] = (struct sl_mcpl_part){.file = PyBytes_AsString(header),
			.bytes = (size_t)PyBytes_Size(header),
			.first = i,
			.particles = 1};
	}
	if (n > 0)
		s = sl_mcpl_metadata_add(part, (uint32_t)n, false, made);
	free(part);
	return s == SL_OK || sl_py_raise(s, sl_last_error(), NULL);
}

PyObject *sl_py_write_mcpl(PyObject *module, PyObject *args)
{
	struct sl_py_input in[SL_COLUMN_COUNT];
	struct sl_py_mcpl l = {.path = NULL};
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
	l.comment = sl_py_texts(comments, &l.n_comments);
	if (l.comment && take_fields(fields, &l, in) && take_headers(headers, &metadata)) {
		l.metadata = metadata;
		Py_BEGIN_ALLOW_THREADS
		s = sl_py_mcpl_write(&l);
		Py_END_ALLOW_THREADS
		result = s == SL_OK         ? Py_NewRef(Py_None)
		         : PyErr_Occurred() ? NULL /* of a signal handler */
		                            : sl_py_raise(s, sl_last_error(), NULL);
	}
	for (int c = 0; c < SL_COLUMN_COUNT; c++)
		sl_py_input_give(&in[c]);
	sl_mcpl_metadata_free(metadata);
	free((void *)l.comment);
	Py_DECREF(fields);
	return result;
}

/* --- filter ----------------------------------------------------------------------------------- */

/* A call of filter(): on the host, or on the device that has the first array. */
struct filter_call {
	struct sl_py_device_table t;
	enum sl_py_where where;
	struct sl_py_selection *selection;
	uint32_t *index;               /* on the host */
	struct sl_py_device_kept kept; /* on the host only their number */
};

/*
 * Whether filter runs on a device: if the first column that is an array is there. device: NULL, or
 * emulated to take columns of the emulated device, which are arrays of the host too, as such. False
 * with an exception.
 */
static bool find_device(struct filter_call *c, PyObject *columns, const char *device)
{
	c->where = SL_PY_ON_HOST;
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		PyObject *value = PyDict_GetItemString(columns, sl_column_facts[k].name);

		if (!value || PyFloat_Check(value) || PyLong_Check(value))
			continue;
		c->where = sl_py_where_is(value, &c->t.number);
		break;
	}
	if (c->where == SL_PY_ON_EMULATED && !(device && strcmp(device, "emulated") == 0))
		c->where = SL_PY_ON_HOST;
	if (c->where == SL_PY_ON_HOST && device)
		return sl_py_refuse(sl_fail(SL_USAGE,
			"device: the columns are in memory of the host; leave device out"));
	return c->where != SL_PY_NOWHERE;
}

/* Takes an array of the device. False with an exception. */
static bool take_on_device(struct filter_call *c, int column, PyObject *value)
{
	const char *name = sl_column_facts[column].name;
	struct sl_py_input *in = &c->t.in[column];
	int number;
	enum sl_py_where where = sl_py_where_is(value, &number);

	if (where == SL_PY_NOWHERE)
		return false;
	if (where != c->where || number != c->t.number)
		return sl_py_refuse(sl_fail(SL_USAGE,
			"%s: the array is not on the device of the other columns; copy it there, or "
			"copy them to the host",
			name));
	if (!sl_py_device_input_take(value, name, false, NULL, in))
		return false;
	c->t.table.column[column] = in->at.array;
	return check_dimensions(name, in->at.ndim);
}

static bool take_columns(struct filter_call *c, PyObject *columns)
{
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		PyObject *value = PyDict_GetItemString(columns, sl_column_facts[k].name);
		bool of_host = c->where == SL_PY_ON_HOST || !value || PyFloat_Check(value) ||
		               PyLong_Check(value);

		if (of_host ? !take_column(columns, k, c->t.in, &c->t.table)
			    : !take_on_device(c, k, value))
			return false;
	}
	return true;
}

static enum sl_status filter_there(void *ctx)
{
	struct filter_call *c = (struct filter_call *)ctx;

	return sl_py_device_filter(&c->t, c->selection, &c->kept);
}

/* Without the lock of the interpreter. */
static enum sl_status filter(struct filter_call *c, const char *text, bool all)
{
	struct sl_py_table *table = &c->t.table;

	SL_TRY(sl_py_table_check(table));
	SL_TRY(sl_py_selection_make(text, all, table, &c->selection));
	if (c->where == SL_PY_ON_HOST) {
		SL_TRY(sl_host_get(table->n, sizeof(*c->index), &c->index));
		return sl_py_filter(table, c->selection, c->index, &c->kept.n);
	}
	return sl_py_on_device(c->where == SL_PY_ON_EMULATED, c->t.number, filter_there, c);
}

/* The columns of the result: none on the host, where the caller takes the items of its arrays. */
static PyObject *columns_of(struct filter_call *c)
{
	PyObject *columns = PyDict_New();

	for (int k = 0; columns && c->where != SL_PY_ON_HOST && k < SL_COLUMN_COUNT; k++) {
		const struct sl_py_array *a = &c->t.table.column[k];

		if (a->kind != 0 &&
			!sl_py_put(columns, sl_column_facts[k].name,
				c->kept.column[k] ? sl_py_column_alone(a, k, NULL,
							    &c->kept.column[k], c->kept.n)
						  : Py_NewRef(Py_None)))
			Py_CLEAR(columns);
	}
	return columns;
}

/* (n, index, columns) */
static PyObject *filter_result(struct filter_call *c)
{
	static const struct sl_py_array numbers = {.kind = 'u', .bytes = 4};
	uint32_t *on_host = c->index;

	c->index = NULL;
	return Py_BuildValue("(INN)", (unsigned)c->kept.n,
		sl_py_column_alone(&numbers, SL_COLUMN_COUNT, on_host, &c->kept.index, c->kept.n),
		columns_of(c));
}

static void free_filter(struct filter_call *c)
{
	sl_py_selection_free(c->selection);
	sl_memory_give(SL_HOST, c->index);
	sl_block_give(c->kept.index);
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		sl_block_give(c->kept.column[k]);
		sl_py_input_give(&c->t.in[k]);
	}
	free(c);
}

PyObject *sl_py_filter_call(PyObject *module, PyObject *args)
{
	struct filter_call *c = (struct filter_call *)calloc(1, sizeof(*c));
	SL_PY_OWNED PyObject *columns = NULL;
	PyObject *given, *result = NULL;
	const char *text, *device;
	enum sl_status s;
	int all;

	(void)module;
	if (!c)
		return PyErr_NoMemory();
	if (PyArg_ParseTuple(args, "spO!z", &text, &all, &PyDict_Type, &given, &device) &&
		(columns = PyDict_Copy(given)) && find_device(c, columns, device) &&
		take_columns(c, columns)) {
		Py_BEGIN_ALLOW_THREADS
		s = filter(c, text, all != 0);
		Py_END_ALLOW_THREADS
		if (s == SL_OK)
			result = filter_result(c);
		else if (!PyErr_Occurred())
			sl_py_raise(s, sl_last_error(), c->selection ? c->selection->reader : NULL);
	}
	free_filter(c);
	return result;
}
