/*
 * call.h - one call of a primitive on arrays in memory of the host, by a backend of the host or of a
 * device.
 *
 * A backend of a device gets copies: the inputs are copied to the device, and the outputs back. The host
 * gets the arrays themselves. Scratch is kept for the next call.
 */
#ifndef SL_PYTHON_PRIMITIVES_CALL_H
#define SL_PYTHON_PRIMITIVES_CALL_H

#include "primitives/primitives.h"

enum { SL_PY_OPERANDS_MOST = 4 };

/* An array that the call reads or writes. */
struct sl_py_operand {
	void *host;
	size_t bytes;
	bool in, out;
	void *at; /* in the space of the backend; set before queue() */
};

struct sl_py_call {
	enum sl_primitive primitive;
	const char *backend; /* NULL: the fastest of the host or of the device */
	const char *device;  /* NULL: the host; emulated, cuda or cuda:N */
	struct sl_shape shape;
	struct sl_py_operand operand[SL_PY_OPERANDS_MOST];
	int n_operands;
	/* Calls the primitive on the operands; job is the caller's. */
	enum sl_status (*queue)(
		struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x);
	void *job;
};

/*
 * Runs the call and waits for its end. A call on a device needs the device of the process for itself
 * (turn.h). SL_USAGE for an unknown backend or device; SL_NO_DEVICE for one that cannot be used.
 */
enum sl_status sl_py_call_run(struct sl_py_call *c);

/* Does the call run on a device? */
static inline bool sl_py_call_needs_device(const struct sl_py_call *c)
{
	return c->device != NULL;
}

/* In a fork of the process, another thread may have had the scratch. */
void sl_py_call_reset(void);

#endif
