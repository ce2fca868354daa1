/* dlpack.h - exports the memory of a column by DLPack, versions 0 and 1, and reads both. */
#ifndef SL_PYTHON_ARRAYS_DLPACK_H
#define SL_PYTHON_ARRAYS_DLPACK_H

#include "python/src/base/python.h"

#include "python/src/arrays/array.h"

/* Types of devices, of the specification. */
enum { SL_PY_DLPACK_CPU = 1, SL_PY_DLPACK_CUDA = 2, SL_PY_DLPACK_CUDA_HOST = 3 };

/* Column.__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None) */
PyObject *sl_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords);

/* Column.__dlpack_device__() */
PyObject *sl_py_dlpack_device(PyObject *self, PyObject *none);

/* The limit of NumPy and of the buffer protocol. */
enum { SL_PY_DIMENSIONS_MOST = 64 };

/* The array in a capsule of another library. */
struct sl_py_dlpack_array {
	struct sl_py_array array;
	int ndim;
	bool contiguous;
	size_t bytes; /* of all items */
	int device_type, device_id;
	bool read_only;
};

/*
 * Sets the shape of an array whose data, kind and bytes are set. strides, in multiples of unit bytes, can be
 * NULL: the items have the order of C. False if no array in memory can have such items and such a shape.
 */
bool sl_py_dlpack_set_shape(struct sl_py_dlpack_array *d, int ndim, const int64_t *shape,
	const int64_t *strides, int64_t unit);

/*
 * Consumes what __dlpack__() exported, a capsule of version 0 or 1: takes over the reference, and marks the
 * capsule as used. Another library may have consumed it before: then the capsule stays as it is. *capsule is for
 * sl_py_dlpack_end(), which frees the array. name: of the argument. False with BufferError.
 */
bool sl_py_dlpack_take(
	PyObject *exported, const char *name, PyObject **capsule, struct sl_py_dlpack_array *d);
void sl_py_dlpack_end(PyObject *capsule); /* NULL is allowed */

/*
 * Describes an array on a CUDA device by the C functions of its type, which torch has: within a
 * microsecond. *stream: that of the library in this thread, to which the contents belong. The array is
 * valid while the object lives. False without an exception if the type has no such functions, or
 * the array is none that they describe.
 */
bool sl_py_dlpack_describe(PyObject *object, struct sl_py_dlpack_array *d, void **stream);

#endif
