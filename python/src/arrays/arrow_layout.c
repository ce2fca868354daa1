/*
 * arrow_layout.c - see arrow_layout.h.
 *
 * A parent owns the structs of its children; a consumer can move a child out of it, and sets its
 * release callback to NULL then. An array holds the buffer of its object, which keeps the memory
 * alive.
 */
#include "python/src/arrays/arrow_layout.h"

#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/input.h"

/* --- schemas ---------------------------------------------------------------------------------- */

static void release_schema(struct sl_py_arrow_schema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	free((void *)(uintptr_t)s->name);
	free((void *)(uintptr_t)s->metadata);
	s->release = NULL;
}

/* The letter of Arrow for a type of NumPy; NULL: there is none. */
static const char *format_of(const char *typestr)
{
	static const char *const formats[][2] = {{"f4", "f"}, {"f8", "g"}, {"i1", "c"}, {"u1", "C"},
		{"i2", "s"}, {"u2", "S"}, {"i4", "i"}, {"u4", "I"}, {"i8", "l"}, {"u8", "L"}};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strchr("<|", typestr[0]) && strcmp(typestr + 1, formats[i][0]) == 0)
			return formats[i][1];
	return NULL;
}

/* Appends a string of the metadata: its length in 4 bytes, and its bytes. */
static char *put_text(char *at, const char *text)
{
	int32_t bytes = (int32_t)strlen(text);

	memcpy(at, &bytes, sizeof(bytes));
	memcpy(at + sizeof(bytes), text, (size_t)bytes);
	return at + sizeof(bytes) + bytes;
}

/* One pair, unit and the unit; NULL without memory. */
static char *metadata_of(const char *unit)
{
	static const char key[] = "unit";
	const int32_t pairs = 1;
	char *made = (char *)malloc(3 * sizeof(int32_t) + strlen(key) + strlen(unit));

	if (made) {
		memcpy(made, &pairs, sizeof(pairs));
		put_text(put_text(made + sizeof(pairs), key), unit);
	}
	return made;
}

bool sl_py_arrow_make_field(
	const char *name, const char *typestr, const char *unit, struct sl_py_arrow_schema *s)
{
	*s = (struct sl_py_arrow_schema){.format = format_of(typestr), .release = release_schema};
	if (!s->format) {
		PyErr_Format(
			PyExc_TypeError, "%s: Arrow has no type for items of %s", name, typestr);
		return false;
	}
	s->name = strdup(name);
	if (*unit)
		s->metadata = metadata_of(unit);
	if (s->name && (!*unit || s->metadata))
		return true;
	release_schema(s);
	PyErr_NoMemory();
	return false;
}

static bool add_field(PyObject *field, struct sl_py_arrow_schema *s)
{
	const char *name, *typestr, *unit;
	struct sl_py_arrow_schema *child;

	if (!PyArg_ParseTuple(field, "sss", &name, &typestr, &unit))
		return false;
	child = (struct sl_py_arrow_schema *)calloc(1, sizeof(*child));
	if (!child) {
		PyErr_NoMemory();
		return false;
	}
	s->children[s->n_children++] = child;
	return sl_py_arrow_make_field(name, typestr, unit, child);
}

bool sl_py_arrow_make_schema(PyObject *fields, struct sl_py_arrow_schema *s)
{
	Py_ssize_t n = PyList_Size(fields);
	bool made = n >= 0;

	if (!made)
		return false;
	*s = (struct sl_py_arrow_schema){.format = "+s", .release = release_schema};
	s->name = strdup("");
	s->children = (struct sl_py_arrow_schema **)calloc((size_t)n + 1, sizeof(*s->children));
	if (!s->name || !s->children) {
		PyErr_NoMemory();
		made = false;
	}
	for (Py_ssize_t i = 0; made && i < n; i++)
		made = add_field(PyList_GetItem(fields, i), s);
	if (!made)
		release_schema(s);
	return made;
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* What an array owns. */
struct held {
	struct sl_py_input in;  /* of a column */
	const void *buffers[2]; /* which items are valid: NULL for all; the items */
};

static void release_array(struct sl_py_arrow_array *a)
{
	struct held *held = (struct held *)a->private_data;

	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i] && a->children[i]->release)
			a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children);
	/* After the end of the interpreter the memory is gone with it. */
	if (held && Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		sl_py_input_give(&held->in);
		PyGILState_Release(state);
	}
	free(held);
	a->release = NULL;
}

/* No nulls; the consumer sees all items. */
static bool begin(struct sl_py_arrow_array *a, int64_t n, int64_t n_buffers)
{
	struct held *held = (struct held *)calloc(1, sizeof(*held));

	*a = (struct sl_py_arrow_array){.length = n,
		.n_buffers = n_buffers,
		.release = release_array,
		.private_data = held};
	if (!held) {
		PyErr_NoMemory();
		return false;
	}
	a->buffers = held->buffers;
	return true;
}

bool sl_py_arrow_make_column(PyObject *column, struct sl_py_arrow_array *a)
{
	struct held *held;

	if (!begin(a, 0, 2))
		return false;
	held = (struct held *)a->private_data;
	if (!sl_py_input_take(column, "column", false, &held->in)) {
		memset(&held->in, 0, sizeof(held->in));
	} else if (held->in.ndim != 1 || !held->in.contiguous || !held->in.has_view) {
		PyErr_SetString(PyExc_BufferError,
			"Arrow has arrays of one dimension, contiguous in memory; copy the column");
	} else {
		a->length = (int64_t)held->in.array.n;
		held->buffers[1] = held->in.array.data;
		return true;
	}
	release_array(a);
	return false;
}

static bool add_column(PyObject *column, int64_t n, struct sl_py_arrow_array *a)
{
	struct sl_py_arrow_array *child = (struct sl_py_arrow_array *)calloc(1, sizeof(*child));

	if (!child) {
		PyErr_NoMemory();
		return false;
	}
	a->children[a->n_children++] = child;
	if (!sl_py_arrow_make_column(column, child))
		return false;
	if (child->length == n)
		return true;
	PyErr_SetString(PyExc_ValueError, "columns of a struct must have the same number of items");
	return false;
}

bool sl_py_arrow_make_array(Py_ssize_t n, PyObject *columns, struct sl_py_arrow_array *a)
{
	PyObject *all = PyList_AsTuple(columns); /* code in Python may change the list */
	Py_ssize_t n_columns = all ? PyTuple_Size(all) : 0;
	bool made = all && begin(a, n, 1);

	if (!made) {
		Py_XDECREF(all);
		return false;
	}
	a->children =
		(struct sl_py_arrow_array **)calloc((size_t)n_columns + 1, sizeof(*a->children));
	if (!a->children) {
		PyErr_NoMemory();
		made = false;
	}
	for (Py_ssize_t i = 0; made && i < n_columns; i++)
		made = add_column(PyTuple_GetItem(all, i), n, a);
	Py_DECREF(all);
	if (!made)
		release_array(a);
	return made;
}
