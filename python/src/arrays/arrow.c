/* arrow.c - see arrow.h. */
#include "python/src/arrays/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/arrow_layout.h"
#include "python/src/arrays/column.h"

static const char name_schema[] = "arrow_schema", name_array[] = "arrow_array";
static const char name_stream[] = "arrow_array_stream";

/* --- capsules --------------------------------------------------------------------------------- */

/* A struct whose consumer has moved it has no release callback. */
#define END(what)                                                                                \
	static void end_##what(PyObject *capsule)                                                \
	{                                                                                        \
		struct sl_py_arrow_##what *s =                                                   \
			(struct sl_py_arrow_##what *)PyCapsule_GetPointer(capsule, name_##what); \
                                                                                                 \
		if (s->release)                                                                  \
			s->release(s);                                                           \
		free(s);                                                                         \
	}

END(schema)
END(array)
END(stream)

/* A capsule with a copy of the struct; releases the struct if there is no memory. */
#define CAPSULE(what)                                                                           \
	static PyObject *capsule_of_##what(struct sl_py_arrow_##what *from)                     \
	{                                                                                       \
		struct sl_py_arrow_##what *s = (struct sl_py_arrow_##what *)malloc(sizeof(*s)); \
		PyObject *made = NULL;                                                          \
                                                                                                \
		if (s) {                                                                        \
			*s = *from;                                                             \
			made = PyCapsule_New(s, name_##what, end_##what);                       \
		} else {                                                                        \
			PyErr_NoMemory();                                                       \
		}                                                                               \
		if (!made) {                                                                    \
			from->release(from);                                                    \
			free(s);                                                                \
		}                                                                               \
		return made;                                                                    \
	}

CAPSULE(schema)
CAPSULE(array)
CAPSULE(stream)

/* --- columns ---------------------------------------------------------------------------------- */

PyObject *sl_py_column_arrow_schema(PyObject *self, PyObject *none)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;
	struct sl_py_arrow_schema s;

	(void)none;
	if (!sl_py_arrow_make_field(
		    sl_py_column_name(c), c->item->typestr, sl_py_column_unit(c), &s))
		return NULL;
	return capsule_of_schema(&s);
}

PyObject *sl_py_column_arrow_array(PyObject *self, PyObject *args)
{
	PyObject *requested = Py_None, *schema, *array = NULL;
	struct sl_py_arrow_array a;

	/* A producer may ignore the schema that a consumer would like. */
	if (!PyArg_ParseTuple(args, "|O", &requested))
		return NULL;
	schema = sl_py_column_arrow_schema(self, NULL);
	if (schema && sl_py_arrow_make_column(self, &a))
		array = capsule_of_array(&a);
	if (array)
		return Py_BuildValue("(NN)", schema, array);
	Py_XDECREF(schema);
	return NULL;
}

/* --- tables ----------------------------------------------------------------------------------- */

PyObject *sl_py_arrow_schema(PyObject *module, PyObject *fields)
{
	struct sl_py_arrow_schema s;

	(void)module;
	return sl_py_arrow_make_schema(fields, &s) ? capsule_of_schema(&s) : NULL;
}

PyObject *sl_py_arrow_array(PyObject *module, PyObject *args)
{
	struct sl_py_arrow_array a;
	PyObject *columns;
	Py_ssize_t n;

	(void)module;
	if (!PyArg_ParseTuple(args, "nO", &n, &columns) || !sl_py_arrow_make_array(n, columns, &a))
		return NULL;
	return capsule_of_array(&a);
}

/* --- streams ---------------------------------------------------------------------------------- */

enum { ERROR_BYTES = 1024 };

struct streaming {
	PyObject *fields, *rows;
	char error[ERROR_BYTES];
};

/* Keeps the text of the exception for the consumer, and clears it. */
static int keep_error(struct streaming *st)
{
	PyObject *type, *value, *traceback, *text;
	const char *bytes;

	PyErr_Fetch(&type, &value, &traceback);
	text = value ? PyObject_Str(value) : NULL;
	bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	strncpy(st->error, bytes ? bytes : "the batches cannot be read", ERROR_BYTES - 1);
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	PyErr_Clear();
	return EIO;
}

static int get_schema(struct sl_py_arrow_stream *s, struct sl_py_arrow_schema *out)
{
	struct streaming *st = (struct streaming *)s->private_data;
	PyGILState_STATE state = PyGILState_Ensure();
	int error = sl_py_arrow_make_schema(st->fields, out) ? 0 : keep_error(st);

	PyGILState_Release(state);
	return error;
}

/* The next rows; *out is released at the end. False with an exception. */
static bool next_rows(struct streaming *st, struct sl_py_arrow_array *out)
{
	PyObject *item = PyIter_Next(st->rows), *columns;
	Py_ssize_t n;
	bool made;

	if (!item) {
		*out = (struct sl_py_arrow_array){.release = NULL};
		return !PyErr_Occurred();
	}
	made = PyArg_ParseTuple(item, "nO", &n, &columns) &&
	       sl_py_arrow_make_array(n, columns, out);
	Py_DECREF(item);
	return made;
}

static int get_next(struct sl_py_arrow_stream *s, struct sl_py_arrow_array *out)
{
	struct streaming *st = (struct streaming *)s->private_data;
	PyGILState_STATE state = PyGILState_Ensure();
	int error = next_rows(st, out) ? 0 : keep_error(st);

	PyGILState_Release(state);
	return error;
}

static const char *get_last_error(struct sl_py_arrow_stream *s)
{
	const struct streaming *st = (struct streaming *)s->private_data;

	return st->error[0] ? st->error : NULL;
}

static void release_stream(struct sl_py_arrow_stream *s)
{
	struct streaming *st = (struct streaming *)s->private_data;

	if (Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		Py_DECREF(st->fields);
		Py_DECREF(st->rows);
		PyGILState_Release(state);
	}
	free(st);
	s->release = NULL;
}

PyObject *sl_py_arrow_stream(PyObject *module, PyObject *args)
{
	struct sl_py_arrow_stream s = {.get_schema = get_schema,
		.get_next = get_next,
		.get_last_error = get_last_error,
		.release = release_stream};
	struct streaming *st;
	PyObject *fields, *rows;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO", &fields, &rows))
		return NULL;
	st = (struct streaming *)calloc(1, sizeof(*st));
	if (!st)
		return PyErr_NoMemory();
	st->fields = Py_NewRef(fields);
	st->rows = Py_NewRef(rows);
	s.private_data = st;
	return capsule_of_stream(&s);
}
