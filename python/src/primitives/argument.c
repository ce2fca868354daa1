/* argument.c - see primitives.h. */
#include "python/src/primitives/primitives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"

bool sl_py_refuse(enum sl_status s)
{
	sl_py_raise(s, sl_last_error(), NULL);
	return false;
}

/* --- where a call runs ------------------------------------------------------------------------ */

/* The number of a CUDA device, 0 of "cuda"; -1: the text names none. */
static int cuda_number(const char *device)
{
	const char *digits = device + strlen("cuda:");

	if (strcmp(device, "cuda") == 0)
		return 0;
	if (strncmp(device, "cuda:", strlen("cuda:")) != 0 || strlen(digits) < 1 ||
		strlen(digits) > 4 || strspn(digits, "0123456789") != strlen(digits))
		return -1;
	return (int)strtol(digits, NULL, 10);
}

/* An array of a device: one that is named must be that of the array. */
static bool place_there(struct sl_py_call *c, PyObject *stream)
{
	unsigned long long number = 0;

	if (c->device && strcmp(c->device, "cuda") != 0 && cuda_number(c->device) != c->number)
		return sl_py_refuse(sl_fail(SL_USAGE,
			"device: '%s' is not where the array is, which is cuda:%d; leave device out, or copy the "
			"array",
			c->device, c->number));
	c->on_device = c->resident = true;
	c->waits = stream == Py_None;
	if (!c->waits)
		number = PyLong_AsUnsignedLongLong(stream);
	c->stream = number <= 1 ? NULL : (sl_stream)(uintptr_t)number;
	return !PyErr_Occurred();
}

bool sl_py_place(struct sl_py_call *c, PyObject *first, PyObject *stream)
{
	enum sl_py_where where = sl_py_where_is(first, &c->number);

	if (where == SL_PY_NOWHERE)
		return false;
	if (where == SL_PY_ON_CUDA)
		return place_there(c, stream);
	if (stream != Py_None) {
		PyErr_SetString(PyExc_ValueError,
			"stream: the array is in memory of the host, which has no stream; pass None");
		return false;
	}
	c->waits = true;
	c->on_device = c->device != NULL;
	c->emulated = c->on_device && strcmp(c->device, "emulated") == 0;
	c->resident = c->emulated && where == SL_PY_ON_EMULATED;
	if (!c->resident)
		c->number = c->on_device && !c->emulated ? cuda_number(c->device) : 0;
	return c->number >= 0 ||
	       sl_py_refuse(sl_fail(SL_USAGE,
		       "device: '%s' is not a device; leave it out for the host, or use 'emulated', "
		       "'cuda' or 'cuda:1'",
		       c->device));
}

/* --- arrays ----------------------------------------------------------------------------------- */

static bool take_from_host(
	PyObject *object, const char *name, bool writable, struct sl_py_operand *o)
{
	if (!sl_py_input_take(object, name, writable, &o->input))
		return false;
	o->host = (void *)(uintptr_t)o->input.at.array.data;
	return !o->input.at.array.constant ||
	       sl_py_refuse(sl_fail(
		       SL_USAGE, "%s: a number is no array; use an array of one item", name));
}

/* Where an array is, for messages. */
static const char *place_name(enum sl_py_where where, int number, char text[32])
{
	snprintf(text, 32, "on device cuda:%d", number);
	return where == SL_PY_ON_CUDA       ? text
	       : where == SL_PY_ON_EMULATED ? "on the emulated device"
	                                    : "in memory of the host";
}

static bool take_from_device(const struct sl_py_call *c, PyObject *object, const char *name,
	bool writable, struct sl_py_operand *o)
{
	enum sl_py_where wanted = c->emulated ? SL_PY_ON_EMULATED : SL_PY_ON_CUDA, where;
	char is[32], must_be[32];
	int number;

	where = sl_py_where_is(object, &number);
	if (where == SL_PY_NOWHERE)
		return false;
	if (where != wanted || number != c->number)
		return sl_py_refuse(sl_fail(SL_USAGE,
			"%s: the array is %s, but must be %s as the first one; copy it", name,
			place_name(where, number, is), place_name(wanted, c->number, must_be)));
	o->on_device = sl_py_device_input_take(object, name, writable, c->stream, &o->input);
	return o->on_device;
}

struct sl_py_operand *sl_py_operand_take(
	struct sl_py_call *c, PyObject *object, const char *name, bool writable)
{
	struct sl_py_operand *o = &c->operand[c->n_operands++];

	o->in = !writable;
	o->out = writable;
	if (!(c->resident ? take_from_device(c, object, name, writable, o)
			  : take_from_host(object, name, writable, o)))
		return NULL;
	o->array = o->input.at.array;
	o->bytes = o->input.at.bytes;
	if (o->input.at.contiguous)
		return o;
	sl_py_refuse(
		sl_fail(SL_USAGE, "%s: the array has gaps between its items; copy it (%s)", name,
			c->resident ? "array.contiguous(), cupy.ascontiguousarray"
				    : "numpy.ascontiguousarray"));
	return NULL;
}

struct sl_py_operand *sl_py_items_take(
	struct sl_py_call *c, PyObject *object, const char *name, bool writable)
{
	struct sl_py_operand *o = sl_py_operand_take(c, object, name, writable);

	if (!o || (o->input.at.ndim == 1 && o->array.n <= UINT32_MAX))
		return o;
	sl_py_refuse(
		o->input.at.ndim != 1
			? sl_fail(SL_USAGE, "%s: the array has %d dimensions, but must have one",
				  name, o->input.at.ndim)
			: sl_fail(SL_USAGE, "%s: %zu items are too many, at most %u are allowed",
				  name, o->array.n, UINT32_MAX));
	return NULL;
}

/* What the call does not write of the array of the caller stays as it is. */
struct sl_py_operand *sl_py_output_take(
	struct sl_py_call *c, PyObject *out, const char *name, const struct sl_py_array *like)
{
	struct sl_py_operand *o;

	if (out == Py_None) {
		o = &c->operand[c->n_operands++];
		*o = (struct sl_py_operand){
			.array = *like, .bytes = like->n * like->bytes, .out = true};
		if (!c->resident && sl_memory_get(SL_HOST, o->bytes, &o->made) != SL_OK) {
			sl_py_refuse(SL_HOST_MEMORY);
			return NULL;
		}
		o->host = o->made;
		return o;
	}
	o = sl_py_items_take(c, out, name, true);
	if (!o || (o->array.kind == like->kind && o->array.bytes == like->bytes &&
			  o->array.n == like->n))
		return o;
	sl_py_refuse(sl_fail(SL_USAGE, "%s: the array has %zu items of %s, but must have %zu of %s",
		name, o->array.n, sl_py_type_name(&o->array), like->n, sl_py_type_name(like)));
	return NULL;
}

/* --- calls ------------------------------------------------------------------------------------ */

void sl_py_number_add(struct sl_py_call *c, void *to, size_t bytes)
{
	c->operand[c->n_operands++] =
		(struct sl_py_operand){.host = to, .bytes = bytes, .out = true};
	c->waits = true;
}

bool sl_py_run(struct sl_py_call *c)
{
	enum sl_status s;

	Py_BEGIN_ALLOW_THREADS
	s = sl_py_call_run(c);
	Py_END_ALLOW_THREADS
	return s == SL_OK || sl_py_refuse(s);
}

PyObject *sl_py_output_object(struct sl_py_call *c, int i, PyObject *out)
{
	struct sl_py_operand *o = &c->operand[i];
	void *made = o->made;

	if (out != Py_None)
		return Py_NewRef(out);
	o->made = NULL;
	return sl_py_column_alone(&o->array, SL_COLUMN_COUNT, made, &o->block, o->array.n);
}

void sl_py_call_give(struct sl_py_call *c)
{
	for (int i = 0; i < c->n_operands; i++) {
		sl_py_input_give(&c->operand[i].input);
		sl_memory_give(SL_HOST, c->operand[i].made);
		sl_block_give(c->operand[i].block);
	}
}
