/* primitive_calls.c - see primitive_calls.h. */
#include "python/src/primitive_calls.h"

#include <stdatomic.h>
#include <string.h>

#include "python/src/arrays/column.h"
#include "python/src/arrays/column_type.h"
#include "python/src/arrays/input.h"
#include "python/src/errors.h"
#include "python/src/primitives/call.h"
#include "python/src/turn.h"

/* --- what all calls share --------------------------------------------------------------------- */

/* Raises sluice.Error with the message of sl_fail(). */
static bool refuse(enum sl_status s)
{
	sl_py_raise(s, sl_last_error(), NULL);
	return false;
}

/* Takes an array whose items follow one another. False with an exception. */
static bool take(PyObject *object, const char *name, bool writable, struct sl_py_input *in)
{
	if (!sl_py_input_take(object, name, writable, in))
		return false;
	if (in->array.constant)
		return refuse(sl_fail(
			SL_USAGE, "%s: a number is no array; use an array of one item", name));
	if (!in->contiguous)
		return refuse(sl_fail(SL_USAGE,
			"%s: the array has gaps between its items; copy it (numpy.ascontiguousarray)",
			name));
	return true;
}

/* The same, of one dimension and at most 2^32 - 1 items. */
static bool take_items(PyObject *object, const char *name, bool writable, struct sl_py_input *in)
{
	if (!take(object, name, writable, in))
		return false;
	if (in->ndim != 1)
		return refuse(sl_fail(SL_USAGE,
			"%s: the array has %d dimensions, but must have one", name, in->ndim));
	if (in->array.n > UINT32_MAX)
		return refuse(
			sl_fail(SL_USAGE, "%s: %zu items are too many, at most %u are allowed",
				name, in->array.n, UINT32_MAX));
	return true;
}

/* Whether an array has unsigned numbers of 4 or 8 bytes; also_signed: or signed ones. */
static bool check_words(const struct sl_py_array *a, const char *name, bool also_signed)
{
	if ((a->kind == 'u' || (also_signed && a->kind == 'i')) && (a->bytes == 4 || a->bytes == 8))
		return true;
	return refuse(sl_fail(SL_USAGE,
		"%s: the array has items of %s; convert them to uint32 or uint64%s", name,
		sl_py_type_name(a), also_signed ? ", int32 or int64" : ""));
}

static enum sl_type type_of(const struct sl_py_array *a)
{
	return a->bytes == 4 ? SL_U32 : SL_U64;
}

/* An output: the array of the caller, or memory of a new Column. */
struct output {
	struct sl_py_input in;
	void *made;
	void *at;
};

/* Takes out, which must have the type and size of like, or makes an array like it. */
static bool take_output(
	PyObject *out, const char *name, const struct sl_py_array *like, struct output *o)
{
	if (out == Py_None) {
		if (sl_memory_get(SL_HOST, like->n * like->bytes, &o->made) != SL_OK)
			return refuse(SL_HOST_MEMORY);
		o->at = o->made;
		return true;
	}
	if (!take_items(out, name, true, &o->in))
		return false;
	if (o->in.array.kind != like->kind || o->in.array.bytes != like->bytes ||
		o->in.array.n != like->n)
		return refuse(sl_fail(SL_USAGE,
			"%s: the array has %zu items of %s, but must have %zu of %s", name,
			o->in.array.n, sl_py_type_name(&o->in.array), like->n,
			sl_py_type_name(like)));
	o->at = (void *)(uintptr_t)o->in.array.data;
	return true;
}

/* The array of the caller, or the new Column. */
static PyObject *result_of(struct output *o, PyObject *out, const struct sl_py_array *like)
{
	void *made = o->made;

	if (out != Py_None)
		return Py_NewRef(out);
	o->made = NULL;
	return sl_py_column_of_array(like, SL_COLUMN_COUNT, made, like->n);
}

static void give_output(struct output *o)
{
	sl_py_input_give(&o->in);
	sl_memory_give(SL_HOST, o->made);
}

/* Runs the call without the lock of the interpreter; on a device, in its turn. False with an exception. */
static bool run(struct sl_py_call *c)
{
	atomic_int stop = 0;
	enum sl_status s;

	if (sl_py_call_needs_device(c) && sl_py_turn_is_mine())
		return refuse(sl_fail(SL_USAGE,
			"this thread has a run in progress, such as an open stream; finish it or close() it "
			"before a call on a device"));
	Py_BEGIN_ALLOW_THREADS
	if (!sl_py_call_needs_device(c)) {
		s = sl_py_call_run(c);
	} else if (sl_py_turn_take(pthread_self(), &stop)) {
		s = sl_py_call_run(c);
		sl_py_turn_end();
	} else {
		s = sl_fail(SL_STOPPED, "the interpreter ends");
	}
	Py_END_ALLOW_THREADS
	return s == SL_OK || refuse(s);
}

/* --- scan ------------------------------------------------------------------------------------- */

static enum sl_status queue_scan(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_scan_job *job = (struct sl_scan_job *)c->job;

	job->in = c->operand[0].at;
	job->out = c->operand[1].at;
	return sl_scan(b, x, job);
}

static PyObject *scan(PyObject *array, PyObject *out, struct sl_py_call *c, struct sl_scan_job *job,
	struct sl_py_input *in, struct output *o)
{
	const struct sl_py_array *a = &in->array;

	if (!take_items(array, "array", false, in) || !check_words(a, "array", true) ||
		!take_output(out, "out", a, o))
		return NULL;
	job->n = (uint32_t)a->n;
	job->type = type_of(a);
	c->shape = (struct sl_shape){.n = job->n, .type = job->type};
	c->operand[0] = (struct sl_py_operand){
		.host = (void *)(uintptr_t)a->data, .bytes = in->all_bytes, .in = true};
	c->operand[1] = (struct sl_py_operand){.host = o->at, .bytes = in->all_bytes, .out = true};
	c->n_operands = 2;
	return run(c) ? result_of(o, out, a) : NULL;
}

PyObject *sl_py_scan(PyObject *module, PyObject *args)
{
	struct sl_scan_job job = {.in = NULL};
	struct sl_py_call c = {.primitive = SL_SCAN, .queue = queue_scan, .job = &job};
	struct sl_py_input in = {.ndim = 0};
	struct output o = {.made = NULL};
	PyObject *array, *out, *result;
	int inclusive;

	(void)module;
	if (!PyArg_ParseTuple(args, "OpzzO", &array, &inclusive, &c.backend, &c.device, &out))
		return NULL;
	job.inclusive = inclusive != 0;
	result = scan(array, out, &c, &job, &in, &o);
	give_output(&o);
	sl_py_input_give(&in);
	return result;
}

/* --- compact ---------------------------------------------------------------------------------- */

static enum sl_status queue_compact(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_compact_job *job = (struct sl_compact_job *)c->job;

	job->keep = (const uint8_t *)c->operand[0].at;
	job->out = (uint32_t *)c->operand[1].at;
	job->n_out = (uint32_t *)c->operand[2].at;
	return sl_compact(b, x, job);
}

static PyObject *compact(PyObject *flags, PyObject *out, struct sl_py_call *c,
	struct sl_compact_job *job, struct sl_py_input *in, struct output *o)
{
	struct sl_py_array like = {.kind = 'u', .bytes = 4};
	uint32_t n_out = 0;
	PyObject *indices;

	if (!take_items(flags, "flags", false, in))
		return NULL;
	if (!sl_py_is_whole(&in->array) || in->array.bytes != 1) {
		refuse(sl_fail(SL_USAGE,
			"flags: the array has items of %s; convert them to bool or uint8",
			sl_py_type_name(&in->array)));
		return NULL;
	}
	like.n = in->array.n;
	if (!take_output(out, "out", &like, o))
		return NULL;
	job->n = (uint32_t)like.n;
	c->shape = (struct sl_shape){.n = job->n};
	c->operand[0] = (struct sl_py_operand){
		.host = (void *)(uintptr_t)in->array.data, .bytes = in->all_bytes, .in = true};
	c->operand[1] = (struct sl_py_operand){.host = o->at, .bytes = 4 * like.n, .out = true};
	c->operand[2] = (struct sl_py_operand){.host = &n_out, .bytes = sizeof(n_out), .out = true};
	c->n_operands = 3;
	if (!run(c))
		return NULL;
	indices = result_of(o, out, &like);
	return indices ? Py_BuildValue("(NI)", indices, (unsigned)n_out) : NULL;
}

PyObject *sl_py_compact(PyObject *module, PyObject *args)
{
	struct sl_compact_job job = {.keep = NULL};
	struct sl_py_call c = {.primitive = SL_COMPACT, .queue = queue_compact, .job = &job};
	struct sl_py_input in = {.ndim = 0};
	struct output o = {.made = NULL};
	PyObject *flags, *out, *result;

	(void)module;
	if (!PyArg_ParseTuple(args, "OzzO", &flags, &c.backend, &c.device, &out))
		return NULL;
	result = compact(flags, out, &c, &job, &in, &o);
	give_output(&o);
	sl_py_input_give(&in);
	return result;
}

/* --- sort ------------------------------------------------------------------------------------- */

/* A call of sort(): keys, and values or Py_None. */
struct sort_call {
	PyObject *keys, *values, *out, *values_out;
	struct sl_py_input key, value;
	struct output key_out, value_out;
	struct sl_sort_job job;
};

static enum sl_status queue_sort(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_sort_job *job = (struct sl_sort_job *)c->job;

	job->key = c->operand[0].at;
	job->key_out = c->operand[1].at;
	if (c->n_operands > 2) {
		job->index = (uint32_t *)c->operand[2].at;
		job->index_out = (uint32_t *)c->operand[3].at;
	}
	return sl_sort(b, x, job);
}

static bool take_values(struct sort_call *s)
{
	const struct sl_py_array *v = &s->value.array;

	if (!take_items(s->values, "values", false, &s->value))
		return false;
	if (v->bytes != 4 || !(sl_py_is_whole(v) || sl_py_is_real(v)))
		return refuse(sl_fail(SL_USAGE,
			"values: the array has items of %s, but must have items of 4 bytes; sort the "
			"indices (numpy.arange(n, dtype=numpy.uint32)) and take the items by them",
			sl_py_type_name(v)));
	if (v->n != s->key.array.n)
		return refuse(sl_fail(SL_USAGE, "values: the array has %zu items, and keys has %zu",
			v->n, s->key.array.n));
	return take_output(s->values_out, "values_out", v, &s->value_out);
}

static void add_pair(struct sl_py_call *c, const struct sl_py_input *in, const struct output *out)
{
	c->operand[c->n_operands++] = (struct sl_py_operand){
		.host = (void *)(uintptr_t)in->array.data, .bytes = in->all_bytes, .in = true};
	c->operand[c->n_operands++] =
		(struct sl_py_operand){.host = out->at, .bytes = in->all_bytes, .out = true};
}

static PyObject *sort(struct sl_py_call *c, struct sort_call *s, int end_bit)
{
	const struct sl_py_array *k = &s->key.array;
	PyObject *keys, *values;

	if (!take_items(s->keys, "keys", false, &s->key) || !check_words(k, "keys", false) ||
		!take_output(s->out, "out", k, &s->key_out))
		return NULL;
	add_pair(c, &s->key, &s->key_out);
	if (s->values != Py_None) {
		if (!take_values(s))
			return NULL;
		add_pair(c, &s->value, &s->value_out);
	}
	s->job.n = (uint32_t)k->n;
	s->job.type = type_of(k);
	s->job.end_bit = end_bit < 0 ? 8u * k->bytes : (uint32_t)end_bit;
	c->shape = (struct sl_shape){
		.n = s->job.n, .type = s->job.type, .keys_only = s->values == Py_None};
	if (!run(c))
		return NULL;
	keys = result_of(&s->key_out, s->out, k);
	values = s->values == Py_None ? Py_NewRef(Py_None)
	                              : result_of(&s->value_out, s->values_out, &s->value.array);
	return keys && values ? Py_BuildValue("(NN)", keys, values) : NULL;
}

PyObject *sl_py_sort(PyObject *module, PyObject *args)
{
	struct sort_call s = {.keys = NULL};
	struct sl_py_call c = {.primitive = SL_SORT, .queue = queue_sort, .job = &s.job};
	PyObject *result;
	int begin_bit, end_bit;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOiizzOO", &s.keys, &s.values, &begin_bit, &end_bit,
		    &c.backend, &c.device, &s.out, &s.values_out))
		return NULL;
	s.job.begin_bit = (uint32_t)begin_bit;
	result = sort(&c, &s, end_bit);
	give_output(&s.value_out);
	give_output(&s.key_out);
	sl_py_input_give(&s.value);
	sl_py_input_give(&s.key);
	return result;
}

/* --- deflate ---------------------------------------------------------------------------------- */

static enum sl_status queue_deflate(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_deflate_job *job = (struct sl_deflate_job *)c->job;

	job->in = c->operand[0].at;
	job->out = c->operand[1].at;
	job->out_bytes = (size_t *)c->operand[2].at;
	return sl_deflate(b, x, job);
}

/* Memory for the stream: that of the caller, or new memory that is always enough. */
static bool take_room(PyObject *out, size_t in_bytes, struct output *o, size_t *bytes)
{
	*bytes = sl_deflate_most(in_bytes, 0, 1);
	if (out == Py_None) {
		if (sl_memory_get(SL_HOST, *bytes, &o->made) != SL_OK)
			return refuse(SL_HOST_MEMORY);
		o->at = o->made;
		return true;
	}
	if (!take(out, "out", true, &o->in))
		return false;
	o->at = (void *)(uintptr_t)o->in.array.data;
	*bytes = o->in.all_bytes;
	return true;
}

/* The stream as bytes, or the number of its bytes if the caller has the memory. */
static PyObject *deflated(const struct output *o, size_t bytes, const struct sl_deflate_job *job)
{
	if (bytes == 0) {
		refuse(sl_fail(SL_USAGE,
			"out: %zu bytes are too few for the result; %zu are always enough",
			job->out_size, sl_deflate_most(job->in_bytes, 0, 1)));
		return NULL;
	}
	return o->made ? PyBytes_FromStringAndSize((const char *)o->made, (Py_ssize_t)bytes)
	               : PyLong_FromSize_t(bytes);
}

static PyObject *deflate(PyObject *data, PyObject *out, struct sl_py_call *c,
	struct sl_deflate_job *job, struct sl_py_input *in, struct output *o)
{
	size_t used = 0;

	if (!take(data, "data", false, in) || !take_room(out, in->all_bytes, o, &job->out_size))
		return NULL;
	job->in_bytes = in->all_bytes;
	c->shape = (struct sl_shape){.in_bytes = job->in_bytes, .level = job->level};
	c->operand[0] = (struct sl_py_operand){
		.host = (void *)(uintptr_t)in->array.data, .bytes = job->in_bytes, .in = true};
	c->operand[1] = (struct sl_py_operand){.host = o->at, .bytes = job->out_size, .out = true};
	c->operand[2] = (struct sl_py_operand){.host = &used, .bytes = sizeof(used), .out = true};
	c->n_operands = 3;
	return run(c) ? deflated(o, used, job) : NULL;
}

PyObject *sl_py_deflate(PyObject *module, PyObject *args)
{
	struct sl_deflate_job job = {.in = NULL};
	struct sl_py_call c = {.primitive = SL_DEFLATE, .queue = queue_deflate, .job = &job};
	struct sl_py_input in = {.ndim = 0};
	struct output o = {.made = NULL};
	PyObject *data, *out, *result;
	int wrapper;

	(void)module;
	if (!PyArg_ParseTuple(
		    args, "OiizzO", &data, &wrapper, &job.level, &c.backend, &c.device, &out))
		return NULL;
	job.wrapper = (enum sl_wrapper)wrapper;
	result = deflate(data, out, &c, &job, &in, &o);
	give_output(&o);
	sl_py_input_give(&in);
	return result;
}
