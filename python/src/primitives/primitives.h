/* primitives.h - calls of primitives on arrays of Python. */
#ifndef SL_PYTHON_PRIMITIVES_PRIMITIVES_H
#define SL_PYTHON_PRIMITIVES_PRIMITIVES_H

#include "python/src/base/base.h"

#include "primitives/device/device_block.h"
#include "primitives/primitives.h"
#include "python/src/arrays/arrays.h"

/*
 * One call of a primitive on arrays, by a backend of the host or of a device.
 *
 * Arrays of the host: a backend of a device gets copies: the inputs are copied to the device, and
 * the outputs back. The host gets the arrays themselves. Arrays of a device: its backends get the
 * arrays themselves. Scratch is kept for the next call.
 */

enum { SL_PY_OPERANDS_MOST = 5 };

/* An array that the call reads or writes: one of the caller, or new memory. */
struct sl_py_operand {
	struct sl_py_array array; /* array.n: items of the first dimension */
	size_t bytes;             /* of all items */
	bool in, out;             /* has contents before the call, and after it */
	bool on_device;           /* the caller has it there */
	void *host; /* with arrays of a device: where an output is copied to, or NULL */
	void *at;   /* in the space of the backend */
	struct sl_py_input input;      /* the array of the caller */
	void *made;                    /* new memory of the host */
	struct sl_device_block *block; /* or of a device */
};

union sl_py_primitive_job {
	struct sl_scan_job scan;
	struct sl_compact_job compact;
	struct sl_sort_job sort;
	struct sl_deflate_job deflate;
	struct sl_expand_job expand;
};

struct sl_py_call {
	enum sl_primitive primitive;
	const char *backend; /* NULL: the fastest of the host or of the device */
	const char *device;  /* NULL: where the arrays are; emulated, cuda or cuda:N */
	/*
	 * on_device: the call runs there, on the device with that number or on the emulated one.
	 * resident: the arrays are there, too. The work is queued on stream; waits: until it is
	 * done, else the blocks that are taken are marked (sl_block_mark()).
	 */
	bool on_device, resident, emulated, waits;
	int number;
	sl_stream stream;
	struct sl_shape shape;
	struct sl_py_operand operand[SL_PY_OPERANDS_MOST];
	int n_operands;
	bool counted; /* the last operand is the number of items (n_on_device of a job) */
	union sl_py_primitive_job job; /* without the addresses of the operands */
};

/*
 * Runs the call and waits for its end, unless c->waits is not set. SL_USAGE for an unknown backend
 * or device; SL_NO_DEVICE for one that cannot be used.
 */
enum sl_status sl_py_call_run(struct sl_py_call *c);

/* In a fork of the process, another thread may have had the scratch. */
void sl_py_call_reset(void);

/* The arrays that Python passes to a call of a primitive: all on the host, or all on one device. */

/* Raises sluice.Error with the message of sl_fail(), and returns false. */
bool sl_py_refuse(enum sl_status s);

/*
 * Decides by the first array where the call runs: on the device of the array, or where c->device
 * says. stream is None, or a number. False with an exception: ValueError if the host is given a
 * stream; sluice.Error if c->device is no device, or not that of the array.
 */
bool sl_py_place(struct sl_py_call *c, PyObject *first, PyObject *stream);

/*
 * Takes an array without gaps that is where the call runs as the next operand, which is read, or
 * written if it is to be writable. NULL with an exception. sl_py_call_give() gives all operands back.
 */
struct sl_py_operand *sl_py_operand_take(
	struct sl_py_call *c, PyObject *object, const char *name, bool writable);

/* The same, of one dimension and at most 2^32 - 1 items. */
struct sl_py_operand *sl_py_items_take(
	struct sl_py_call *c, PyObject *object, const char *name, bool writable);

/*
 * Takes out, which must have the type and size of like, or makes an array like it if out is None.
 */
struct sl_py_operand *sl_py_output_take(
	struct sl_py_call *c, PyObject *out, const char *name, const struct sl_py_array *like);

/* Adds a number that the caller gets. */
void sl_py_number_add(struct sl_py_call *c, void *to, size_t bytes);

/*
 * Runs the call without the lock of the interpreter; on a device, in its turn. False with an
 * exception.
 */
bool sl_py_run(struct sl_py_call *c);

/* Operand i, an output: the array of the caller, or a new Column of its first n items. */
PyObject *sl_py_output_object(struct sl_py_call *c, int i, PyObject *out);

/* Gives back what the operands of a call hold. */
void sl_py_call_give(struct sl_py_call *c);

#endif
