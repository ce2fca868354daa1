/*
 * device_filter_call.c - filter() on columns in the memory of a device; see src.h.
 */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"
#include "python/src/filter/filter.h"

struct device_call {
	struct sl_py_device_table t;
	struct sl_py_input number[SL_COLUMN_COUNT]; /* columns that are a number of the host */
	struct sl_py_selection *selection;
	struct sl_py_device_kept kept;
	enum sl_py_where where;
};

static bool refuse(enum sl_status s)
{
	sl_py_raise(s, sl_last_error(), NULL);
	return false;
}

/* Takes the array or the number of a column. False with an exception. */
static bool take_value(struct device_call *c, int column, PyObject *value)
{
	const char *name = sl_column_facts[column].name;
	struct sl_py_device_input *in = &c->t.in[column];
	struct sl_py_array *a = &c->t.table.column[column];
	enum sl_py_where where;
	int number;

	if (PyFloat_Check(value) || PyLong_Check(value)) {
		if (!sl_py_input_take(value, name, false, &c->number[column]))
			return false;
		*a = c->number[column].array;
		return true;
	}
	where = sl_py_where_is(value, &number);
	if (where == SL_PY_NOWHERE)
		return false;
	if (where != c->where || number != c->t.number)
		return refuse(sl_fail(SL_USAGE,
			"%s: the array is not on the device of the other columns; copy it there, or "
			"copy them to the host",
			name));
	if (!sl_py_device_input_take(value, name, false, NULL, in))
		return false;
	*a = in->at.array;
	if (in->at.ndim > 1)
		return refuse(sl_fail(SL_USAGE,
			"%s: the array has %d dimensions; a column has one, with a number per particle",
			name, in->at.ndim));
	return true;
}

static bool take_columns(struct device_call *c, PyObject *columns)
{
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		PyObject *value = PyDict_GetItemString(columns, sl_column_facts[k].name);

		if (value && !take_value(c, k, value))
			return false;
	}
	return true;
}

/* Without the lock of the interpreter. */
static enum sl_status filter(struct device_call *c, const char *text, bool all)
{
	enum sl_status s;

	SL_TRY(sl_py_table_check(&c->t.table));
	SL_TRY(sl_py_selection_make(text, all, &c->t.table, &c->selection));
	SL_TRY(sl_py_turn_share(c->where == SL_PY_ON_EMULATED));
	s = sl_py_device_filter(&c->t, c->selection, &c->kept);
	sl_py_turn_unshare();
	return s;
}

/* A column of a block, which is handed over. */
static PyObject *column_of(
	const struct sl_py_array *a, int which, struct sl_device_block **block, uint32_t n)
{
	struct sl_device_block *taken = *block;

	*block = NULL;
	return sl_py_column_of_block(a, which, taken, n);
}

static PyObject *result_of(struct device_call *c)
{
	static const struct sl_py_array numbers = {.kind = 'u', .bytes = 4};
	PyObject *columns = PyDict_New(), *index = NULL, *made = NULL;

	for (int k = 0; columns && k < SL_COLUMN_COUNT; k++) {
		const struct sl_py_array *a = &c->t.table.column[k];
		PyObject *column;

		if (a->kind == 0)
			continue;
		column = c->kept.column[k] ? column_of(a, k, &c->kept.column[k], c->kept.n)
		                           : Py_NewRef(Py_None);
		if (!column || PyDict_SetItemString(columns, sl_column_facts[k].name, column) < 0)
			Py_CLEAR(columns);
		Py_XDECREF(column);
	}
	if (columns)
		index = column_of(&numbers, SL_COLUMN_COUNT, &c->kept.index, c->kept.n);
	if (index)
		made = Py_BuildValue("(IOO)", (unsigned)c->kept.n, index, columns);
	Py_XDECREF(index);
	Py_XDECREF(columns);
	return made;
}

static bool is_never(void *ctx)
{
	(void)ctx;
	return false;
}

static void free_call(struct device_call *c)
{
	sl_py_selection_free(c->selection);
	sl_block_give(c->kept.index);
	for (int k = 0; k < SL_COLUMN_COUNT; k++) {
		sl_block_give(c->kept.column[k]);
		sl_py_device_input_give(&c->t.in[k]);
		sl_py_input_give(&c->number[k]);
	}
	free(c);
}

PyObject *sl_py_filter_on_device(
	const char *text, bool all, PyObject *columns, enum sl_py_where where, int number)
{
	struct device_call *c = (struct device_call *)calloc(1, sizeof(*c));
	PyObject *result = NULL;
	enum sl_status s;

	if (!c)
		return PyErr_NoMemory();
	c->where = where;
	c->t.number = number;
	c->t.table.stop = is_never; /* the work is that of the device */
	if (take_columns(c, columns)) {
		Py_BEGIN_ALLOW_THREADS
		s = filter(c, text, all);
		Py_END_ALLOW_THREADS
		result = s == SL_OK ? result_of(c)
		                    : sl_py_raise(s, sl_last_error(),
					      c->selection ? c->selection->reader : NULL);
	}
	free_call(c);
	return result;
}
