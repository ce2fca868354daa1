/*
 * dlpack.c - see dlpack.h.
 *
 * The structs are those of the DLPack specification (dlpack.h of dmlc/dlpack). A consumer renames the
 * capsule and calls the deleter when it needs the memory no longer; a capsule that nobody consumed
 * does so itself. The deleter can be called from any thread.
 */
#include "python/src/arrays/dlpack.h"

#include <stdbool.h>
#include <stdlib.h>

#include "python/src/arrays/column_type.h"

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
		.device_type = SL_PY_DLPACK_CPU,
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

/* Refuses what the memory of the host cannot give. False with an exception. */
static bool accept(PyObject *stream, PyObject *device, PyObject *copy)
{
	int type = SL_PY_DLPACK_CPU, id = 0;

	if (stream != Py_None) {
		PyErr_SetString(PyExc_BufferError, "memory of the host has no stream; pass None");
		return false;
	}
	if (device != Py_None && !PyArg_ParseTuple(device, "ii", &type, &id))
		return false;
	if (type != SL_PY_DLPACK_CPU || copy == Py_True) {
		PyErr_SetString(PyExc_BufferError,
			"a column is exported on the CPU and without a copy only; copy it afterwards");
		return false;
	}
	return true;
}

PyObject *sl_py_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = {(char *)(uintptr_t) "stream", (char *)(uintptr_t) "max_version",
		(char *)(uintptr_t) "dl_device", (char *)(uintptr_t) "copy", NULL};
	PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
	int major = 0, minor = 0;

	if (!PyArg_ParseTupleAndKeywords(
		    args, keywords, "|$OOOO", names, &stream, &version, &device, &copy))
		return NULL;
	if (version != Py_None && !PyArg_ParseTuple(version, "ii", &major, &minor))
		return NULL;
	return accept(stream, device, copy) ? export_by(self, major >= 1) : NULL;
}

PyObject *sl_py_dlpack_device(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	return Py_BuildValue("(ii)", SL_PY_DLPACK_CPU, 0);
}

/* --- arrays of other libraries ---------------------------------------------------------------- */

static const char name_used[] = "used_dltensor";

/* Without strides, the items have the order of C. */
static int64_t stride_of(const struct tensor *t, int dimension)
{
	int64_t stride = 1;

	if (t->strides)
		return t->strides[dimension];
	for (int i = t->ndim; --i > dimension;)
		stride *= t->shape[i];
	return stride;
}

static bool is_contiguous(const struct tensor *t)
{
	int64_t stride = 1;

	for (int i = t->ndim; i-- > 0;) {
		if (t->shape[i] > 1 && stride_of(t, i) != stride)
			return false;
		stride *= t->shape[i];
	}
	return true;
}

bool sl_py_dlpack_read(PyObject *capsule, struct sl_py_dlpack_array *d)
{
	static const char kinds[] = {
		[CODE_INT] = 'i', [CODE_UINT] = 'u', [CODE_FLOAT] = 'f', [CODE_BOOL] = '?'};
	const struct tensor *t;
	size_t bytes;

	if (!PyCapsule_IsValid(capsule, name_old))
		return false;
	t = &((struct managed *)PyCapsule_GetPointer(capsule, name_old))->tensor;
	if (t->lanes != 1 || t->bits % 8 != 0 || t->code >= sizeof(kinds) || !kinds[t->code] ||
		PyCapsule_SetName(capsule, name_used) < 0)
		return false;
	bytes = t->bits / 8u;
	*d = (struct sl_py_dlpack_array){
		.ndim = t->ndim, .contiguous = is_contiguous(t), .bytes = bytes};
	for (int i = 0; i < t->ndim; i++)
		d->bytes *= (size_t)t->shape[i];
	d->array = (struct sl_py_array){.data = (const char *)t->data + t->byte_offset,
		.n = t->ndim > 0 ? (size_t)t->shape[0] : 1,
		.stride = t->ndim > 0 ? (ptrdiff_t)(stride_of(t, 0) * (int64_t)bytes) : 0,
		.kind = kinds[t->code],
		.bytes = (uint8_t)bytes};
	return true;
}

void sl_py_dlpack_end(PyObject *capsule)
{
	struct managed *m;

	if (!PyCapsule_IsValid(capsule, name_used))
		return;
	m = (struct managed *)PyCapsule_GetPointer(capsule, name_used);
	if (m->deleter)
		m->deleter(m);
}
