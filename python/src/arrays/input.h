/*
 * input.h - arrays of other libraries: the memory of an object that exports the buffer protocol or
 * DLPack.
 */
#ifndef SL_PYTHON_ARRAYS_INPUT_H
#define SL_PYTHON_ARRAYS_INPUT_H

#include "python/src/base/python.h"

#include "python/src/arrays/array.h"

/* All 0: nothing is held. */
struct sl_py_input {
	struct sl_py_array array; /* array.n: items of the first dimension */
	int ndim;
	bool contiguous;  /* no gaps, in the order of C */
	size_t all_bytes; /* of all items of all dimensions */
	bool has_view;
	Py_buffer view;
	PyObject *capsule; /* of DLPack; NULL: the buffer protocol */
	double real;       /* the number that array.data points to, if the object is a number */
	int64_t whole;
};

/*
 * Takes the memory of an object, or a number of Python, until sl_py_input_give(). writable: the
 * memory will be written to; needs the buffer protocol. name: of the argument, for messages. False
 * with an exception: TypeError if the object is no array, BufferError if its memory is on a device
 * or read-only.
 */
bool sl_py_input_take(PyObject *object, const char *name, bool writable, struct sl_py_input *in);
void sl_py_input_give(struct sl_py_input *in);

#endif
