/* primitive_calls.c - see src.h. */
#include "python/src/src.h"

#include "python/src/primitives/primitives.h"

/* Whether an array has unsigned numbers of 4 or 8 bytes; also_signed: or signed ones. */
static bool check_words(const struct sl_py_array *a, const char *name, bool also_signed)
{
	if ((a->kind == 'u' || (also_signed && a->kind == 'i')) && (a->bytes == 4 || a->bytes == 8))
		return true;
	return sl_py_refuse(sl_fail(SL_USAGE,
		"%s: the array has items of %s, but uint32 or uint64%s", name, sl_py_type_name(a),
		also_signed
			? ", int32 or int64 are needed; astype() cuts fractions, and changes "
			  "values out of range"
			: " are needed; astype() does not keep the order of negative numbers and "
			  "fractions: filter(columns, key='x:float') sorts particles by any "
			  "column"));
}

static enum sl_type type_of(const struct sl_py_array *a)
{
	if (sl_py_is_real(a))
		return a->bytes == 4 ? SL_F32 : SL_F64;
	return a->bytes == 4 ? SL_U32 : SL_U64;
}

/* An array of one uint32 or, if it is only read, of one uint64. */
static bool take_number(const struct sl_py_call *c, PyObject *object, const char *name,
	bool writable, struct sl_py_argument *a)
{
	if (!sl_py_argument_take(c, object, name, writable, a) ||
		!check_words(&a->array, name, false))
		return false;
	if (a->bytes == a->array.bytes && (!writable || a->bytes == sizeof(uint32_t)))
		return true;
	return sl_py_refuse(sl_fail(SL_USAGE, "%s: the array must have one item%s", name,
		writable ? " of uint32" : ""));
}

/* Takes n_on_device as the last operand, if it is not None. */
static bool take_count(struct sl_py_call *c, PyObject *object, struct sl_py_argument *a)
{
	c->counted = object != Py_None;
	if (!c->counted)
		return true;
	if (!take_number(c, object, "n_on_device", false, a))
		return false;
	sl_py_operand_add(c, a, true, false);
	return true;
}

/* The word of n_on_device for the job; NULL: there is none. */
static const void *count_of(const struct sl_py_call *c)
{
	return c->counted ? c->operand[c->n_operands - 1].at : NULL;
}

/* --- scan ------------------------------------------------------------------------------------- */

static enum sl_status queue_scan(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_scan_job *job = (struct sl_scan_job *)c->job;

	job->in = c->operand[0].at;
	job->out = c->operand[1].at;
	job->n_on_device = count_of(c);
	return sl_scan(b, x, job);
}

/* The arguments of scan() and compact(): arrays, or Py_None. */
struct scan_call {
	PyObject *array, *out, *count, *n_out;
	struct sl_py_argument in, to, n, number;
};

static void give_arguments(struct scan_call *s)
{
	sl_py_argument_give(&s->number);
	sl_py_argument_give(&s->n);
	sl_py_argument_give(&s->to);
	sl_py_argument_give(&s->in);
}

static PyObject *scan(struct scan_call *s, struct sl_py_call *c, struct sl_scan_job *job)
{
	struct sl_py_argument *in = &s->in, *to = &s->to;
	const struct sl_py_array *a = &in->array;

	if (!sl_py_items_take(c, s->array, "array", false, in) ||
		!(sl_py_is_real(a) || check_words(a, "array", true)) ||
		!sl_py_output_take(c, s->out, "out", a, to))
		return NULL;
	job->n = (uint32_t)a->n;
	job->type = type_of(a);
	c->shape = (struct sl_shape){.n = job->n, .type = job->type};
	sl_py_operand_add(c, in, true, false);
	sl_py_operand_add(c, to, s->count != Py_None, true);
	if (!take_count(c, s->count, &s->n))
		return NULL;
	job->n_type = type_of(&s->n.array);
	return sl_py_run(c) ? sl_py_output_object(c, 1, to, s->out) : NULL;
}

PyObject *sl_py_scan(PyObject *module, PyObject *args)
{
	struct sl_scan_job job = {.in = NULL};
	struct sl_py_call c = {.primitive = SL_SCAN, .queue = queue_scan, .job = &job};
	struct scan_call s = {.array = NULL};
	PyObject *stream, *result = NULL;
	int inclusive;

	(void)module;
	if (!PyArg_ParseTuple(args, "OpzzOOO", &s.array, &inclusive, &c.backend, &c.device, &s.out,
		    &stream, &s.count))
		return NULL;
	job.inclusive = inclusive != 0;
	if (sl_py_place(&c, s.array, stream))
		result = scan(&s, &c, &job);
	sl_py_call_give(&c);
	give_arguments(&s);
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
	job->n_on_device = count_of(c);
	return sl_compact(b, x, job);
}

/* The indices and their number, which is 0 if the caller has an array for it. */
static PyObject *compact(struct scan_call *s, struct sl_py_call *c, struct sl_compact_job *job)
{
	struct sl_py_argument *in = &s->in, *to = &s->to;
	struct sl_py_array like = {.kind = 'u', .bytes = 4};
	uint32_t n_out = 0;
	PyObject *indices;

	if (!sl_py_items_take(c, s->array, "flags", false, in))
		return NULL;
	if (!sl_py_is_whole(&in->array) || in->array.bytes != 1) {
		sl_py_refuse(sl_fail(SL_USAGE,
			"flags: the array has items of %s; convert them to bool or uint8",
			sl_py_type_name(&in->array)));
		return NULL;
	}
	like.n = in->array.n;
	if (!sl_py_output_take(c, s->out, "out", &like, to) ||
		(s->n_out != Py_None && !take_number(c, s->n_out, "n_out", true, &s->number)))
		return NULL;
	job->n = (uint32_t)like.n;
	c->shape = (struct sl_shape){.n = job->n};
	sl_py_operand_add(c, in, true, false);
	sl_py_operand_add(c, to, s->count != Py_None, true);
	if (s->n_out == Py_None)
		sl_py_number_add(c, &n_out, sizeof(n_out));
	else
		sl_py_operand_add(c, &s->number, false, true);
	if (!take_count(c, s->count, &s->n))
		return NULL;
	job->n_type = type_of(&s->n.array);
	if (!sl_py_run(c))
		return NULL;
	indices = sl_py_output_object(c, 1, to, s->out);
	return indices ? Py_BuildValue("(NI)", indices, (unsigned)n_out) : NULL;
}

PyObject *sl_py_compact(PyObject *module, PyObject *args)
{
	struct sl_compact_job job = {.keep = NULL};
	struct sl_py_call c = {.primitive = SL_COMPACT, .queue = queue_compact, .job = &job};
	struct scan_call s = {.array = NULL};
	PyObject *stream, *result = NULL;

	(void)module;
	if (!PyArg_ParseTuple(args, "OzzOOOO", &s.array, &c.backend, &c.device, &s.out, &stream,
		    &s.count, &s.n_out))
		return NULL;
	if (sl_py_place(&c, s.array, stream))
		result = compact(&s, &c, &job);
	sl_py_call_give(&c);
	give_arguments(&s);
	return result;
}

/* --- expand ----------------------------------------------------------------------------------- */

static enum sl_status queue_expand(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_expand_job *job = (struct sl_expand_job *)c->job;

	job->runs = c->operand[0].at;
	job->out = (uint32_t *)c->operand[1].at;
	return sl_expand(b, x, job);
}

/* slots < 0: as many as runs. */
static PyObject *expand(PyObject *runs, PyObject *out, long long slots, struct sl_py_call *c,
	struct sl_expand_job *job, struct sl_py_argument in[2])
{
	struct sl_py_array like = {.kind = 'u', .bytes = 4};

	if (!sl_py_items_take(c, runs, "runs", false, &in[0]) ||
		!check_words(&in[0].array, "runs", true))
		return NULL;
	like.n = slots < 0 ? in[0].array.n : (size_t)slots;
	if (!sl_py_output_take(c, out, "out", &like, &in[1]))
		return NULL;
	job->n = (uint32_t)in[0].array.n;
	job->n_out = (uint32_t)like.n;
	job->type = type_of(&in[0].array);
	c->shape = (struct sl_shape){.n = job->n,
		.n_out = job->n_out,
		.counts = job->form == SL_RUN_COUNTS,
		.type = job->type};
	sl_py_operand_add(c, &in[0], true, false);
	sl_py_operand_add(c, &in[1], false, true);
	return sl_py_run(c) ? sl_py_output_object(c, 1, &in[1], out) : NULL;
}

PyObject *sl_py_expand(PyObject *module, PyObject *args)
{
	struct sl_expand_job job = {.runs = NULL};
	struct sl_py_call c = {.primitive = SL_EXPAND, .queue = queue_expand, .job = &job};
	struct sl_py_argument in[2] = {{.ndim = 0}, {.ndim = 0}};
	PyObject *runs, *out, *stream, *result = NULL;
	long long slots;
	int form;

	(void)module;
	if (!PyArg_ParseTuple(
		    args, "OLizzOO", &runs, &slots, &form, &c.backend, &c.device, &out, &stream))
		return NULL;
	job.form = (enum sl_run_form)form;
	if (sl_py_place(&c, runs, stream))
		result = expand(runs, out, slots, &c, &job, in);
	sl_py_call_give(&c);
	sl_py_argument_give(&in[1]);
	sl_py_argument_give(&in[0]);
	return result;
}

/* --- sort ------------------------------------------------------------------------------------- */

/* A call of sort(): keys, and values or Py_None. */
struct sort_call {
	PyObject *keys, *values, *out, *values_out, *count;
	struct sl_py_argument key, value, key_out, value_out, n;
	struct sl_sort_job job;
};

static enum sl_status queue_sort(
	struct sl_py_call *c, const struct sl_backend *b, struct sl_exec *x)
{
	struct sl_sort_job *job = (struct sl_sort_job *)c->job;

	job->key = c->operand[0].at;
	job->key_out = c->operand[1].at;
	job->n_on_device = count_of(c);
	x->tuning = c->shape.tuning;
	if (c->n_operands - c->counted > 2) {
		job->index = (uint32_t *)c->operand[2].at;
		job->index_out = (uint32_t *)c->operand[3].at;
	}
	return sl_sort(b, x, job);
}

static bool take_values(const struct sl_py_call *c, struct sort_call *s)
{
	const struct sl_py_array *v = &s->value.array;

	if (!sl_py_items_take(c, s->values, "values", false, &s->value))
		return false;
	if (v->bytes != 4 || !(sl_py_is_whole(v) || sl_py_is_real(v)))
		return sl_py_refuse(sl_fail(SL_USAGE,
			"values: the array has items of %s, but must have items of 4 bytes; sort the "
			"indices (numpy.arange(n, dtype=numpy.uint32)) and take the items by them",
			sl_py_type_name(v)));
	if (v->n != s->key.array.n)
		return sl_py_refuse(sl_fail(SL_USAGE,
			"values: the array has %zu items, and keys has %zu", v->n, s->key.array.n));
	return sl_py_output_take(c, s->values_out, "values_out", v, &s->value_out);
}

static PyObject *sort(struct sl_py_call *c, struct sort_call *s, int end_bit)
{
	const struct sl_py_array *k = &s->key.array;
	PyObject *keys, *values;

	if (!sl_py_items_take(c, s->keys, "keys", false, &s->key) ||
		!check_words(k, "keys", false) ||
		!sl_py_output_take(c, s->out, "out", k, &s->key_out))
		return NULL;
	sl_py_operand_add(c, &s->key, true, false);
	sl_py_operand_add(c, &s->key_out, s->count != Py_None, true);
	if (s->values != Py_None) {
		if (!take_values(c, s))
			return NULL;
		sl_py_operand_add(c, &s->value, true, false);
		sl_py_operand_add(c, &s->value_out, s->count != Py_None, true);
	}
	if (!take_count(c, s->count, &s->n))
		return NULL;
	s->job.n_type = type_of(&s->n.array);
	s->job.n = (uint32_t)k->n;
	s->job.type = type_of(k);
	s->job.end_bit = end_bit < 0 ? 8u * k->bytes : (uint32_t)end_bit;
	c->shape.n = s->job.n;
	c->shape.type = s->job.type;
	c->shape.keys_only = s->values == Py_None;
	if (!sl_py_run(c))
		return NULL;
	keys = sl_py_output_object(c, 1, &s->key_out, s->out);
	values = s->values == Py_None ? Py_NewRef(Py_None)
	                              : sl_py_output_object(c, 3, &s->value_out, s->values_out);
	return keys && values ? Py_BuildValue("(NN)", keys, values) : NULL;
}

PyObject *sl_py_sort(PyObject *module, PyObject *args)
{
	struct sort_call s = {.keys = NULL};
	struct sl_py_call c = {.primitive = SL_SORT, .queue = queue_sort, .job = &s.job};
	PyObject *stream, *result = NULL;
	int begin_bit, end_bit;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOiizzOOOOI", &s.keys, &s.values, &begin_bit, &end_bit,
		    &c.backend, &c.device, &s.out, &s.values_out, &stream, &s.count,
		    &c.shape.tuning.threads))
		return NULL;
	s.job.begin_bit = (uint32_t)begin_bit;
	if (sl_py_place(&c, s.keys, stream))
		result = sort(&c, &s, end_bit);
	sl_py_call_give(&c);
	sl_py_argument_give(&s.n);
	sl_py_argument_give(&s.value_out);
	sl_py_argument_give(&s.key_out);
	sl_py_argument_give(&s.value);
	sl_py_argument_give(&s.key);
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

/* The bytes of Python objects are addresses. */
static bool take_data(const struct sl_py_call *c, PyObject *data, struct sl_py_argument *in)
{
	if (!sl_py_argument_take(c, data, "data", false, in))
		return false;
	return in->array.kind != 'O' ||
	       sl_py_refuse(sl_fail(SL_USAGE,
		       "data: the array has Python objects, which are addresses in memory; convert "
		       "them to numbers or bytes"));
}

/*
 * Memory for the stream: that of the caller, or new memory that is always enough. A new array of a
 * device stays there.
 */
static bool take_room(const struct sl_py_call *c, PyObject *out, size_t in_bytes,
	struct sl_py_argument *to, size_t *bytes)
{
	const struct sl_py_array most = {
		.n = sl_deflate_most(in_bytes, 0, 1), .stride = 1, .kind = 'u', .bytes = 1};

	if (out == Py_None) {
		*bytes = most.n;
		return sl_py_output_take(c, out, "out", &most, to);
	}
	if (!sl_py_argument_take(c, out, "out", true, to))
		return false;
	if (c->resident && (to->ndim != 1 || to->array.bytes != 1))
		return sl_py_refuse(sl_fail(SL_USAGE,
			"out: an array of a device for the result must have the shape (n,) and items "
			"of uint8"));
	if (!sl_py_is_whole(&to->array) && !sl_py_is_real(&to->array))
		return sl_py_refuse(sl_fail(SL_USAGE,
			"out: the array has items of %s; use a bytearray or an array of uint8",
			sl_py_type_name(&to->array)));
	*bytes = to->bytes;
	return true;
}

/*
 * The stream as bytes, or as an array of a device; or the number of its bytes if the caller has the
 * memory.
 */
static PyObject *deflated(struct sl_py_call *c, struct sl_py_argument *to, PyObject *out,
	size_t bytes, const struct sl_deflate_job *job)
{
	if (bytes == 0) {
		sl_py_refuse(sl_fail(SL_USAGE,
			"out: %zu bytes are too few for the result; %zu are always enough",
			job->out_size, sl_deflate_most(job->in_bytes, 0, 1)));
		return NULL;
	}
	if (out != Py_None)
		return PyLong_FromSize_t(bytes);
	to->array.n = bytes;
	return c->resident ? sl_py_output_object(c, 1, to, out)
	                   : PyBytes_FromStringAndSize((const char *)to->made, (Py_ssize_t)bytes);
}

static PyObject *deflate(PyObject *data, PyObject *out, struct sl_py_call *c,
	struct sl_deflate_job *job, struct sl_py_argument *in, struct sl_py_argument *to)
{
	size_t used = 0;

	if (!take_data(c, data, in) || !take_room(c, out, in->bytes, to, &job->out_size))
		return NULL;
	job->in_bytes = in->bytes;
	c->shape = (struct sl_shape){.in_bytes = job->in_bytes,
		.level = job->level,
		.most_room = job->out_size >= sl_deflate_most(job->in_bytes, 0, 1)};
	sl_py_operand_add(c, in, true, false);
	sl_py_operand_add(c, to, false, true);
	sl_py_number_add(c, &used, sizeof(used));
	return sl_py_run(c) ? deflated(c, to, out, used, job) : NULL;
}

PyObject *sl_py_deflate(PyObject *module, PyObject *args)
{
	struct sl_deflate_job job = {.in = NULL};
	struct sl_py_call c = {.primitive = SL_DEFLATE, .queue = queue_deflate, .job = &job};
	struct sl_py_argument in = {.ndim = 0}, to = {.ndim = 0};
	PyObject *data, *out, *stream, *result = NULL;
	int wrapper;

	(void)module;
	if (!PyArg_ParseTuple(args, "OiizzOO", &data, &wrapper, &job.level, &c.backend, &c.device,
		    &out, &stream))
		return NULL;
	job.wrapper = (enum sl_wrapper)wrapper;
	if (sl_py_place(&c, data, stream))
		result = deflate(data, out, &c, &job, &in, &to);
	sl_py_call_give(&c);
	sl_py_argument_give(&to);
	sl_py_argument_give(&in);
	return result;
}
