/*
 * device_input.h - arrays in the memory of a device: of another library, by DLPack or
 * __cuda_array_interface__, or columns whose memory is in a block.
 */
#ifndef SL_PYTHON_PRIMITIVES_DEVICE_INPUT_H
#define SL_PYTHON_PRIMITIVES_DEVICE_INPUT_H

#include "python/src/base/python.h"

#include "primitives/device/device_block.h"
#include "python/src/arrays/dlpack.h"

/* Where an array is. Columns of the emulated device are arrays of the host too. */
enum sl_py_where { SL_PY_NOWHERE, SL_PY_ON_HOST, SL_PY_ON_CUDA, SL_PY_ON_EMULATED };

/*
 * Where an object is, and on which device; SL_PY_NOWHERE with an exception. An object that is no
 * array is on the host.
 */
enum sl_py_where sl_py_where_is(PyObject *object, int *number);

/* An array of a device. All 0: nothing is held. */
struct sl_py_device_input {
	struct sl_py_dlpack_array at;
	PyObject *capsule; /* of DLPack, or NULL */
	const struct sl_device_block
		*block;     /* that has the array, and perhaps its completion; or NULL */
	bool follows;       /* the work on the array is queued after that on ... */
	sl_stream producer; /* ... this stream */
};

/*
 * Takes an array that is where sl_py_where_is() says, until sl_py_device_input_give(); the object
 * must live as long. Other libraries make stream wait for their work on the array, unless follows
 * is set. False with an exception.
 */
bool sl_py_device_input_take(PyObject *object, const char *name, bool writable, sl_stream stream,
	struct sl_py_device_input *in);
void sl_py_device_input_give(struct sl_py_device_input *in);

/* Queues on stream the waits for what the array depends on. On the device of the array. */
enum sl_status sl_py_device_input_follow(const struct sl_py_device_input *in, sl_stream stream);

#endif
