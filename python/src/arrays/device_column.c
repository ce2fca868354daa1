/* device_column.c - see device_column.h. */
#include "python/src/arrays/device_column.h"

#include "primitives/device/device.h"
#include "python/src/base/errors.h"
#include "python/src/base/turn.h"

static const char block_name[] = "sluice.device_block";

static void give_block(PyObject *capsule)
{
	sl_block_give((struct sl_device_block *)PyCapsule_GetPointer(capsule, block_name));
}

PyObject *sl_py_block_owner(struct sl_device_block *block)
{
	PyObject *owner = PyCapsule_New(block, block_name, give_block);

	if (!owner)
		sl_block_give(block);
	return owner;
}

static PyObject *make_in(PyObject *owner, int type, int which, void *data, size_t n)
{
	const Py_ssize_t shape[1] = {(Py_ssize_t)n};
	PyObject *made = sl_py_column_make(type, which, data, shape, 1, owner);

	if (made)
		((struct sl_py_column *)made)->block =
			(struct sl_device_block *)PyCapsule_GetPointer(owner, block_name);
	return made;
}

PyObject *sl_py_column_in(PyObject *owner, enum sl_column column, void *data, size_t n)
{
	return make_in(owner, (int)sl_column_facts[column].type, (int)column, data, n);
}

PyObject *sl_py_column_of_block(
	const struct sl_py_array *a, int column, struct sl_device_block *block, size_t n)
{
	PyObject *owner = sl_py_block_owner(block), *made;

	if (!owner)
		return NULL;
	made = make_in(owner, sl_py_item_type(a), column, block->data, n);
	Py_DECREF(owner);
	return made;
}

const struct sl_py_column *sl_py_block_column(PyObject *o)
{
	const struct sl_py_column *c = (struct sl_py_column *)o;

	return PyObject_TypeCheck(o, sl_py_column_type) && c->block ? c : NULL;
}

bool sl_py_is_out_of_reach(const struct sl_py_column *c, PyObject *exception)
{
	if (sl_py_is_on_device(c))
		PyErr_Format(exception,
			"the column is in the memory of device %d, which the host cannot read; copy it "
			"with to_host(), or use it there (torch.from_dlpack, cupy.asarray)",
			c->block->number);
	return sl_py_is_on_device(c);
}

PyObject *sl_py_to_host(PyObject *self, PyObject *none)
{
	struct sl_py_column *c = (struct sl_py_column *)self;
	size_t bytes = (size_t)(c->n * c->item->bytes);
	enum sl_status s;
	PyObject *made;
	void *data;

	(void)none;
	if (!sl_py_is_on_device(c))
		return Py_NewRef(self);
	if (sl_memory_get(SL_HOST, bytes, &data) != SL_OK)
		return PyErr_NoMemory();
	Py_BEGIN_ALLOW_THREADS
	s = sl_block_read(c->block, c->data, bytes, data);
	Py_END_ALLOW_THREADS
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, data);
		return sl_py_raise(s, sl_last_error(), NULL);
	}
	made = sl_py_column_make(c->type, c->column, data, c->shape, c->ndim, NULL);
	sl_py_column_set_label(made, &c->label);
	return made;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Copies the columns of a tuple to a block that is taken. With the device selected. */
static enum sl_status queue_copies(
	PyObject *columns, Py_ssize_t n, size_t bytes, struct sl_device_block **block)
{
	size_t used = 0;

	SL_TRY(sl_block_take(bytes, NULL, block));
	for (Py_ssize_t i = 0; i < n; i++) {
		const struct sl_py_column *c =
			(const struct sl_py_column *)PyTuple_GetItem(columns, i);
		size_t size = (size_t)(c->n * c->item->bytes);

		SL_TRY(sl_block_follow(c->block, NULL));
		SL_TRY(sl_copy((char *)(*block)->data + used, c->data, size, NULL));
		used += size;
	}
	return sl_stream_wait(NULL);
}

/* Without the lock of the interpreter; reading a tuple that nobody changes needs none. */
static enum sl_status join(
	PyObject *columns, Py_ssize_t n, size_t bytes, int number, struct sl_device_block **block)
{
	enum sl_status s;
	int before;

	SL_TRY(sl_py_turn_share(false));
	s = sl_device_select(number, &before);
	if (s == SL_OK) {
		s = queue_copies(columns, n, bytes, block);
		sl_device_restore(before);
	}
	sl_py_turn_unshare();
	return s;
}

PyObject *sl_py_concat_on_device(PyObject *columns, const struct sl_py_column *first, size_t bytes)
{
	const struct sl_py_array like = {
		.kind = first->item->typestr[1], .bytes = (uint8_t)first->item->bytes};
	PyObject *all = PyList_AsTuple(columns), *owner = NULL, *made = NULL;
	struct sl_device_block *block = NULL;
	enum sl_status s;

	if (!all)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	s = join(all, PyTuple_Size(all), bytes, first->block->number, &block);
	Py_END_ALLOW_THREADS
	if (s == SL_OK)
		owner = sl_py_block_owner(block);
	else
		sl_block_give(block);
	if (owner)
		made = make_in(owner, sl_py_item_type(&like), first->column, block->data,
			bytes / like.bytes);
	else if (s != SL_OK)
		sl_py_raise(s, sl_last_error(), NULL);
	sl_py_column_set_label(made, &first->label);
	Py_XDECREF(owner);
	Py_DECREF(all);
	return made;
}

/* --- members ---------------------------------------------------------------------------------- */

/* 1 in __cuda_array_interface__: CUDA's legacy default stream. */
enum { LEGACY_STREAM = 1 };

/*
 * The interface of CUDA arrays, version 3. stream is None if the contents are complete, as those of
 * a batch are; else the legacy default stream, which waits for them. Consumers take that of the
 * current device, so the contents of another device are completed here.
 */
PyObject *sl_py_get_cuda_array_interface(PyObject *self, void *closure)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;
	bool waits = c->block && c->block->done && c->block->number != sl_cuda_current();
	enum sl_status s;

	(void)closure;
	if (!sl_py_is_on_device(c)) {
		PyErr_SetString(PyExc_AttributeError, "the column is in memory of the host");
		return NULL;
	}
	Py_BEGIN_ALLOW_THREADS
	s = waits ? sl_block_read(c->block, c->data, 0, NULL) : sl_block_follow(c->block, NULL);
	Py_END_ALLOW_THREADS
	if (s != SL_OK)
		return sl_py_raise(s, sl_last_error(), NULL);
	return Py_BuildValue("{sN,ss,s(NO),sO,sN,si}", "shape", sl_py_shape_of(c), "typestr",
		c->item->typestr, "data", PyLong_FromVoidPtr(c->n > 0 ? c->data : NULL), Py_False,
		"strides", Py_None, "stream",
		c->block->done && !waits ? PyLong_FromLong(LEGACY_STREAM) : Py_NewRef(Py_None),
		"version", 3);
}

static PyObject *refuse_array(PyObject *self, PyObject *args, PyObject *keywords)
{
	(void)args, (void)keywords;
	if (!sl_py_is_out_of_reach((struct sl_py_column *)self, PyExc_TypeError))
		PyErr_SetString(PyExc_TypeError, "a column has __array_interface__");
	return NULL;
}

PyObject *sl_py_get_array(PyObject *self, void *closure)
{
	static PyMethodDef method = {"__array__", (PyCFunction)(void (*)(void))refuse_array,
		METH_VARARGS | METH_KEYWORDS, NULL};

	(void)closure;
	if (sl_py_is_on_device((struct sl_py_column *)self))
		return PyCFunction_New(&method, self);
	PyErr_SetString(PyExc_AttributeError, "a column has __array_interface__");
	return NULL;
}

PyObject *sl_py_get_device(PyObject *self, void *closure)
{
	const struct sl_py_column *c = (struct sl_py_column *)self;

	(void)closure;
	return sl_py_is_on_device(c) ? PyUnicode_FromFormat("cuda:%d", c->block->number)
	                             : PyUnicode_FromString("cpu");
}
