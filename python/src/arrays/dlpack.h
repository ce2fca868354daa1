/* dlpack.h - exports memory of a device by DLPack, versions 0 and 1, and reads both. */
#ifndef SL_PYTHON_ARRAYS_DLPACK_H
#define SL_PYTHON_ARRAYS_DLPACK_H

#include "python/src/base/python.h"

#include "python/src/arrays/array.h"

/* Types of devices, of the specification. */
enum { SL_PY_DLPACK_CPU = 1, SL_PY_DLPACK_CUDA = 2, SL_PY_DLPACK_CUDA_HOST = 3 };

/*
 * A capsule of an array of one dimension on a CUDA device. owner: the object that has the memory.
 */
PyObject *sl_py_dlpack_export(
	PyObject *owner, const struct sl_py_array *a, int device, bool versioned);

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
 * Consumes what __dlpack__() exported, a capsule of version 0 or 1: takes over the reference, and
 * marks the capsule as used. A capsule that another library has consumed stays as it is. *capsule
 * is for sl_py_dlpack_end(), which frees the array. name: of the argument. False with BufferError.
 */
bool sl_py_dlpack_take(
	PyObject *exported, const char *name, PyObject **capsule, struct sl_py_dlpack_array *d);
void sl_py_dlpack_end(PyObject *capsule); /* NULL is allowed */

/*
 * Describes an array on a CUDA device by the C functions of its type, which torch has: within a
 * microsecond. *stream: that of the library in this thread, to which the contents belong. The array
 * is valid while the object lives. False without an exception if the type has no such functions, or
 * the array is none that they describe.
 */
bool sl_py_dlpack_describe(PyObject *object, struct sl_py_dlpack_array *d, void **stream);

#endif
