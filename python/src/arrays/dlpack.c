/*
 * dlpack.c - see dlpack.h.
 *
 * The structs are those of the DLPack specification (dlpack.h of dmlc/dlpack). A consumer renames
 * the capsule and calls the deleter when it needs the memory no longer; a capsule that nobody
 * consumed does so itself. The deleter can be called from any thread.
 */
#include "python/src/arrays/dlpack.h"

#include <stdbool.h>
#include <stdlib.h>

#include "python/src/arrays/device_column.h"
#include "python/src/base/errors.h"

enum { CODE_INT = 0, CODE_UINT = 1, CODE_FLOAT = 2, CODE_BOOL = 6 };

/* DLTensor */
struct tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};

/* DLManagedTensor */
struct managed {
	struct tensor tensor;
	void *ctx;
	void (*deleter)(struct managed *);
};

/* DLManagedTensorVersioned */
struct managed_versioned {
	uint32_t major, minor;
	void *ctx;
	void (*deleter)(struct managed_versioned *);
	uint64_t flags;
	struct tensor tensor;
};

/* What an export consists of: one of the two structs, and the shape that it points to. */
struct shared {
	union {
		struct managed old;
		struct managed_versioned versioned;
	} as;
	int64_t shape[2], strides[2];
	PyObject *column;
};

static void release(struct shared *s)
{
	/* After the end of the interpreter the column is gone with it. */
	if (Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		Py_DECREF(s->column);
		PyGILState_Release(state);
	}
	free(s);
}

static void delete_old(struct managed *m)
{
	release((struct shared *)m->ctx);
}

static void delete_versioned(struct managed_versioned *m)
{
	release((struct shared *)m->ctx);
}

static const char name_old[] = "dltensor", name_versioned[] = "dltensor_versioned";

/* A consumer has renamed the capsule, unless there was none. */
static void end_capsule(PyObject *capsule)
{
	void *m;

	if (PyCapsule_IsValid(capsule, name_old)) {
		m = PyCapsule_GetPointer(capsule, name_old);
		release((struct shared *)((struct managed *)m)->ctx);
	} else if (PyCapsule_IsValid(capsule, name_versioned)) {
		m = PyCapsule_GetPointer(capsule, name_versioned);
		release((struct shared *)((struct managed_versioned *)m)->ctx);
	}
}

static void describe(const struct sl_py_column *c, struct shared *s, struct tensor *t)
{
	static const uint8_t code[SL_PY_ITEMS] = {[SL_TYPE_F32] = CODE_FLOAT,
		[SL_TYPE_U32] = CODE_UINT,
		[SL_TYPE_U64] = CODE_UINT,
		[SL_TYPE_U8] = CODE_UINT,
		[SL_TYPE_I32] = CODE_INT,
		[SL_PY_F64] = CODE_FLOAT,
		[SL_PY_I64] = CODE_INT};

	for (int i = 0; i < c->ndim; i++) {
		s->shape[i] = c->shape[i];
		s->strides[i] = c->strides[i] / c->item->bytes;
	}
	*t = (struct tensor){.data = c->data,
		.device_type = sl_py_is_on_device(c) ? SL_PY_DLPACK_CUDA : SL_PY_DLPACK_CPU,
		.device_id = sl_py_is_on_device(c) ? c->block->number : 0,
		.ndim = c->ndim,
		.code = code[c->type],
		.bits = (uint8_t)(8 * c->item->bytes),
		.lanes = 1,
		.shape = s->shape,
		.strides = s->strides};
}

static PyObject *export_by(PyObject *self, bool versioned)
{
	struct sl_py_column *c = (struct sl_py_column *)self;
	struct shared *s = (struct shared *)calloc(1, sizeof(*s));
	PyObject *capsule;

	if (!s)
		return PyErr_NoMemory();
	s->column = self;
	if (versioned) {
		s->as.versioned = (struct managed_versioned){
			.major = 1, .minor = 0, .ctx = s, .deleter = delete_versioned};
		describe(c, s, &s->as.versioned.tensor);
	} else {
		s->as.old = (struct managed){.ctx = s, .deleter = delete_old};
		describe(c, s, &s->as.old.tensor);
	}
	capsule = PyCapsule_New(&s->as, versioned ? name_versioned : name_old, end_capsule);
	if (capsule)
		Py_INCREF(self);
	else
		free(s);
	return capsule;
}

/*
 * The stream that the consumer names, by the rules of the Python array API: None is CUDA's legacy
 * default stream, 1 too, 2 the default stream of the thread, -1 asks for no synchronisation. False
 * with an exception.
 */
static bool take_stream(PyObject *stream, bool *waits, sl_stream *s)
{
	long long number = 1;

	if (stream != Py_None)
		number = PyLong_AsLongLong(stream);
	if (PyErr_Occurred())
		return false;
	if (number == 0 || number < -1) {
		PyErr_SetString(PyExc_ValueError,
			"stream: 0 and numbers below -1 are no streams of DLPack; use 1 for the legacy "
			"default stream");
		return false;
	}
	*waits = number != -1;
	*s = number == 1 ? NULL : (sl_stream)(uintptr_t)number;
	return true;
}

/*
 * Makes the stream of the consumer wait until the contents are complete. False with an exception.
 */
static bool synchronise(const struct sl_py_column *c, PyObject *stream)
{
	enum sl_status status = SL_OK;
	sl_stream s;
	bool waits;

	if (!sl_py_is_on_device(c)) {
		if (stream != Py_None)
			PyErr_SetString(
				PyExc_BufferError, "memory of the host has no stream; pass None");
		return stream == Py_None;
	}
	if (!take_stream(stream, &waits, &s))
		return false;
	if (waits)
		status = sl_block_follow(c->block, s);
	if (status != SL_OK)
		sl_py_raise(status, sl_last_error(), NULL);
	return status == SL_OK;
}

enum target { REFUSED, SAME, HOST };

/*
 * Where the consumer wants the array: where it is, or copied to the host. REFUSED with an
 * exception.
 */
static enum target target_of(const struct sl_py_column *c, PyObject *device, PyObject *copy)
{
	bool on_device = sl_py_is_on_device(c);
	int own_type = on_device ? SL_PY_DLPACK_CUDA : SL_PY_DLPACK_CPU;
	int own_id = on_device ? c->block->number : 0, type = own_type, id = own_id;

	if (device != Py_None && !PyArg_ParseTuple(device, "ii", &type, &id))
		return REFUSED;
	if (type == own_type && id == own_id && copy != Py_True)
		return SAME;
	if (on_device && type == SL_PY_DLPACK_CPU && copy != Py_False)
		return HOST;
	PyErr_SetString(PyExc_BufferError,
		on_device
			? "a column of a device is exported there without a copy, or as a copy on "
			  "the CPU"
			: "a column is exported on the CPU and without a copy only; copy it "
			  "afterwards");
	return REFUSED;
}

PyObject *sl_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {(char *)(uintptr_t) "stream", (char *)(uintptr_t) "max_version",
		(char *)(uintptr_t) "dl_device", (char *)(uintptr_t) "copy", NULL};
	PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None, *host;
	PyObject *capsule;
	int major = 0, minor = 0;
	enum target to;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, "|$OOOO", names, &stream, &version, &device, &copy))
		return NULL;
	if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor))
		return NULL;
	to = target_of((struct sl_py_column *)self, device, copy);
	if (to == SAME)
		return synchronise((struct sl_py_column *)self, stream)
		               ? export_by(self, major >= 1)
		               : NULL;
	host = to == HOST ? sl_py_to_host(self, NULL) : NULL;
	capsule = host ? export_by(host, major >= 1) : NULL;
	Py_XDECREF(host);
	return capsule;
}

PyObject *sl_py_dlpack_device(PyObject *self, PyObject *none)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;
	bool on_device = sl_py_is_on_device(c);

	(void)none;
	return Py_BuildValue("(ii)", on_device ? SL_PY_DLPACK_CUDA : SL_PY_DLPACK_CPU,
		on_device ? c->block->number : 0);
}

/* --- arrays of other libraries ---------------------------------------------------------------- */

static const char name_used[] = "used_dltensor";
static const char name_versioned_used[] = "used_dltensor_versioned";

/*
 * Describes the items of a tensor. False if they are no numbers of one lane, or have no valid
 * shape.
 */
static bool read_tensor(const struct tensor *t, struct sl_py_dlpack_array *d)
{
	static const char kinds[] = {
		[CODE_INT] = 'i', [CODE_UINT] = 'u', [CODE_FLOAT] = 'f', [CODE_BOOL] = '?'};
	const uint8_t bytes = t->bits / 8u;

	if (t->lanes != 1 || t->bits % 8 != 0 || t->code >= sizeof(kinds) || !kinds[t->code])
		return false;
	*d = (struct sl_py_dlpack_array){
		.array = {.data = t->data ? (const char *)t->data + t->byte_offset : NULL,
			.kind = kinds[t->code],
			.bytes = bytes},
		.device_type = t->device_type,
		.device_id = t->device_id};
	d->ndim = t->ndim;
	return sl_py_array_shape(
		&d->array, t->ndim, t->shape, t->strides, bytes, &d->bytes, &d->contiguous);
}

/* Marks a capsule as consumed. Its destructor has nothing to do then, and is not called. */
static bool consume(PyObject *capsule, const char *name)
{
	return PyCapsule_SetName(capsule, name) == 0 && PyCapsule_SetDestructor(capsule, NULL) == 0;
}

/* The flag of version 1 that forbids to write to the memory. */
enum { READ_ONLY = 1 };

/* Describes the array of a capsule. The name that it has after it is consumed, or NULL. */
static const char *read_capsule(PyObject *capsule, struct sl_py_dlpack_array *d)
{
	if (PyCapsule_IsValid(capsule, name_old)) {
		const struct managed *m = (struct managed *)PyCapsule_GetPointer(capsule, name_old);

		return read_tensor(&m->tensor, d) ? name_used : NULL;
	}
	if (PyCapsule_IsValid(capsule, name_versioned)) {
		const struct managed_versioned *m =
			(struct managed_versioned *)PyCapsule_GetPointer(capsule, name_versioned);

		if (m->major != 1 || !read_tensor(&m->tensor, d))
			return NULL;
		d->read_only = (m->flags & READ_ONLY) != 0;
		return name_versioned_used;
	}
	return NULL;
}

bool sl_py_dlpack_take(
	PyObject *exported, const char *name, PyObject **capsule, struct sl_py_dlpack_array *d)
{
	const char *used = read_capsule(exported, d);

	*capsule = NULL;
	if (used && consume(exported, used)) {
		*capsule = exported;
		return true;
	}
	if (PyCapsule_IsValid(exported, name_used) ||
		PyCapsule_IsValid(exported, name_versioned_used))
		PyErr_Format(PyExc_BufferError,
			"%s: __dlpack__() returned a capsule that has been consumed before; let it "
			"make a new one for each call",
			name);
	else if (!PyErr_Occurred())
		PyErr_Format(PyExc_BufferError,
			"%s: __dlpack__() returned no capsule of DLPack 0 or 1 with numbers of 1, 2, 4 "
			"or 8 bytes in an array with a valid shape",
			name);
	Py_DECREF(exported);
	return false;
}

/*
 * The deleter may be written in Python, or clear the exception of a call that fails: it sees none.
 */
void sl_py_dlpack_end(PyObject *capsule)
{
	PyObject *type, *value, *traceback;

	if (!capsule)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	if (PyCapsule_IsValid(capsule, name_used)) {
		struct managed *m = (struct managed *)PyCapsule_GetPointer(capsule, name_used);

		if (m->deleter)
			m->deleter(m);
	} else if (PyCapsule_IsValid(capsule, name_versioned_used)) {
		struct managed_versioned *m = (struct managed_versioned *)PyCapsule_GetPointer(
			capsule, name_versioned_used);

		if (m->deleter)
			m->deleter(m);
	}
	Py_DECREF(capsule);
	PyErr_Restore(type, value, traceback);
}

/* --- the table of C functions of a type ------------------------------------------------------- */

/* DLPackExchangeAPI, of version 1 of the specification. */
struct exchange {
	uint32_t major, minor;
	struct exchange *previous;
	int (*allocate)(void);
	int (*export_managed)(void);
	int (*import_managed)(void);
	int (*describe)(void *object, struct tensor *t);
	int (*work_stream)(int32_t device_type, int32_t device_id, void **stream);
};

static const char name_exchange[] = "dlpack_exchange_api";

/* The table of the type of an object, or NULL: most libraries have none. */
static const struct exchange *exchange_of(PyObject *object)
{
	PyObject *capsule =
		PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__dlpack_c_exchange_api__");
	const struct exchange *x = NULL;

	if (capsule && PyCapsule_IsValid(capsule, name_exchange))
		x = (const struct exchange *)PyCapsule_GetPointer(capsule, name_exchange);
	while (x && x->major > 1)
		x = x->previous;
	Py_XDECREF(capsule);
	PyErr_Clear();
	return x && x->major == 1 ? x : NULL;
}

bool sl_py_dlpack_describe(PyObject *object, struct sl_py_dlpack_array *d, void **stream)
{
	const struct exchange *x = exchange_of(object);
	struct tensor t = {.data = NULL};

	if (!x || !x->describe || !x->work_stream)
		return false;
	if (x->describe(object, &t) == 0 && t.device_type == SL_PY_DLPACK_CUDA &&
		read_tensor(&t, d) && x->work_stream(t.device_type, t.device_id, stream) == 0)
		return true;
	PyErr_Clear(); /* __dlpack__() says what is wrong */
	return false;
}
