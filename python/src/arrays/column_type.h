/* column_type.h - the C struct of sluice.Column, for the files that implement it. */
#ifndef SL_PYTHON_ARRAYS_COLUMN_TYPE_H
#define SL_PYTHON_ARRAYS_COLUMN_TYPE_H

#include "python/src/base/python.h"

#include "primitives/device/device_block.h"
#include "stages/particle/particle.h"

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
	int type;   /* of the items, in sl_py_items */
	int column; /* enum sl_column; SL_COLUMN_COUNT: none */
	int ndim;
	Py_ssize_t n; /* of items */
	Py_ssize_t shape[2], strides[2];
};

/* Whether the memory is on a device, so that the host cannot read it. */
static inline bool sl_py_is_on_device(const struct sl_py_column *c)
{
	return c->block && !c->block->emulated;
}

#endif
