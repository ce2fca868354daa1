/* primitive_calls.c - see src.h. */
#include "python/src/src.h"

#include <string.h>

#include "python/src/primitives/primitives.h"

/* Whether an array has unsigned numbers of 4 or 8 bytes; also_signed: or signed ones. */
static bool check_words(const struct sl_py_array *a, const char *name, bool also_signed)
{
	const bool scan = strcmp(name, "array") == 0, sort = strcmp(name, "keys") == 0;

	if ((a->kind == 'u' || (also_signed && a->kind == 'i')) && (a->bytes == 4 || a->bytes == 8))
		return true;
	return sl_py_refuse(sl_fail(SL_USAGE,
		"%s: the array has items of %s, but uint32 or uint64%s are needed%s", name,
		sl_py_type_name(a),
		scan          ? ", int32, int64, float32 or float64"
		: also_signed ? ", int32 or int64"
			      : "",
		also_signed ? "; astype() cuts fractions, and changes values out of range"
		: sort ? "; astype() does not keep the order of negative numbers and fractions: "
			 "filter(columns, key='x:float') sorts particles by any column"
		       : ""));
}

static enum sl_type type_of(const struct sl_py_array *a)
{
	if (sl_py_is_real(a))
		return a->bytes == 4 ? SL_F32 : SL_F64;
	return a->bytes == 4 ? SL_U32 : SL_U64;
}

/* An array of one uint32 or, if it is only read, of one uint64. */
static struct sl_py_operand *take_number(
	struct sl_py_call *c, PyObject *object, const char *name, bool writable)
{
	struct sl_py_operand *o = sl_py_operand_take(c, object, name, writable);

	if (!o || !check_words(&o->array, name, false))
		return NULL;
	if (o->bytes == o->array.bytes && (!writable || o->bytes == sizeof(uint32_t)))
		return o;
	sl_py_refuse(sl_fail(SL_USAGE, "%s: the array must have one item%s", name,
		writable ? " of uint32" : ""));
	return NULL;
}

/*
 * Takes n_on_device as the last operand, if it is not None, and sets the type of its number. Then
 * outputs of the caller keep what is not written.
 */
static bool take_count(struct sl_py_call *c, PyObject *object, enum sl_type *type)
{
	const struct sl_py_operand *o;

	c->counted = object != Py_None;
	for (int i = 0; c->counted && i < c->n_operands; i++)
		c->operand[i].in |= c->operand[i].array.kind && !c->operand[i].made;
	o = c->counted ? take_number(c, object, "n_on_device", false) : NULL;
	*type = o ? type_of(&o->array) : SL_U32;
	return o || !c->counted;
}

/* --- scan ------------------------------------------------------------------------------------- */

/* Sums of integers have the same bits in any order. */
static bool refuse_sum(const struct sl_py_array *a)
{
	return sl_py_refuse(sl_fail(SL_USAGE,
		"array: the array has items of %s, but float32 or float64 are needed; the order does not "
		"change a sum of integers: use numpy.sum(), or that of the library of the array",
		sl_py_type_name(a)));
}

/* more: inclusive, n_on_device, sum */
static PyObject *scan(struct sl_py_call *c, PyObject *array, PyObject *out, PyObject *more)
{
	struct sl_scan_job *job = &c->job.scan;
	const struct sl_py_operand *in = sl_py_items_take(c, array, "array", false);
	struct sl_py_array like;
	PyObject *count;
	int inclusive, sum;

	if (!in || !PyArg_ParseTuple(more, "pOp", &inclusive, &count, &sum) ||
		!(sl_py_is_real(&in->array) ||
			(sum ? refuse_sum(&in->array) : check_words(&in->array, "array", true))))
		return NULL;
	like = in->array;
	like.n = sum ? 1 : like.n;
	job->inclusive = inclusive != 0;
	job->n = (uint32_t)in->array.n;
	job->type = type_of(&like);
	c->shape = (struct sl_shape){.n = job->n, .type = job->type, .sum = sum != 0};
	return sl_py_output_take(c, out, "out", &like) && take_count(c, count, &job->n_type) &&
	                       sl_py_run(c)
	               ? sl_py_output_object(c, 1, out)
	               : NULL;
}

/* --- compact ---------------------------------------------------------------------------------- */

/*
 * The indices and their number, which is 0 if the caller has an array for it. more: n_on_device,
 * n_out
 */
static PyObject *compact(struct sl_py_call *c, PyObject *flags, PyObject *out, PyObject *more)
{
	struct sl_compact_job *job = &c->job.compact;
	const struct sl_py_operand *in = sl_py_items_take(c, flags, "flags", false);
	struct sl_py_array like = {.kind = 'u', .bytes = 4};
	uint32_t number = 0;
	PyObject *indices, *count, *n_out;

	if (!in || !PyArg_ParseTuple(more, "OO", &count, &n_out))
		return NULL;
	if (!sl_py_is_whole(&in->array) || in->array.bytes != 1) {
		sl_py_refuse(sl_fail(SL_USAGE,
			"flags: the array has items of %s; convert them to bool or uint8",
			sl_py_type_name(&in->array)));
		return NULL;
	}
	like.n = in->array.n;
	job->n = (uint32_t)like.n;
	c->shape = (struct sl_shape){.n = job->n};
	if (!sl_py_output_take(c, out, "out", &like))
		return NULL;
	if (n_out == Py_None)
		sl_py_number_add(c, &number, sizeof(number));
	else if (!take_number(c, n_out, "n_out", true))
		return NULL;
	if (!take_count(c, count, &job->n_type) || !sl_py_run(c))
		return NULL;
	indices = sl_py_output_object(c, 1, out);
	return indices ? Py_BuildValue("(NI)", indices, (unsigned)number) : NULL;
}

/* --- expand ----------------------------------------------------------------------------------- */

/* more: slots, form; slots < 0: as many as runs */
static PyObject *expand(struct sl_py_call *c, PyObject *runs, PyObject *out, PyObject *more)
{
	struct sl_expand_job *job = &c->job.expand;
	const struct sl_py_operand *in = sl_py_items_take(c, runs, "runs", false);
	struct sl_py_array like = {.kind = 'u', .bytes = 4};
	long long slots;
	int form;

	if (!in || !PyArg_ParseTuple(more, "Li", &slots, &form) ||
		!check_words(&in->array, "runs", true))
		return NULL;
	like.n = slots < 0 ? in->array.n : (size_t)slots;
	if (!sl_py_output_take(c, out, "out", &like))
		return NULL;
	job->form = (enum sl_run_form)form;
	job->n = (uint32_t)in->array.n;
	job->n_out = (uint32_t)like.n;
	job->type = type_of(&in->array);
	c->shape = (struct sl_shape){.n = job->n,
		.n_out = job->n_out,
		.counts = job->form == SL_RUN_COUNTS,
		.type = job->type};
	return sl_py_run(c) ? sl_py_output_object(c, 1, out) : NULL;
}

/* --- sort ------------------------------------------------------------------------------------- */

static bool take_values(struct sl_py_call *c, PyObject *values, PyObject *out, size_t n)
{
	const struct sl_py_operand *o = sl_py_items_take(c, values, "values", false);
	const struct sl_py_array *v = o ? &o->array : NULL;

	if (!v)
		return false;
	if (v->bytes != 4 || !(sl_py_is_whole(v) || sl_py_is_real(v)))
		return sl_py_refuse(sl_fail(SL_USAGE,
			"values: the array has items of %s, but must have items of 4 bytes; sort the "
			"indices (numpy.arange(n, dtype=numpy.uint32)) and take the items by them",
			sl_py_type_name(v)));
	if (v->n != n)
		return sl_py_refuse(sl_fail(
			SL_USAGE, "values: the array has %zu items, and keys has %zu", v->n, n));
	return sl_py_output_take(c, out, "values_out", v) != NULL;
}

/* more: values, begin_bit, end_bit, values_out, n_on_device, threads; the arrays can be None */
static PyObject *sort(struct sl_py_call *c, PyObject *keys, PyObject *out, PyObject *more)
{
	struct sl_sort_job *job = &c->job.sort;
	const struct sl_py_operand *in = sl_py_items_take(c, keys, "keys", false);
	PyObject *values, *values_out, *count;
	int begin_bit, end_bit;
	bool paired;

	if (!in || !PyArg_ParseTuple(more, "OiiOOI", &values, &begin_bit, &end_bit, &values_out,
			   &count, &c->shape.tuning.threads))
		return NULL;
	paired = values != Py_None;
	if (!check_words(&in->array, "keys", false) ||
		!sl_py_output_take(c, out, "out", &in->array) ||
		(paired && !take_values(c, values, values_out, in->array.n)) ||
		!take_count(c, count, &job->n_type))
		return NULL;
	job->n = (uint32_t)in->array.n;
	job->type = type_of(&in->array);
	job->begin_bit = (uint32_t)begin_bit;
	job->end_bit = end_bit < 0 ? 8u * in->array.bytes : (uint32_t)end_bit;
	c->shape.n = job->n;
	c->shape.type = job->type;
	c->shape.keys_only = !paired;
	if (!sl_py_run(c))
		return NULL;
	return Py_BuildValue("(NN)", sl_py_output_object(c, 1, out),
		paired ? sl_py_output_object(c, 3, values_out) : Py_NewRef(Py_None));
}

/* --- deflate ---------------------------------------------------------------------------------- */

/* The bytes of Python objects are addresses. */
static struct sl_py_operand *take_data(struct sl_py_call *c, PyObject *data)
{
	struct sl_py_operand *in = sl_py_operand_take(c, data, "data", false);

	if (!in || in->array.kind != 'O')
		return in;
	sl_py_refuse(sl_fail(SL_USAGE,
		"data: the array has Python objects, which are addresses in memory; convert them to "
		"numbers or bytes"));
	return NULL;
}

/*
 * Memory for the stream: that of the caller, or new memory that is always enough. A new array of a
 * device stays there.
 */
static struct sl_py_operand *take_room(struct sl_py_call *c, PyObject *out, size_t in_bytes)
{
	const struct sl_py_array most = {
		.n = sl_deflate_most(in_bytes, 0, 1), .stride = 1, .kind = 'u', .bytes = 1};
	struct sl_py_operand *to;

	if (out == Py_None)
		return sl_py_output_take(c, out, "out", &most);
	to = sl_py_operand_take(c, out, "out", true);
	if (to && c->resident && (to->input.at.ndim != 1 || to->array.bytes != 1))
		sl_py_refuse(sl_fail(SL_USAGE,
			"out: an array of a device for the result must have the shape (n,) and items "
			"of uint8"));
	else if (to && !sl_py_is_whole(&to->array) && !sl_py_is_real(&to->array))
		sl_py_refuse(sl_fail(SL_USAGE,
			"out: the array has items of %s; use a bytearray or an array of uint8",
			sl_py_type_name(&to->array)));
	else
		return to;
	return NULL;
}

/*
 * The stream as bytes, or as an array of a device; or the number of its bytes if the caller has the
 * memory.
 */
static PyObject *deflated(struct sl_py_call *c, struct sl_py_operand *to, PyObject *out,
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
	return c->resident ? sl_py_output_object(c, 1, out)
	                   : PyBytes_FromStringAndSize((const char *)to->made, (Py_ssize_t)bytes);
}

/* more: wrapper, level */
static PyObject *deflate(struct sl_py_call *c, PyObject *data, PyObject *out, PyObject *more)
{
	struct sl_deflate_job *job = &c->job.deflate;
	const struct sl_py_operand *in = take_data(c, data);
	struct sl_py_operand *to = in ? take_room(c, out, in->bytes) : NULL;
	size_t used = 0;
	int wrapper;

	if (!to || !PyArg_ParseTuple(more, "ii", &wrapper, &job->level))
		return NULL;
	job->wrapper = (enum sl_wrapper)wrapper;
	job->in_bytes = in->bytes;
	job->out_size = to->bytes;
	c->shape = (struct sl_shape){.in_bytes = job->in_bytes,
		.level = job->level,
		.most_room = job->out_size >= sl_deflate_most(job->in_bytes, 0, 1)};
	sl_py_number_add(c, &used, sizeof(used));
	return sl_py_run(c) ? deflated(c, to, out, used, job) : NULL;
}

PyObject *sl_py_primitive(PyObject *module, PyObject *args)
{
	static PyObject *(*const calls[])(struct sl_py_call * c, PyObject * first, PyObject * out,
		PyObject * more) = {[SL_SCAN] = scan,
		[SL_COMPACT] = compact,
		[SL_SORT] = sort,
		[SL_DEFLATE] = deflate,
		[SL_EXPAND] = expand};
	struct sl_py_call c = {.backend = NULL};
	PyObject *first, *out, *stream, *more, *result = NULL;
	const char *name;
	int p = 0;

	(void)module;
	if (!PyArg_ParseTuple(
		    args, "sOzzOOO", &name, &first, &c.backend, &c.device, &out, &stream, &more))
		return NULL;
	while (strcmp(sl_primitive_name((enum sl_primitive)p), name) != 0)
		p++;
	c.primitive = (enum sl_primitive)p;
	if (sl_py_place(&c, first, stream))
		result = calls[p](&c, first, out, more);
	sl_py_call_give(&c);
	return result;
}
