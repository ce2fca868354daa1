/*
 * device_input.c - see primitives.h.
 *
 * An array is read in the fastest way that it offers: the block of a column; the C functions of its
 * type (torch); a capsule of DLPack; __cuda_array_interface__ (numba has nothing else).
 */
#include "python/src/primitives/primitives.h"

#include <string.h>

#include "python/src/arrays/arrays.h"

/* --- members of __cuda_array_interface__ ------------------------------------------------------ */

/* The members of the dict; objects are borrowed from a copy of it that no other code can change. */
struct cuda_array {
	PyObject *dict, *shape, *strides, *stream;
	const char *type;
	unsigned long long data;
	int read_only;
};

/* The caller ends with Py_XDECREF(a->dict). False, perhaps with an exception, if it is no array. */
static bool read_members(PyObject *object, struct cuda_array *a)
{
	PyObject *dict = PyObject_GetAttrString(object, "__cuda_array_interface__"), *type, *data,
		 *mask;

	a->dict = dict && PyDict_Check(dict) ? PyDict_Copy(dict) : NULL;
	Py_XDECREF(dict);
	if (!a->dict)
		return false;
	a->shape = PyDict_GetItemString(a->dict, "shape");
	a->strides = PyDict_GetItemString(a->dict, "strides");
	a->stream = PyDict_GetItemString(a->dict, "stream");
	type = PyDict_GetItemString(a->dict, "typestr");
	data = PyDict_GetItemString(a->dict, "data");
	mask = PyDict_GetItemString(a->dict, "mask");
	if (!a->shape || !PyTuple_Check(a->shape) || !type || !PyUnicode_Check(type) || !data ||
		!PyTuple_Check(data) || (mask && mask != Py_None))
		return false;
	a->type = PyUnicode_AsUTF8AndSize(type, NULL);
	return a->type && PyArg_ParseTuple(data, "Kp", &a->data, &a->read_only);
}

/* --- where an array is ------------------------------------------------------------------------ */

static enum sl_py_where where_of(int type, int id, int *number)
{
	*number = id;
	if (type == SL_PY_DLPACK_CUDA)
		return SL_PY_ON_CUDA;
	if (type == SL_PY_DLPACK_CPU || type == SL_PY_DLPACK_CUDA_HOST)
		return SL_PY_ON_HOST;
	PyErr_Format(PyExc_BufferError,
		"the array is on a device of type %d of DLPack; arrays of the host and of CUDA devices "
		"can be used",
		type);
	return SL_PY_NOWHERE;
}

/*
 * __cuda_array_interface__ names no device: it is that of the address, whichever device is current.
 * An empty array has no address, and is on the current device. DLPack is asked before the buffer
 * protocol, which arrays of JAX have on a device too.
 */
static enum sl_py_where where_without_dlpack(PyObject *object, int *number)
{
	struct cuda_array a = {.dict = NULL};

	if (PyObject_CheckBuffer(object) ||
		!PyObject_HasAttrString(object, "__cuda_array_interface__"))
		return SL_PY_ON_HOST;
	if (!read_members(object, &a))
		a.data = 0; /* take_interface() reports it */
	Py_XDECREF(a.dict);
	PyErr_Clear();
	*number = sl_cuda_device_of((const void *)(uintptr_t)a.data);
	return SL_PY_ON_CUDA;
}

enum sl_py_where sl_py_where_is(PyObject *object, int *number)
{
	const struct sl_device_block *block;
	struct sl_py_dlpack_array d;
	int type, id;
	PyObject *device;

	*number = 0;
	if (sl_py_block_column(object, &block, &d)) {
		*number = block->number;
		return block->emulated ? SL_PY_ON_EMULATED : SL_PY_ON_CUDA;
	}
	if (!PyObject_HasAttrString(object, "__dlpack_device__"))
		return where_without_dlpack(object, number);
	device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
	if (!device)
		return SL_PY_NOWHERE;
	type = PyArg_ParseTuple(device, "ii", &type, &id) ? type : -1;
	Py_DECREF(device);
	return type < 0 ? SL_PY_NOWHERE : where_of(type, id, number);
}

/* --- DLPack ----------------------------------------------------------------------------------- */

/* The number by which DLPack calls the stream; the legacy default stream is 1. */
static unsigned long long number_of(sl_stream stream)
{
	return stream ? (unsigned long long)(uintptr_t)stream : 1;
}

/*
 * A capsule of version 1 if the library has it, because only that tells memory that is read-only.
 */
static PyObject *capsule_of(PyObject *object, sl_stream stream)
{
	PyObject *exported = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
	PyObject *keywords =
		Py_BuildValue("{sK,s(ii)}", "stream", number_of(stream), "max_version", 1, 0);
	PyObject *capsule = NULL;

	if (exported && none && keywords)
		capsule = PyObject_Call(exported, none, keywords);
	if (!capsule && keywords && PyErr_ExceptionMatches(PyExc_TypeError)) {
		PyErr_Clear();
		if (PyDict_DelItemString(keywords, "max_version") == 0)
			capsule = PyObject_Call(exported, none, keywords);
	}
	Py_XDECREF(keywords);
	Py_XDECREF(none);
	Py_XDECREF(exported);
	return capsule;
}

/*
 * With the device of the array current: the number 1 means its default stream, and CuPy takes the
 * stream that the array follows from the current device.
 */
static bool take_capsule(
	PyObject *object, const char *name, sl_stream stream, struct sl_py_device_input *in)
{
	PyObject *exported;
	int number, before;

	if (sl_py_where_is(object, &number) == SL_PY_NOWHERE)
		return false;
	before = sl_cuda_swap(number);
	exported = capsule_of(object, stream);
	(void)sl_cuda_swap(before);
	if (!exported || !sl_py_dlpack_take(exported, name, &in->capsule, &in->at))
		return false;
	if (in->at.device_type == SL_PY_DLPACK_CUDA && in->at.device_id == number)
		return true;
	PyErr_Format(PyExc_BufferError,
		"%s: __dlpack_device__() names CUDA device %d, but the array is on device %d of type "
		"%d of DLPack; correct the class of the array",
		name, number, in->at.device_id, in->at.device_type);
	return false;
}

/* --- __cuda_array_interface__ ----------------------------------------------------------------- */

/* Reads a tuple of numbers. False if it has another number of items, or with an exception. */
static bool read_tuple(PyObject *tuple, Py_ssize_t n, int64_t *number)
{
	if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != n)
		return false;
	for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
		number[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
	return !PyErr_Occurred();
}

/* Fills in the shape. False, perhaps with an exception, if it is none of an array in memory. */
static bool read_shape(const struct cuda_array *a, struct sl_py_dlpack_array *d)
{
	int64_t shape[SL_PY_DIMENSIONS_MOST], strides[SL_PY_DIMENSIONS_MOST];
	bool has_strides = a->strides && a->strides != Py_None;
	Py_ssize_t ndim = PyTuple_Size(a->shape);

	d->ndim = (int)ndim;
	return ndim <= SL_PY_DIMENSIONS_MOST && read_tuple(a->shape, ndim, shape) &&
	       (!has_strides || read_tuple(a->strides, ndim, strides)) &&
	       sl_py_array_shape(&d->array, d->ndim, shape, has_strides ? strides : NULL, 1,
		       &d->bytes, &d->contiguous);
}

/* Fills in the type of the items: "<f4". */
static bool read_type(const char *type, struct sl_py_array *a)
{
	if (strlen(type) != 3 || type[0] == '>' || !strchr("fiub", type[1]) || type[2] < '1' ||
		type[2] > '8')
		return false;
	a->kind = type[1] == 'b' ? '?' : type[1];
	a->bytes = (uint8_t)(type[2] - '0');
	return true;
}

/* The stream of the array, which the work follows. False with an exception. */
static bool read_stream(const struct cuda_array *a, struct sl_py_device_input *in)
{
	unsigned long long number;

	if (!a->stream || a->stream == Py_None)
		return true;
	number = PyLong_AsUnsignedLongLong(a->stream);
	in->follows = true;
	in->producer = number <= 1 ? NULL : (sl_stream)(uintptr_t)number;
	return !PyErr_Occurred();
}

static bool take_interface(PyObject *object, const char *name, struct sl_py_device_input *in)
{
	struct cuda_array a = {.dict = NULL};
	bool taken = read_members(object, &a) && read_type(a.type, &in->at.array);

	in->at.array.data = (const void *)(uintptr_t)a.data;
	in->at.read_only = a.read_only != 0;
	in->at.device_type = SL_PY_DLPACK_CUDA;
	taken = taken && read_shape(&a, &in->at) && read_stream(&a, in);
	Py_XDECREF(a.dict);
	if (!taken && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError)))
		PyErr_Format(PyExc_BufferError,
			"%s: __cuda_array_interface__ describes no array of numbers of 1, 2, 4 or 8 "
			"bytes with a valid shape, address and stream",
			name);
	return taken;
}

/* A capsule of version 0 cannot say that memory is read-only: that of JAX is, by its interface. */
static bool is_read_only(PyObject *object, const struct sl_py_device_input *in)
{
	struct cuda_array a = {.dict = NULL};
	bool read_only;

	if (in->at.read_only || !in->capsule || !PyCapsule_IsValid(in->capsule, "used_dltensor"))
		return in->at.read_only;
	read_only = read_members(object, &a) && a.read_only != 0;
	Py_XDECREF(a.dict);
	PyErr_Clear();
	return read_only;
}

/* --- all kinds -------------------------------------------------------------------------------- */

static bool take(
	PyObject *object, const char *name, sl_stream stream, struct sl_py_device_input *in)
{
	void *producer = NULL;

	if (sl_py_block_column(object, &in->block, &in->at))
		return true;
	if (sl_py_dlpack_describe(object, &in->at, &producer)) {
		in->follows = true;
		in->producer = (sl_stream)producer;
		return true;
	}
	return PyObject_HasAttrString(object, "__dlpack__") ? take_capsule(object, name, stream, in)
	                                                    : take_interface(object, name, in);
}

bool sl_py_device_input_take(PyObject *object, const char *name, bool writable, sl_stream stream,
	struct sl_py_device_input *in)
{
	memset(in, 0, sizeof(*in));
	if (!take(object, name, stream, in)) {
		sl_py_device_input_give(in);
		return false;
	}
	if (!writable || !is_read_only(object, in))
		return true;
	sl_py_device_input_give(in);
	PyErr_Format(PyExc_BufferError, "%s: the array is read-only", name);
	return false;
}

void sl_py_device_input_give(struct sl_py_device_input *in)
{
	sl_py_dlpack_end(in->capsule);
	memset(in, 0, sizeof(*in));
}

/* The legacy default stream has two numbers. */
static bool is_same(sl_stream a, sl_stream b)
{
	return number_of(a) == number_of(b);
}

enum sl_status sl_py_device_input_follow(const struct sl_py_device_input *in, sl_stream stream)
{
	if (in->block)
		SL_TRY(sl_block_follow(in->block, stream));
	if (in->follows && !is_same(in->producer, stream))
		SL_TRY(sl_stream_after(stream, in->producer));
	return SL_OK;
}
