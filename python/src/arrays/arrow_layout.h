/*
 * arrow_layout.h - the structs of the C data interface and the C stream interface of Arrow, as the
 * specification defines them, and how they are filled in.
 */
#ifndef SL_PYTHON_ARRAYS_ARROW_LAYOUT_H
#define SL_PYTHON_ARRAYS_ARROW_LAYOUT_H

#include "python/src/base/python.h"

#include <stdbool.h>
#include <stdint.h>

/* ArrowSchema */
struct sl_py_arrow_schema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct sl_py_arrow_schema **children, *dictionary;
	void (*release)(struct sl_py_arrow_schema *);
	void *private_data;
};

/* ArrowArray */
struct sl_py_arrow_array {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct sl_py_arrow_array **children, *dictionary;
	void (*release)(struct sl_py_arrow_array *);
	void *private_data;
};

/* ArrowArrayStream */
struct sl_py_arrow_stream {
	int (*get_schema)(struct sl_py_arrow_stream *, struct sl_py_arrow_schema *);
	int (*get_next)(struct sl_py_arrow_stream *, struct sl_py_arrow_array *);
	const char *(*get_last_error)(struct sl_py_arrow_stream *);
	void (*release)(struct sl_py_arrow_stream *);
	void *private_data;
};

/*
 * Fills in the schema of one field. False with an exception: TypeError for a type that Arrow lacks.
 */
bool sl_py_arrow_make_field(
	const char *name, const char *typestr, const char *unit, struct sl_py_arrow_schema *s);

/* Fills in the schema of a struct, from a list of (name, type, unit). False with an exception. */
bool sl_py_arrow_make_schema(PyObject *fields, struct sl_py_arrow_schema *s);

/* Fills in the array of one column, or of a struct of columns. False with an exception. */
bool sl_py_arrow_make_column(PyObject *column, struct sl_py_arrow_array *a);
bool sl_py_arrow_make_array(Py_ssize_t n, PyObject *columns, struct sl_py_arrow_array *a);

#endif
