/*
 * column.h - the type sluice.Column: an array of numbers in memory of the library.
 *
 * A column owns its memory, or is a view of an object that does. Other libraries use the memory
 * without a copy through the buffer protocol, __array_interface__ or DLPack; each such user keeps
 * the column, and so its memory, alive. Memory of a device is in a block (device_block.h), and is
 * exported by DLPack and __cuda_array_interface__ instead.
 */
#ifndef SL_PYTHON_ARRAYS_COLUMN_H
#define SL_PYTHON_ARRAYS_COLUMN_H

#include "python/src/base/python.h"

#include "primitives/base/status.h"
#include "primitives/device/device_block.h"
#include "python/src/arrays/array.h"
#include "stages/particle/particle.h"
#include "stages/particle/table.h"

/* Types of items: those of columns (enum sl_column_type), and those of images and other arrays. */
enum { SL_PY_F64 = SL_TYPE_I32 + 1, SL_PY_I64, SL_PY_ITEMS };

struct sl_py_item {
	const char *format, *typestr; /* of the buffer protocol; of NumPy */
	Py_ssize_t bytes;
};

extern const struct sl_py_item sl_py_items[SL_PY_ITEMS];

struct sl_py_column {
	PyObject_HEAD void *data;
	PyObject *owner;                     /* of the memory; NULL: this object */
	const struct sl_device_block *block; /* that has the memory, of the owner; NULL: none */
	const struct sl_py_item *item;
	int type;                     /* of the items, in sl_py_items */
	int column;                   /* enum sl_column; SL_COLUMN_COUNT: none */
	struct sl_column_label label; /* of a named column */
	int ndim;
	Py_ssize_t n; /* of items */
	Py_ssize_t shape[2], strides[2];
};

/* Whether the memory is on a device, so that the host cannot read it. */
static inline bool sl_py_is_on_device(const struct sl_py_column *c)
{
	return c->block && !c->block->emulated;
}

/* Makes the type and adds it to the module. False with an exception. */
bool sl_py_column_add(PyObject *module);

extern PyTypeObject *sl_py_column_type;

/* An object of that type and shape; takes over data, or a reference to owner. */
PyObject *sl_py_column_make(
	int type, int which, void *data, const Py_ssize_t *shape, int ndim, PyObject *owner);

/* The shape as a tuple. */
PyObject *sl_py_shape_of(const struct sl_py_column *c);

/*
 * A column of n items at data. owner: the object that the memory belongs to, or NULL: data is from
 * sl_memory_get(SL_HOST), and the column frees it, also if this call fails.
 */
PyObject *sl_py_column_of(enum sl_column column, void *data, size_t n, PyObject *owner);

/* Gives a column, which may be NULL, the name and the unit of a named column. */
void sl_py_column_set_label(PyObject *column, const struct sl_column_label *label);

/* The name and the unit of a column, "" for other arrays. */
const char *sl_py_column_name(const struct sl_py_column *c);
const char *sl_py_column_unit(const struct sl_py_column *c);

/* A table of rows x n doubles, such as an image; the column frees data as above. */
PyObject *sl_py_column_of_image(double *data, size_t rows, size_t n);

/* The type of the items of an array, in sl_py_items; SL_PY_ITEMS: it is none of these. */
int sl_py_item_type(const struct sl_py_array *a);

/*
 * A column of n items of the type of an array, at data of sl_memory_get(). column: enum sl_column,
 * or SL_COLUMN_COUNT. The type must be one of sl_py_items.
 */
PyObject *sl_py_column_of_array(const struct sl_py_array *a, int column, void *data, size_t n);

#endif
