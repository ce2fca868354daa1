/*
 * device_input.c - see arrays.h.
 *
 * An array is read in the fastest way that it offers: the block of a column; the C functions of its
 * type (torch); a capsule of DLPack; __cuda_array_interface__ (numba has nothing else).
 */
#include "python/src/arrays/arrays.h"

#include <string.h>

/* --- __cuda_array_interface__ ----------------------------------------------------------------- */

/* Sets the array, without its device. False, without an exception, if the members describe none. */
static bool read_interface(PyObject *object, struct sl_py_input *in)
{
	SL_PY_OWNED PyObject *facts = sl_py_cuda_array(object);
	int64_t shape[SL_PY_DIMENSIONS_MOST], strides[SL_PY_DIMENSIONS_MOST];
	const char *from_shape, *from_strides;
	Py_ssize_t bytes, strides_bytes;
	unsigned long long data;
	struct sl_py_dlpack_array *d = &in->at;
	long long stream;
	int read_only, kind, item;
	bool valid = facts &&
	             PyArg_ParseTuple(facts, "Kpiiy#z#L", &data, &read_only, &kind, &item,
			     &from_shape, &bytes, &from_strides, &strides_bytes, &stream) &&
	             bytes <= (Py_ssize_t)sizeof(shape);

	PyErr_Clear();
	if (!valid)
		return false;
	memcpy(shape, from_shape, (size_t)bytes);
	if (from_strides)
		memcpy(strides, from_strides, (size_t)bytes);
	d->array = (struct sl_py_array){.data = (const void *)(uintptr_t)data,
		.kind = kind == 'b' ? '?' : (char)kind,
		.bytes = (uint8_t)item};
	d->ndim = (int)(bytes / (Py_ssize_t)sizeof(*shape));
	d->read_only = read_only != 0;
	d->device_type = SL_PY_DLPACK_CUDA;
	in->follows = stream >= 0;
	in->producer = stream <= 1 ? NULL : (sl_stream)(uintptr_t)stream;
	return sl_py_array_shape(&d->array, d->ndim, shape, from_strides ? strides : NULL, 1,
		&d->bytes, &d->contiguous);
}

static bool take_interface(PyObject *object, const char *name, struct sl_py_input *in)
{
	if (read_interface(object, in))
		return true;
	PyErr_Format(PyExc_BufferError,
		"%s: __cuda_array_interface__ describes no array of numbers of 1, 2, 4 or 8 bytes with "
		"a valid shape, address and stream",
		name);
	return false;
}

/* A capsule of version 0 cannot say that memory is read-only: that of JAX is, by its interface. */
static bool is_read_only(PyObject *object, const struct sl_py_input *in)
{
	struct sl_py_input interface = {.capsule = NULL};

	if (in->at.read_only || !in->capsule || !PyCapsule_IsValid(in->capsule, "used_dltensor"))
		return in->at.read_only;
	return read_interface(object, &interface) && interface.at.read_only;
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
	struct sl_py_input in = {.capsule = NULL};

	if (PyObject_CheckBuffer(object) ||
		!PyObject_HasAttrString(object, "__cuda_array_interface__"))
		return SL_PY_ON_HOST;
	(void)read_interface(object, &in); /* take_interface() reports a failure */
	*number = sl_cuda_device_of(in.at.array.data);
	return SL_PY_ON_CUDA;
}

enum sl_py_where sl_py_where_is(PyObject *object, int *number)
{
	const struct sl_device_block *block;
	struct sl_py_dlpack_array d;
	SL_PY_OWNED PyObject *device = NULL;
	int type, id;

	*number = 0;
	if (sl_py_block_column(object, &block, &d)) {
		*number = block->number;
		return block->emulated ? SL_PY_ON_EMULATED : SL_PY_ON_CUDA;
	}
	if (!PyObject_HasAttrString(object, "__dlpack_device__"))
		return where_without_dlpack(object, number);
	device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
	return device && PyArg_ParseTuple(device, "ii", &type, &id) ? where_of(type, id, number)
	                                                            : SL_PY_NOWHERE;
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
	SL_PY_OWNED PyObject *exported = PyObject_GetAttrString(object, "__dlpack__");
	SL_PY_OWNED PyObject *none = PyTuple_New(0);
	SL_PY_OWNED PyObject *keywords =
		Py_BuildValue("{sK,s(ii)}", "stream", number_of(stream), "max_version", 1, 0);
	PyObject *capsule = NULL;

	if (exported && none && keywords)
		capsule = PyObject_Call(exported, none, keywords);
	if (!capsule && keywords && PyErr_ExceptionMatches(PyExc_TypeError)) {
		PyErr_Clear();
		if (PyDict_DelItemString(keywords, "max_version") == 0)
			capsule = PyObject_Call(exported, none, keywords);
	}
	return capsule;
}

/*
 * With the device of the array current: the number 1 means its default stream, and CuPy takes the
 * stream that the array follows from the current device.
 */
static bool take_capsule(
	PyObject *object, const char *name, sl_stream stream, struct sl_py_input *in)
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

/* --- all kinds -------------------------------------------------------------------------------- */

static bool take(PyObject *object, const char *name, sl_stream stream, struct sl_py_input *in)
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

bool sl_py_device_input_take(
	PyObject *object, const char *name, bool writable, sl_stream stream, struct sl_py_input *in)
{
	memset(in, 0, sizeof(*in));
	if (!take(object, name, stream, in)) {
		sl_py_input_give(in);
		return false;
	}
	if (!writable || !is_read_only(object, in))
		return true;
	sl_py_input_give(in);
	PyErr_Format(PyExc_BufferError, "%s: the array is read-only", name);
	return false;
}

/* The legacy default stream has two numbers. */
enum sl_status sl_py_device_input_follow(const struct sl_py_input *in, sl_stream stream)
{
	if (in->block)
		SL_TRY(sl_block_follow(in->block, stream));
	if (in->follows && number_of(in->producer) != number_of(stream))
		SL_TRY(sl_stream_after(stream, in->producer));
	return SL_OK;
}
