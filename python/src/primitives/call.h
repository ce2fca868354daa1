/*
 * call.h - one call of a primitive on arrays, by a backend of the host or of a device.
 *
 * Arrays of the host: a backend of a device gets copies: the inputs are copied to the device, and
 * the outputs back. The host gets the arrays themselves. Arrays of a device: its backends get the
 * arrays themselves. Scratch is kept for the next call.
 */
#ifndef SL_PYTHON_PRIMITIVES_CALL_H
#define SL_PYTHON_PRIMITIVES_CALL_H

#include "primitives/primitives.h"
#include "python/src/primitives/device_input.h"

enum { SL_PY_OPERANDS_MOST = 4 };

/* An array that the call reads or writes. */
struct sl_py_operand {
	void *host;
	size_t bytes;
	bool in, out;
	void *at; /* in the space of the backend; set before queue() */
	/* With arrays of a device; host is for outputs that the caller needs there. */
	const struct sl_py_device_input *device; /* the array; NULL: memory is taken */
	struct sl_device_block *block;           /* that is taken; the caller gives it back */
};

struct sl_py_call {
	enum sl_primitive primitive;
	const char *backend; /* NULL: the fastest of the host or of the device */
	const char *device;  /* NULL: the host; emulated, cuda or cuda:N */
	/*
	 * The arrays are on that device. The work is queued on stream; waits: until it is done,
	 * else the blocks that are taken are marked (sl_block_mark()).
	 */
	bool resident, emulated, waits;
	int number;
	sl_stream stream;
	struct sl_shape shape;
	struct sl_py_operand operand[SL_PY_OPERANDS_MOST];
	int n_operands;
	/* Calls the primitive on the operands; job is the caller's. */
	enum sl_status (*queue)(
		struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x);
	void *job;
};

/* The number of a CUDA device, 0 of "cuda"; -1: the text names none. */
int sl_py_cuda_number(const char *device);

/* Whether the call runs on the emulated device. */
bool sl_py_call_is_emulated(const struct sl_py_call *c);

/*
 * Runs the call and waits for its end, unless c->waits is not set. The kind of device is chosen
 * (turn.h). SL_USAGE for an unknown backend or device; SL_NO_DEVICE for one that cannot be used.
 */
enum sl_status sl_py_call_run(struct sl_py_call *c);

/* Does the call run on a device? */
static inline bool sl_py_call_needs_device(const struct sl_py_call *c)
{
	return c->resident || c->device != NULL;
}

/* In a fork of the process, another thread may have had the scratch. */
void sl_py_call_reset(void);

#endif
