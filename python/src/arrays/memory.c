/* memory.c - see arrays.h. */
#include "python/src/arrays/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/device/device.h"
#include "python/src/base/base.h"

struct memory {
	PyObject_HEAD void *data;
	size_t bytes;
	struct sl_device_block *block; /* that has the memory; NULL: it is of sl_memory_get() */
};

static PyTypeObject *memory_type;
static PyObject *column_class, *make_column, *cuda_array; /* of sluice/_column.py */

PyObject *sl_py_bind(PyObject *module, PyObject *args)
{
	(void)module;
	if (!PyArg_ParseTuple(args, "OOO", &column_class, &make_column, &cuda_array))
		return NULL;
	Py_INCREF(column_class);
	Py_INCREF(make_column);
	Py_INCREF(cuda_array);
	Py_RETURN_NONE;
}

PyObject *sl_py_cuda_array(PyObject *object)
{
	return PyObject_CallFunctionObjArgs(cuda_array, object, NULL);
}

/* --- owners ----------------------------------------------------------------------------------- */

static void give(void *data, struct sl_device_block *block)
{
	if (block)
		sl_block_give(block);
	else
		sl_memory_give(SL_HOST, data);
}

PyObject *sl_py_memory_of(void *data, size_t bytes, struct sl_device_block *block)
{
	struct memory *m = PyObject_New(struct memory, memory_type);

	if (!m) {
		give(data, block);
		return NULL;
	}
	m->data = block ? block->data : data;
	m->bytes = block ? block->bytes : bytes;
	m->block = block;
	return (PyObject *)m;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	give(((struct memory *)self)->data, ((struct memory *)self)->block);
	PyObject_Free(self);
	Py_DECREF(type);
}

static bool is_on_device(const struct memory *m)
{
	return m->block && !m->block->emulated;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
	const struct memory *m = (struct memory *)self;

	if (!is_on_device(m))
		return PyBuffer_FillInfo(view, self, m->data, (Py_ssize_t)m->bytes, 0, flags);
	view->obj = NULL;
	PyErr_SetString(PyExc_BufferError, "the host cannot read memory of a device");
	return -1;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* A column of n items at data, or at the beginning. Takes over the reference to owner. */
static PyObject *column_of(PyObject *owner, const struct sl_py_array *like, const char *name,
	enum sl_unit unit, const void *data, size_t n)
{
	SL_PY_OWNED PyObject *taken = owner;
	char type[8];

	if (!taken)
		return NULL;
	snprintf(type, sizeof(type), "%c%u", like->kind, (unsigned)like->bytes);
	return PyObject_CallFunction(make_column, "Ons(n)ss", taken,
		data ? (const char *)data - (const char *)((struct memory *)taken)->data
		     : (Py_ssize_t)0,
		like->kind == '?' ? "?" : type, (Py_ssize_t)n, name, sl_units[unit].text);
}

struct sl_py_array sl_py_items_of(enum sl_column column)
{
	static const char kind[] = {[SL_TYPE_F32] = 'f',
		[SL_TYPE_U32] = 'u',
		[SL_TYPE_U64] = 'u',
		[SL_TYPE_U8] = 'u',
		[SL_TYPE_I32] = 'i'};

	return (struct sl_py_array){.kind = kind[sl_column_facts[column].type],
		.bytes = (uint8_t)sl_column_facts[column].bytes};
}

bool sl_py_table_put(PyObject *columns, const struct sl_table *t, uint32_t k, bool wide,
	PyObject *owner, void *data)
{
	struct sl_py_array like = sl_py_items_of(t->column[k].column);

	owner = owner ? Py_NewRef(owner) : sl_py_memory_of(data, (size_t)t->n * like.bytes, NULL);
	if (wide && like.kind == 'f')
		like.bytes = sizeof(double);
	return sl_py_put(columns, sl_table_name(t, k),
		column_of(owner, &like, sl_table_name(t, k), sl_table_unit(t, k), data, t->n));
}

PyObject *sl_py_column_alone(const struct sl_py_array *like, int column, void *data,
	struct sl_device_block **block, size_t n)
{
	const struct sl_column_facts *f =
		column < SL_COLUMN_COUNT ? &sl_column_facts[column] : NULL;
	struct sl_device_block *taken = block ? *block : NULL;

	if (block)
		*block = NULL;
	return column_of(sl_py_memory_of(data, n * like->bytes, taken), like, f ? f->name : "",
		f ? f->unit : SL_UNIT_NONE, NULL, n);
}

enum sl_status sl_py_copy_items(const struct sl_table_column *c, uint32_t n, void **data)
{
	size_t item = sl_column_facts[c->column].bytes;

	SL_TRY(sl_memory_get(SL_HOST, n * item, data));
	if (!c->constant && n > 0)
		memcpy(*data, c->data, n * item);
	for (size_t i = 0; c->constant && i < n; i++)
		memcpy((char *)*data + i * item, c->data, item);
	return SL_OK;
}

/* --- places: (memory, offset, kind, bytes of an item, items) of a column of a block ------------- */

struct place {
	struct memory *owner;
	struct sl_py_array array; /* valid while the place is */
};

/* False with an exception. */
static bool read_place(PyObject *place, struct place *p)
{
	Py_ssize_t offset, n;
	int kind, bytes;

	if (!PyArg_ParseTuple(place, "O!niin", memory_type, &p->owner, &offset, &kind, &bytes, &n))
		return false;
	p->array = (struct sl_py_array){.data = (char *)p->owner->data + offset,
		.n = (size_t)n,
		.stride = bytes,
		.kind = kind == 'b' ? '?' : (char)kind,
		.bytes = (uint8_t)bytes};
	return true;
}

bool sl_py_block_column(
	PyObject *o, const struct sl_device_block **block, struct sl_py_dlpack_array *d)
{
	SL_PY_OWNED PyObject *place = PyObject_IsInstance(o, column_class) > 0
	                                      ? PyObject_GetAttrString(o, "_place")
	                                      : NULL; /* the column has the memory */
	struct place at;
	bool found = place && place != Py_None && read_place(place, &at);

	if (found) {
		*block = at.owner->block;
		d->array = at.array;
		d->ndim = 1;
		d->contiguous = true;
		d->bytes = d->array.n * d->array.bytes;
		d->device_type = SL_PY_DLPACK_CUDA;
		d->device_id = at.owner->block->number;
	}
	PyErr_Clear();
	return found;
}

struct joining {
	struct place *from; /* n arrays of one device */
	Py_ssize_t n;
	struct sl_device_block *block; /* that is taken for all of them */
};

static enum sl_status join(void *ctx)
{
	struct joining *j = (struct joining *)ctx;
	size_t bytes = 0, used = 0;

	for (Py_ssize_t i = 0; i < j->n; i++)
		bytes += j->from[i].array.n * j->from[i].array.bytes;
	SL_TRY(sl_block_take(bytes, NULL, &j->block));
	for (const struct place *p = j->from; p < j->from + j->n; p++) {
		bytes = p->array.n * p->array.bytes;
		SL_TRY(sl_block_follow(p->owner->block, NULL));
		SL_TRY(sl_copy((char *)j->block->data + used, p->array.data, bytes, NULL));
		used += bytes;
	}
	return sl_stream_wait(NULL);
}

/* The caller keeps the tuple of places, and so the memory. */
PyObject *sl_py_concat(PyObject *module, PyObject *places)
{
	struct joining j = {.n = PyTuple_Size(places)};
	bool taken = (j.from = (struct place *)calloc((size_t)j.n + 1, sizeof(*j.from))) != NULL;
	enum sl_status s = SL_HOST_MEMORY;

	(void)module;
	for (Py_ssize_t i = 0; taken && i < j.n; i++)
		taken = read_place(PyTuple_GetItem(places, i), &j.from[i]);
	if (taken) {
		const struct sl_device_block *first = j.from[0].owner->block;

		Py_BEGIN_ALLOW_THREADS
		s = sl_py_on_device(first->emulated, first->number, join, &j);
		Py_END_ALLOW_THREADS
	}
	free(j.from);
	if (s == SL_OK)
		return sl_py_memory_of(NULL, 0, j.block);
	sl_block_give(j.block);
	return PyErr_Occurred() ? NULL : sl_py_raise(s, sl_last_error(), NULL);
}

PyObject *sl_py_dlpack(PyObject *module, PyObject *args)
{
	PyObject *place;
	struct place at;
	enum sl_status s = SL_OK;
	long long stream;
	int major;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!Li", &PyTuple_Type, &place, &stream, &major) ||
		!read_place(place, &at))
		return NULL;
	if (stream != -1) /* the stream of the consumer waits until the contents are complete */
		s = sl_block_follow(
			at.owner->block, stream == 1 ? NULL : (sl_stream)(uintptr_t)stream);
	if (s != SL_OK)
		return sl_py_raise(s, sl_last_error(), NULL);
	return sl_py_dlpack_export(
		(PyObject *)at.owner, &at.array, at.owner->block->number, major >= 1);
}

/* --- the type --------------------------------------------------------------------------------- */

/* read(offset, bytes): a copy in memory of the host. */
static PyObject *read_memory(PyObject *self, PyObject *args)
{
	const struct memory *m = (struct memory *)self;
	Py_ssize_t offset, bytes;
	enum sl_status s;
	void *data;

	if (!PyArg_ParseTuple(args, "nn", &offset, &bytes))
		return NULL;
	if (sl_memory_get(SL_HOST, (size_t)bytes, &data) != SL_OK)
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS
	s = sl_block_read(m->block, (char *)m->data + offset, (size_t)bytes, data);
	Py_END_ALLOW_THREADS
	if (s == SL_OK)
		return sl_py_memory_of(data, (size_t)bytes, NULL);
	sl_memory_give(SL_HOST, data);
	return sl_py_raise(s, sl_last_error(), NULL);
}

/* 1 in __cuda_array_interface__: CUDA's legacy default stream. */
enum { LEGACY_STREAM = 1 };

/*
 * stream(): that of __cuda_array_interface__: None if the contents are complete, as those of a batch
 * are; else the legacy default stream, which waits for them. Consumers take that of the current
 * device, so the contents of another device are completed here.
 */
static PyObject *interface_stream(PyObject *self, PyObject *none)
{
	const struct sl_device_block *b = ((struct memory *)self)->block;
	bool waits = b->done && b->number != sl_cuda_current();
	enum sl_status s;

	(void)none;
	Py_BEGIN_ALLOW_THREADS
	s = waits ? sl_block_read(b, b->data, 0, NULL) : sl_block_follow(b, NULL);
	Py_END_ALLOW_THREADS
	if (s != SL_OK)
		return sl_py_raise(s, sl_last_error(), NULL);
	return b->done && !waits ? PyLong_FromLong(LEGACY_STREAM) : Py_NewRef(Py_None);
}

/* (address, bytes, number of the device or None, whether the host can read it) */
static PyObject *facts(PyObject *self, void *closure)
{
	const struct memory *m = (struct memory *)self;

	(void)closure;
	return Py_BuildValue("(NnNN)", PyLong_FromVoidPtr(m->data), (Py_ssize_t)m->bytes,
		m->block ? PyLong_FromLong(m->block->number) : Py_NewRef(Py_None),
		PyBool_FromLong(!is_on_device(m)));
}

bool sl_py_memory_make_type(void)
{
	static PyMethodDef methods[] = {
		{"read", read_memory, METH_VARARGS, "read(offset, bytes): a copy on the host."},
		{"stream", interface_stream, METH_NOARGS, "Of __cuda_array_interface__."},
		{NULL, NULL, 0, NULL}};
	static PyGetSetDef members[] = {
		{"facts", facts, NULL, "(address, bytes, device or None, host can read)", NULL},
		{NULL, NULL, NULL, NULL, NULL}};
	static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)(uintptr_t)dealloc},
		{Py_bf_getbuffer, (void *)(uintptr_t)get_buffer}, {Py_tp_methods, methods},
		{Py_tp_getset, members}, {0, NULL}};
	static PyType_Spec spec = {.name = "sluice._native.Memory",
		.basicsize = sizeof(struct memory),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
		.slots = slots};

	memory_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return memory_type != NULL;
}
