/* column_copy.c - see column_copy.h. */
#include "python/src/arrays/column_copy.h"

#include <string.h>

#include "primitives/device/device.h"
#include "python/src/arrays/device_column.h"

enum sl_status sl_py_copy_items(const struct sl_table_column *c, uint32_t n, void **data)
{
	size_t item = sl_column_facts[c->column].bytes;

	SL_TRY(sl_memory_get(SL_HOST, n * item, data));
	if (!c->constant && n > 0)
		memcpy(*data, c->data, n * item);
	for (size_t i = 0; c->constant && i < n; i++)
		memcpy((char *)*data + i * item, c->data, item);
	return SL_OK;
}

/* Both on the host, or both on one device. */
static bool is_next_to(const struct sl_py_column *a, const struct sl_py_column *b)
{
	return sl_py_is_on_device(a) ? sl_py_is_on_device(b) && a->block->number == b->block->number
	                             : !sl_py_is_on_device(b);
}

/* Sets *bytes to the size of all columns of the list. False with an exception. */
static bool add_up(PyObject *columns, const struct sl_py_column **first, size_t *bytes)
{
	*bytes = 0;
	*first = NULL;
	for (Py_ssize_t i = 0; i < PyList_Size(columns); i++) {
		PyObject *o = PyList_GetItem(columns, i);
		const struct sl_py_column *c = (struct sl_py_column *)o;

		if (!PyObject_TypeCheck(o, sl_py_column_type) || c->ndim != 1 ||
			(*first && c->column != (*first)->column)) {
			PyErr_SetString(PyExc_TypeError, "concat takes columns of one kind");
			return false;
		}
		if (*first && !is_next_to(c, *first)) {
			PyErr_SetString(PyExc_ValueError,
				"the batches are in the memory of several devices, so they cannot be one "
				"array; take them one by one (survivors.batches())");
			return false;
		}
		*first = *first ? *first : c;
		*bytes += (size_t)(c->n * c->item->bytes);
	}
	if (!*first)
		PyErr_SetString(PyExc_ValueError, "concat takes at least one column");
	return *first != NULL;
}

PyObject *sl_py_concat(PyObject *module, PyObject *columns)
{
	const struct sl_py_column *first;
	size_t bytes, used = 0;
	PyObject *made;
	void *data;

	(void)module;
	if (!PyList_Check(columns)) {
		PyErr_SetString(PyExc_TypeError, "concat takes a list of columns");
		return NULL;
	}
	if (!add_up(columns, &first, &bytes))
		return NULL;
	if (sl_py_is_on_device(first))
		return sl_py_concat_on_device(columns, first, bytes);
	if (sl_memory_get(SL_HOST, bytes, &data) != SL_OK)
		return PyErr_NoMemory();
	/* With the interpreter's lock held: another thread cannot change the list. */
	for (Py_ssize_t i = 0; i < PyList_Size(columns); i++) {
		const struct sl_py_column *c = (struct sl_py_column *)PyList_GetItem(columns, i);

		if (c->n > 0)
			memcpy((char *)data + used, c->data, (size_t)(c->n * c->item->bytes));
		used += (size_t)(c->n * c->item->bytes);
	}
	made = sl_py_column_of(
		(enum sl_column)first->column, data, bytes / (size_t)first->item->bytes, NULL);
	sl_py_column_set_label(made, &first->label);
	return made;
}

/* --- pickle ----------------------------------------------------------------------------------- */

PyObject *sl_py_column_reduce(PyObject *self, PyObject *none)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;
	PyObject *module, *function;

	(void)none;
	if (sl_py_is_out_of_reach(c, PyExc_TypeError))
		return NULL;
	module = PyImport_ImportModule("sluice._native");
	function = module ? PyObject_GetAttrString(module, "column") : NULL;
	Py_XDECREF(module);
	if (!function)
		return NULL;
	return Py_BuildValue("N(iisiNy#)", function, c->type, c->column, c->label.name,
		(int)c->label.unit, sl_py_shape_of(c), (const char *)c->data,
		c->n * c->item->bytes);
}

/*
 * Whether these numbers, which may come from a foreign pickle, describe a column of so many bytes.
 */
static bool is_column(
	int type, int column, int unit, const Py_ssize_t shape[2], int ndim, Py_ssize_t bytes)
{
	Py_ssize_t n = bytes;

	if (type < 0 || type >= SL_PY_ITEMS || column < 0 || column > SL_COLUMN_COUNT || unit < 0 ||
		unit >= SL_UNIT_COUNT || bytes % sl_py_items[type].bytes != 0)
		return false;
	n /= sl_py_items[type].bytes;
	if (ndim == 1)
		return shape[0] == n;
	return shape[1] > 0 && shape[0] == n / shape[1] && n % shape[1] == 0;
}

PyObject *sl_py_column_restore(PyObject *module, PyObject *arguments)
{
	Py_ssize_t shape[2] = {0, 0}, bytes;
	struct sl_column_label label = {0};
	int type, column, unit, ndim;
	const char *name, *from;
	PyObject *tuple, *made;
	void *data;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "iisiO!y#", &type, &column, &name, &unit, &PyTuple_Type,
		    &tuple, &from, &bytes) ||
		!PyArg_ParseTuple(tuple, "n|n", &shape[0], &shape[1]))
		return NULL;
	ndim = (int)PyTuple_Size(tuple);
	if (!is_column(type, column, unit, shape, ndim, bytes) ||
		strlen(name) >= sizeof(label.name)) {
		PyErr_SetString(PyExc_ValueError, "the pickle of a sluice.Column is damaged");
		return NULL;
	}
	if (sl_memory_get(SL_HOST, (size_t)bytes, &data) != SL_OK)
		return PyErr_NoMemory();
	if (bytes > 0)
		memcpy(data, from, (size_t)bytes);
	made = sl_py_column_make(type, column, data, shape, ndim, NULL);
	memcpy(label.name, name, strlen(name));
	label.unit = (enum sl_unit)unit;
	sl_py_column_set_label(made, &label);
	return made;
}
