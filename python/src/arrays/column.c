/*
 * column.c - see column.h. The export by DLPack is in dlpack.c, copies and pickles in
 * column_copy.c.
 */
#include "python/src/arrays/column.h"

#include <string.h>

#include "primitives/device/device.h"
#include "python/src/arrays/arrow.h"
#include "python/src/arrays/column_copy.h"
#include "python/src/arrays/device_column.h"
#include "python/src/arrays/dlpack.h"

const struct sl_py_item sl_py_items[SL_PY_ITEMS] = {
	[SL_TYPE_F32] = {"f", "<f4", 4},
	[SL_TYPE_U32] = {"I", "<u4", 4},
	[SL_TYPE_U64] = {"Q", "<u8", 8},
	[SL_TYPE_U8] = {"B", "|u1", 1},
	[SL_TYPE_I32] = {"i", "<i4", 4},
	[SL_PY_F64] = {"d", "<f8", 8},
	[SL_PY_I64] = {"q", "<i8", 8},
};

PyTypeObject *sl_py_column_type;

PyObject *sl_py_column_make(
	int type, int which, void *data, const Py_ssize_t *shape, int ndim, PyObject *owner)
{
	struct sl_py_column *c = PyObject_New(struct sl_py_column, sl_py_column_type);

	if (!c) {
		if (!owner)
			sl_memory_give(SL_HOST, data);
		return NULL;
	}
	Py_XINCREF(owner);
	c->data = data;
	c->owner = owner;
	c->block = NULL;
	c->item = &sl_py_items[type];
	c->type = type;
	c->column = which;
	c->label = (struct sl_column_label){.unit = SL_UNIT_NONE};
	c->ndim = ndim;
	c->n = 1;
	for (int i = ndim; i-- > 0;) {
		c->shape[i] = shape[i];
		c->strides[i] = c->n * c->item->bytes;
		c->n *= shape[i];
	}
	return (PyObject *)c;
}

PyObject *sl_py_column_of(enum sl_column column, void *data, size_t n, PyObject *owner)
{
	const Py_ssize_t shape[1] = {(Py_ssize_t)n};

	return sl_py_column_make(
		(int)sl_column_facts[column].type, (int)column, data, shape, 1, owner);
}

void sl_py_column_set_label(PyObject *column, const struct sl_column_label *label)
{
	if (column)
		((struct sl_py_column *)column)->label = *label;
}

const char *sl_py_column_name(const struct sl_py_column *c)
{
	if (c->column == SL_COLUMN_COUNT)
		return "";
	return sl_is_named_column(c->column) ? c->label.name : sl_column_facts[c->column].name;
}

const char *sl_py_column_unit(const struct sl_py_column *c)
{
	if (c->column == SL_COLUMN_COUNT)
		return "";
	return sl_units[sl_is_named_column(c->column) ? c->label.unit
						      : sl_column_facts[c->column].unit]
	        .text;
}

PyObject *sl_py_column_of_image(double *data, size_t rows, size_t n)
{
	const Py_ssize_t shape[2] = {(Py_ssize_t)rows, (Py_ssize_t)n};

	return sl_py_column_make(SL_PY_F64, SL_COLUMN_COUNT, data, shape, 2, NULL);
}

int sl_py_item_type(const struct sl_py_array *a)
{
	for (int type = 0; type < SL_PY_ITEMS; type++) {
		const char *name = sl_py_items[type].typestr; /* "<f4" */

		if (name[1] == a->kind && sl_py_items[type].bytes == a->bytes)
			return type;
	}
	return SL_PY_ITEMS;
}

PyObject *sl_py_column_of_array(const struct sl_py_array *a, int column, void *data, size_t n)
{
	const Py_ssize_t shape[1] = {(Py_ssize_t)n};

	return sl_py_column_make(sl_py_item_type(a), column, data, shape, 1, NULL);
}

static void dealloc(PyObject *self)
{
	struct sl_py_column *c = (struct sl_py_column *)self;
	PyTypeObject *type = Py_TYPE(self);

	if (c->owner)
		Py_DECREF(c->owner);
	else
		sl_memory_give(SL_HOST, c->data);
	PyObject_Free(self);
	Py_DECREF(type);
}

/* --- buffer protocol and __array_interface__ -------------------------------------------------- */

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
	struct sl_py_column *c = (struct sl_py_column *)self;

	view->obj = NULL;
	if (sl_py_is_out_of_reach(c, PyExc_BufferError))
		return -1;
	(void)flags; /* columns are contiguous and writable, so every request can be met */
	*view = (Py_buffer){.buf = c->data,
		.obj = self,
		.len = c->n * c->item->bytes,
		.itemsize = c->item->bytes,
		.ndim = c->ndim,
		.format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)c->item->format : NULL,
		.shape = c->shape,
		.strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? c->strides : NULL};
	Py_INCREF(self);
	return 0;
}

PyObject *sl_py_shape_of(const struct sl_py_column *c)
{
	return c->ndim == 1 ? Py_BuildValue("(n)", c->shape[0])
	                    : Py_BuildValue("(nn)", c->shape[0], c->shape[1]);
}

static PyObject *get_array_interface(PyObject *self, void *closure)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;

	(void)closure;
	if (sl_py_is_out_of_reach(c, PyExc_AttributeError))
		return NULL;
	return Py_BuildValue("{sN,ss,s(NO),si}", "shape", sl_py_shape_of(c), "typestr",
		c->item->typestr, "data", PyLong_FromVoidPtr(c->data), Py_False, "version", 3);
}

static PyObject *get_shape(PyObject *self, void *closure)
{
	(void)closure;
	return sl_py_shape_of((struct sl_py_column *)self);
}

static PyObject *get_typestr(PyObject *self, void *closure)
{
	(void)closure;
	return PyUnicode_FromString(((struct sl_py_column *)self)->item->typestr);
}

static PyObject *get_nbytes(PyObject *self, void *closure)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;

	(void)closure;
	return PyLong_FromSsize_t(c->n * c->item->bytes);
}

/* "" for an image, which is no column of a particle. */
static PyObject *get_name(PyObject *self, void *closure)
{
	(void)closure;
	return PyUnicode_FromString(sl_py_column_name((struct sl_py_column *)self));
}

static PyObject *get_unit(PyObject *self, void *closure)
{
	(void)closure;
	return PyUnicode_FromString(sl_py_column_unit((struct sl_py_column *)self));
}

/* --- items ------------------------------------------------------------------------------------ */

static Py_ssize_t length(PyObject *self)
{
	return ((struct sl_py_column *)self)->shape[0];
}

static PyObject *item_of(const struct sl_py_column *c, Py_ssize_t i)
{
	if (sl_py_is_out_of_reach(c, PyExc_TypeError))
		return NULL;
	switch (c->type) {
	case SL_TYPE_F32:
		return PyFloat_FromDouble((double)((const float *)c->data)[i]);
	case SL_TYPE_U32:
		return PyLong_FromUnsignedLong(((const uint32_t *)c->data)[i]);
	case SL_TYPE_U64:
		return PyLong_FromUnsignedLongLong(((const uint64_t *)c->data)[i]);
	case SL_TYPE_U8:
		return PyLong_FromUnsignedLong(((const uint8_t *)c->data)[i]);
	case SL_TYPE_I32:
		return PyLong_FromLong(((const int32_t *)c->data)[i]);
	case SL_PY_I64:
		return PyLong_FromLongLong(((const int64_t *)c->data)[i]);
	default:
		return PyFloat_FromDouble(((const double *)c->data)[i]);
	}
}

/* A view of items from to to; it keeps the owner of the memory alive. */
static PyObject *view_of(struct sl_py_column *c, Py_ssize_t from, Py_ssize_t to)
{
	const Py_ssize_t shape[1] = {to > from ? to - from : 0};
	PyObject *view =
		sl_py_column_make(c->type, c->column, (char *)c->data + from * c->item->bytes,
			shape, 1, c->owner ? c->owner : (PyObject *)c);

	sl_py_column_set_label(view, &c->label);
	if (view)
		((struct sl_py_column *)view)->block = c->block;
	return view;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
	struct sl_py_column *c = (struct sl_py_column *)self;
	Py_ssize_t from, to, step, i;

	if (c->ndim != 1) {
		PyErr_SetString(PyExc_TypeError,
			"a column of two dimensions has no items: use numpy.asarray() or memoryview()");
		return NULL;
	}
	if (PySlice_Check(key)) {
		if (PySlice_Unpack(key, &from, &to, &step) < 0)
			return NULL;
		PySlice_AdjustIndices(c->n, &from, &to, step);
		if (step == 1)
			return view_of(c, from, to);
		PyErr_SetString(PyExc_ValueError,
			"a slice of a column has step 1: use numpy.asarray() or memoryview() for others");
		return NULL;
	}
	i = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (i == -1 && PyErr_Occurred())
		return NULL;
	i += i < 0 ? c->n : 0;
	if (i >= 0 && i < c->n)
		return item_of(c, i);
	PyErr_Format(PyExc_IndexError, "the column has %zd items", c->n);
	return NULL;
}

/* For iteration: ends with IndexError. */
static PyObject *sequence_item(PyObject *self, Py_ssize_t i)
{
	struct sl_py_column *c = (struct sl_py_column *)self;

	if (c->ndim == 1 && i >= 0 && i < c->n)
		return item_of(c, i);
	PyErr_Format(c->ndim == 1 ? PyExc_IndexError : PyExc_TypeError,
		"the column has %zd items in %d dimensions", c->n, c->ndim);
	return NULL;
}

static PyObject *tolist(PyObject *self, PyObject *none)
{
	PyObject *view = PyMemoryView_FromObject(self), *list = NULL;

	(void)none;
	if (view)
		list = PyObject_CallMethod(view, "tolist", NULL);
	Py_XDECREF(view);
	return list;
}

static PyObject *repr(PyObject *self)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;
	PyObject *name = get_name(self, NULL), *shape = sl_py_shape_of(c), *text = NULL;

	if (name && shape)
		text = PyUnicode_FromFormat(
			"<sluice.Column %U %s shape=%R>", name, c->item->typestr + 1, shape);
	Py_XDECREF(name);
	Py_XDECREF(shape);
	return text;
}

/* --- the type --------------------------------------------------------------------------------- */

/* Slots and methods hold functions as pointers to data, which C has no conversion for. */
#define SLOT(number, function)                        \
	{                                             \
		number, (void *)(uintptr_t)(function) \
	}

bool sl_py_column_add(PyObject *module)
{
	static PyMethodDef methods[] = {
		{"tolist", tolist, METH_NOARGS, "tolist()\n--\n\nThe items as Python numbers."},
		{"__reduce__", sl_py_column_reduce, METH_NOARGS,
			"For pickle and copy: the numbers are copied."},
		{"__dlpack__", (PyCFunction)(void (*)(void))sl_py_dlpack,
			METH_VARARGS | METH_KEYWORDS,
			"A DLPack capsule of the memory, without a copy."},
		{"__dlpack_device__", sl_py_dlpack_device, METH_NOARGS,
			"(1, 0): memory of the host; (2, N): of CUDA device N."},
		{"to_host", sl_py_to_host, METH_NOARGS,
			"to_host()\n--\n\nThe column, or a copy of it in memory of the host."},
		{"__arrow_c_schema__", sl_py_column_arrow_schema, METH_NOARGS,
			"The type as a capsule of Arrow."},
		{"__arrow_c_array__", sl_py_column_arrow_array, METH_VARARGS,
			"The type and the memory as capsules of Arrow, without a copy."},
		{NULL, NULL, 0, NULL}};
	static PyGetSetDef members[] = {
		{"__cuda_array_interface__", sl_py_get_cuda_array_interface, NULL,
			"The interface of CUDA arrays, version 3; only in memory of a device.",
			NULL},
		{"__array__", sl_py_get_array, NULL, "Refuses memory of a device.", NULL},
		{"device", sl_py_get_device, NULL, "Where the memory is: 'cpu' or 'cuda:0'.", NULL},
		{"__array_interface__", get_array_interface, NULL, "NumPy's interface.", NULL},
		{"shape", get_shape, NULL, "The number of items in each dimension.", NULL},
		{"typestr", get_typestr, NULL, "The type of an item, as in NumPy: '<f4'.", NULL},
		{"nbytes", get_nbytes, NULL, "The size of the memory in bytes.", NULL},
		{"name", get_name, NULL, "The name of the column.", NULL},
		{"unit", get_unit, NULL, "The unit of the values; '' without one.", NULL},
		{NULL, NULL, NULL, NULL, NULL}};
	static PyType_Slot slots[] = {SLOT(Py_tp_dealloc, dealloc), SLOT(Py_tp_repr, repr),
		SLOT(Py_bf_getbuffer, get_buffer), SLOT(Py_mp_length, length),
		SLOT(Py_mp_subscript, subscript), SLOT(Py_sq_item, sequence_item),
		{Py_tp_methods, methods}, {Py_tp_getset, members},
		{Py_tp_doc,
			(void *)(uintptr_t) "An array in memory of the library, shared without a copy.\n\n"
					    "numpy.asarray(column), memoryview(column) and torch.from_dlpack(column) use the "
					    "same memory."},
		{0, NULL}};
	static PyType_Spec spec = {.name = "sluice.Column",
		.basicsize = sizeof(struct sl_py_column),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
		.slots = slots};

	sl_py_column_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return sl_py_column_type &&
	       PyModule_AddObjectRef(module, "Column", (PyObject *)sl_py_column_type) == 0;
}
