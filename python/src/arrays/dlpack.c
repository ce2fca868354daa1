/*
 * dlpack.c - see arrays.h.
 *
 * The structs are those of the DLPack specification (dlpack.h of dmlc/dlpack). A consumer renames
 * the capsule and calls the deleter when it needs the memory no longer; a capsule that nobody
 * consumed does so itself. The deleter can be called from any thread.
 */
#include "python/src/arrays/arrays.h"

#include <stdbool.h>
#include <stdlib.h>

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
	int64_t shape, stride;
	PyObject *owner;
};

static void release(struct shared *s)
{
	/* After the end of the interpreter the memory is gone with it. */
	if (Py_IsInitialized()) {
		PyGILState_STATE state = PyGILState_Ensure();

		Py_DECREF(s->owner);
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
static const char name_used[] = "used_dltensor";
static const char name_versioned_used[] = "used_dltensor_versioned";

/* The struct in a capsule with one of two names; NULL: it has another name. */
static void *struct_in(
	PyObject *capsule, const char *old, const char *versioned, bool *is_versioned)
{
	*is_versioned = PyCapsule_IsValid(capsule, versioned) != 0;
	return *is_versioned || PyCapsule_IsValid(capsule, old)
	               ? PyCapsule_GetPointer(capsule, *is_versioned ? versioned : old)
	               : NULL;
}

/* A consumer has renamed the capsule, unless there was none. */
static void end_capsule(PyObject *capsule)
{
	bool is_versioned;
	void *m = struct_in(capsule, name_old, name_versioned, &is_versioned);

	if (m)
		release((struct shared *)m); /* which begins with either struct */
}

static void describe(const struct sl_py_array *a, int device, struct shared *s, struct tensor *t)
{
	s->shape = (int64_t)a->n;
	s->stride = 1;
	*t = (struct tensor){.data = (void *)(uintptr_t)a->data,
		.device_type = SL_PY_DLPACK_CUDA,
		.device_id = device,
		.ndim = 1,
		.code = a->kind == 'f'   ? CODE_FLOAT
	                : a->kind == 'i' ? CODE_INT
	                : a->kind == '?' ? CODE_BOOL
	                                 : CODE_UINT,
		.bits = (uint8_t)(8 * a->bytes),
		.lanes = 1,
		.shape = &s->shape,
		.strides = &s->stride};
}

PyObject *sl_py_dlpack_export(
	PyObject *owner, const struct sl_py_array *a, int device, bool versioned)
{
	struct shared *s = (struct shared *)calloc(1, sizeof(*s));
	PyObject *capsule;

	if (!s)
		return PyErr_NoMemory();
	s->owner = owner;
	if (versioned) {
		s->as.versioned = (struct managed_versioned){
			.major = 1, .minor = 0, .ctx = s, .deleter = delete_versioned};
		describe(a, device, s, &s->as.versioned.tensor);
	} else {
		s->as.old = (struct managed){.ctx = s, .deleter = delete_old};
		describe(a, device, s, &s->as.old.tensor);
	}
	capsule = PyCapsule_New(&s->as, versioned ? name_versioned : name_old, end_capsule);
	if (capsule)
		Py_INCREF(owner);
	else
		free(s);
	return capsule;
}

/* --- arrays of other libraries ---------------------------------------------------------------- */

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

/* The flag of version 1 that forbids to write to the memory. */
enum { READ_ONLY = 1 };

/* Describes the array of a capsule. The name that it has after it is consumed, or NULL. */
static const char *read_capsule(PyObject *capsule, struct sl_py_dlpack_array *d)
{
	bool is_versioned;
	void *m = struct_in(capsule, name_old, name_versioned, &is_versioned);
	const struct managed_versioned *v = (const struct managed_versioned *)m;

	if (!m || (is_versioned && v->major != 1) ||
		!read_tensor(is_versioned ? &v->tensor : &((const struct managed *)m)->tensor, d))
		return NULL;
	d->read_only = is_versioned && (v->flags & READ_ONLY) != 0;
	return is_versioned ? name_versioned_used : name_used;
}

bool sl_py_dlpack_take(
	PyObject *exported, const char *name, PyObject **capsule, struct sl_py_dlpack_array *d)
{
	const char *used = read_capsule(exported, d);
	bool is_versioned;

	*capsule = NULL;
	/* the destructor has nothing to do then */
	if (used && PyCapsule_SetName(exported, used) == 0 &&
		PyCapsule_SetDestructor(exported, NULL) == 0) {
		*capsule = exported;
		return true;
	}
	if (struct_in(exported, name_used, name_versioned_used, &is_versioned))
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
	bool is_versioned;
	void *m;

	if (!capsule)
		return;
	PyErr_Fetch(&type, &value, &traceback);
	m = struct_in(capsule, name_used, name_versioned_used, &is_versioned);
	if (is_versioned && ((struct managed_versioned *)m)->deleter)
		((struct managed_versioned *)m)->deleter((struct managed_versioned *)m);
	else if (m && !is_versioned && ((struct managed *)m)->deleter)
		((struct managed *)m)->deleter((struct managed *)m);
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
	SL_PY_OWNED PyObject *capsule =
		PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__dlpack_c_exchange_api__");
	const struct exchange *x = NULL;

	if (capsule && PyCapsule_IsValid(capsule, name_exchange))
		x = (const struct exchange *)PyCapsule_GetPointer(capsule, name_exchange);
	while (x && x->major > 1)
		x = x->previous;
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
