/*
 * input.c - see arrays.h.
 *
 * Most libraries have the buffer protocol. torch has DLPack instead, which is asked for version 0
 * here: every producer has it. Both are held until the memory is given back.
 */
#include "python/src/arrays/arrays.h"

#include <string.h>

/* Whether a format has Python objects. The names of fields are between colons. */
static bool has_objects(const char *format)
{
	bool name = false;

	for (; *format && (name || *format != 'O'); format++)
		name ^= *format == ':';
	return *format;
}

/*
 * The kind of the items of a buffer; O: objects, or records with them; V: other records and
 * numbers.
 */
static char kind_of(const char *format, Py_ssize_t bytes)
{
	if (!format)
		return bytes == 1 ? 'u' : 'V';
	if (has_objects(format))
		return 'O';
	if (strlen(format) == 2 &&
		(*format == '@' || *format == '=' || *format == '<' || bytes == 1))
		format++;
	if (strlen(format) != 1)
		return 'V';
	if (strchr("bhilqn", *format))
		return 'i';
	if (strchr("BHILQNc", *format))
		return 'u';
	return strchr("fd", *format) ? 'f' : *format == '?' ? '?' : 'V';
}

/*
 * The bytes from item to item; arrays of ctypes are contiguous and do not say it, although they are
 * asked.
 */
static Py_ssize_t stride_of(const Py_buffer *v)
{
	if (v->ndim == 0)
		return 0;
	return v->strides ? v->strides[0] : v->shape[0] > 0 ? v->len / v->shape[0] : v->itemsize;
}

/*
 * NumPy describes a step that nothing uses in any way it likes, so an array of one item is
 * contiguous.
 */
static bool take_buffer(PyObject *object, bool writable, struct sl_py_input *in)
{
	Py_buffer *v = &in->view;

	if (PyObject_GetBuffer(object, v, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0)
		return false;
	in->has_view = true;
	in->at.ndim = v->ndim;
	in->at.contiguous = PyBuffer_IsContiguous(v, 'C') != 0;
	in->at.bytes = (size_t)v->len;
	in->at.array = (struct sl_py_array){.data = v->buf,
		.n = v->ndim > 0 ? (size_t)v->shape[0] : 1,
		.stride = stride_of(v),
		.kind = kind_of(v->format, v->itemsize),
		.bytes = v->itemsize <= 8 ? (uint8_t)v->itemsize : 0,
		.constant = v->ndim == 0};
	return true;
}

static bool is_of_host(int device_type)
{
	return device_type == SL_PY_DLPACK_CPU || device_type == SL_PY_DLPACK_CUDA_HOST;
}

/* False with an exception if the object is an array on a device, or does not answer. */
static bool check_host(PyObject *object, const char *name)
{
	int number;
	const enum sl_py_where where = sl_py_where_is(object, &number);

	if (where == SL_PY_ON_CUDA)
		PyErr_Format(PyExc_BufferError,
			"%s: the array is in the memory of a device; copy it to the host first "
			"(column.to_host(), array.cpu(), cupy.asnumpy(array))",
			name);
	return where == SL_PY_ON_HOST || where == SL_PY_ON_EMULATED;
}

/* Takes an array by DLPack. */
static bool take_dlpack(PyObject *object, const char *name, struct sl_py_input *in)
{
	PyObject *exported = PyObject_CallMethod(object, "__dlpack__", NULL);

	if (!exported || !sl_py_dlpack_take(exported, name, &in->capsule, &in->at))
		return false;
	if (is_of_host(in->at.device_type))
		return true;
	PyErr_Format(PyExc_BufferError,
		"%s: __dlpack_device__() names the host, but the array is on a device of type %d "
		"of DLPack; correct the class of the array",
		name, in->at.device_type);
	return false;
}

/* A number of Python as an array of one item that is repeated. */
static bool take_number(PyObject *object, struct sl_py_input *in)
{
	bool real = PyFloat_Check(object);

	in->at.array = (struct sl_py_array){.data = real ? (void *)&in->real : (void *)&in->whole,
		.n = 1,
		.kind = real ? 'f' : 'i',
		.bytes = 8,
		.constant = true};
	if (real)
		in->real = PyFloat_AsDouble(object);
	else
		in->whole = PyLong_AsLongLong(object);
	return !PyErr_Occurred();
}

bool sl_py_input_take(PyObject *object, const char *name, bool writable, struct sl_py_input *in)
{
	memset(in, 0, sizeof(*in));
	if (PyFloat_Check(object) || PyLong_Check(object))
		return take_number(object, in);
	if (!check_host(object, name))
		return false;
	if (PyObject_CheckBuffer(object))
		return take_buffer(object, writable, in);
	if (!writable && PyObject_HasAttrString(object, "__dlpack__")) {
		if (take_dlpack(object, name, in))
			return true;
		sl_py_input_give(in);
		return false;
	}
	PyErr_Format(PyExc_TypeError, "%s: %R is no array with the buffer protocol%s", name,
		(PyObject *)Py_TYPE(object), writable ? "" : " or DLPack");
	return false;
}

void sl_py_input_give(struct sl_py_input *in)
{
	if (in->has_view)
		PyBuffer_Release(&in->view);
	sl_py_dlpack_end(in->capsule);
	memset(in, 0, sizeof(*in));
}
