/*
 * argument.h - the arrays that Python passes to a call of a primitive: all on the host, or all on
 * one device.
 */
#ifndef SL_PYTHON_PRIMITIVES_ARGUMENT_H
#define SL_PYTHON_PRIMITIVES_ARGUMENT_H

#include "python/src/base/python.h"

#include "python/src/arrays/input.h"
#include "python/src/primitives/call.h"

/* An array that a call reads or writes. All 0: nothing is held. */
struct sl_py_argument {
	struct sl_py_array array; /* array.n: items of the first dimension */
	int ndim;
	bool contiguous;
	size_t bytes; /* of all items */
	bool given;   /* the caller has it; else it is a new array */
	bool on_device;
	struct sl_py_input host;
	struct sl_py_device_input device;
	void *made;                    /* new memory of the host */
	struct sl_device_block *block; /* or of a device */
};

/* Raises sluice.Error with the message of sl_fail(), and returns false. */
bool sl_py_refuse(enum sl_status s);

/*
 * Decides by the first array where the call runs: on the device of the array, or where c->device
 * says. stream is None, or a number. False with an exception: ValueError if the host is given a
 * stream.
 */
bool sl_py_place(struct sl_py_call *c, PyObject *first, PyObject *stream);

/* Takes an array without gaps that is where the call runs. False with an exception. */
bool sl_py_argument_take(const struct sl_py_call *c, PyObject *object, const char *name,
	bool writable, struct sl_py_argument *a);

/* The same, of one dimension and at most 2^32 - 1 items. */
bool sl_py_items_take(const struct sl_py_call *c, PyObject *object, const char *name, bool writable,
	struct sl_py_argument *a);

/*
 * Takes out, which must have the type and size of like, or makes an array like it if out is None.
 */
bool sl_py_output_take(const struct sl_py_call *c, PyObject *out, const char *name,
	const struct sl_py_array *like, struct sl_py_argument *a);

/* Adds an array as the next operand of the call. */
void sl_py_operand_add(struct sl_py_call *c, const struct sl_py_argument *a, bool in, bool out);

/* Adds a number that the caller gets. */
void sl_py_number_add(struct sl_py_call *c, void *to, size_t bytes);

/*
 * Runs the call without the lock of the interpreter; on a device, in its turn. False with an
 * exception.
 */
bool sl_py_run(struct sl_py_call *c);

/*
 * Operand i, which is the output a: the array of the caller, or a new Column of its first n items.
 */
PyObject *sl_py_output_object(struct sl_py_call *c, int i, struct sl_py_argument *a, PyObject *out);

/* Gives back what an argument, and a call, still hold. */
void sl_py_argument_give(struct sl_py_argument *a);
void sl_py_call_give(struct sl_py_call *c);

#endif
