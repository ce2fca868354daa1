/* job_type.c - see src.h. */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"

struct job_object {
	PyObject_HEAD struct sl_py_job *job; /* NULL: closed */
	bool busy;                           /* a thread of Python is in next() */
};

static PyTypeObject *job_type;

static const struct {
	const char *name;
	enum sl_status (*work)(struct sl_py_job *job);
} kinds[] = {{"run", sl_py_work_run}, {"check", sl_py_work_check}, {"plan", sl_py_work_plan},
	{"compare", sl_py_work_compare}, {"replay", sl_py_work_replay},
	{"verify", sl_py_work_verify}, {"convert", sl_py_work_convert}, {"info", sl_py_work_info}};

/* --- the request ------------------------------------------------------------------------------ */

/* A copy of a str; NULL with an exception. */
static char *copy_text(PyObject *o)
{
	const char *text = sl_py_text(o);
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		PyErr_NoMemory();
	return copy;
}

/* Copies of the str of a list, with space for one more. False with an exception. */
static bool copy_texts(PyObject *list, char ***text, size_t *n)
{
	Py_ssize_t size = PyList_Size(list);

	*n = 0;
	if (size < 0)
		return false;
	*text = (char **)calloc((size_t)size + 1, sizeof(**text));
	if (!*text) {
		PyErr_NoMemory();
		return false;
	}
	for (Py_ssize_t i = 0; i < size; i++) {
		(*text)[i] = copy_text(PyList_GetItem(list, i));
		if (!(*text)[i])
			return false;
		++*n;
	}
	return true;
}

/* Fills in the request of the job. False with an exception. */
static bool take_request(struct sl_py_job *job, PyObject *args)
{
	struct sl_py_request *a = &job->asked;
	PyObject *path, *text, *sets, *inputs;
	const char *kind;
	int in_memory, keep_all, full, resident;

	if (!PyArg_ParseTuple(args, "sO!OO!O!ppiO&pp", &kind, &PyUnicode_Type, &path, &text,
		    &PyList_Type, &sets, &PyList_Type, &inputs, &in_memory, &keep_all, &a->start,
		    sl_py_count, &a->id, &full, &resident))
		return false;
	a->in_memory = in_memory != 0;
	a->keep_all = keep_all != 0;
	a->full = full != 0;
	a->resident = resident != 0;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (strcmp(kinds[k].name, kind) == 0)
			job->work = kinds[k].work;
	if (!job->work) {
		PyErr_SetString(PyExc_ValueError, "unknown kind of job");
		return false;
	}
	if (!(a->path = copy_text(path)) || (text != Py_None && !(a->text = copy_text(text))))
		return false;
	if (PyList_Size(sets) > SL_SETS_MAX) {
		PyErr_Format(PyExc_ValueError, "at most %d settings are allowed", SL_SETS_MAX);
		return false;
	}
	return copy_texts(sets, &a->set, &a->n_sets) && copy_texts(inputs, &a->input, &a->n_inputs);
}

PyObject *sl_py_start(PyObject *module, PyObject *args)
{
	struct sl_py_job *job = (struct sl_py_job *)calloc(1, sizeof(*job));
	struct job_object *o;

	(void)module;
	if (!job)
		return PyErr_NoMemory();
	if (!take_request(job, args) || !sl_py_job_start(job)) {
		sl_py_job_free(job);
		return NULL;
	}
	o = PyObject_New(struct job_object, job_type);
	if (!o) {
		sl_py_job_free(job);
		return NULL;
	}
	o->job = job;
	o->busy = false;
	return (PyObject *)o;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Adds column k of the batch to the two dicts. False with an exception. */
static bool add_column(
	struct sl_py_batch *b, uint32_t k, PyObject *owner, PyObject *columns, PyObject *digests)
{
	const bool named = sl_is_named_column((int)b->column[k].column);
	const char *name =
		named ? b->column[k].label.name : sl_column_facts[b->column[k].column].name;
	const size_t bytes = b->n * sl_column_facts[b->column[k].column].bytes;
	PyObject *column, *digest;
	void *data = b->column[k].data;
	char text[17];
	bool added;

	b->column[k].data = NULL; /* the owner has it, or has freed it */
	owner = owner ? Py_NewRef(owner) : sl_py_memory_of(data, bytes);
	column = sl_py_column_of(
		owner, b->column[k].column, named ? &b->column[k].label : NULL, data, b->n);
	Py_XDECREF(owner);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)b->column[k].digest);
	digest = PyUnicode_FromString(text);
	added = column && digest && PyDict_SetItemString(columns, name, column) == 0 &&
	        PyDict_SetItemString(digests, name, digest) == 0;
	Py_XDECREF(column);
	Py_XDECREF(digest);
	return added;
}

/* (number, first_id, generated, survivors, columns, digests) */
static PyObject *batch_tuple(struct sl_py_batch *b)
{
	PyObject *columns = PyDict_New(), *digests = PyDict_New(), *made = NULL;
	bool in_block = b->block != NULL, added;
	PyObject *owner = in_block ? sl_py_memory_of_block(b->block) : NULL;

	b->block = NULL;
	added = columns && digests && (owner || !in_block);
	for (uint32_t k = 0; added && k < b->n_columns; k++)
		added = add_column(b, k, owner, columns, digests);
	if (added)
		made = Py_BuildValue("(KKKKOO)", (unsigned long long)b->number,
			(unsigned long long)b->first_id, (unsigned long long)b->generated,
			(unsigned long long)b->n, columns, digests);
	Py_XDECREF(owner);
	Py_XDECREF(columns);
	Py_XDECREF(digests);
	if (in_block)
		b->n_columns = 0; /* the memory is that of the block */
	sl_py_batch_free(b);
	return made;
}

/* --- methods ---------------------------------------------------------------------------------- */

/* The next batch as a tuple, or None at the end; the failure of the job is raised then. */
static PyObject *next(PyObject *self, PyObject *args)
{
	struct job_object *o = (struct job_object *)self;
	PyObject *on_progress = Py_None;
	struct sl_py_batch *batch = NULL;
	bool alive;

	if (!PyArg_ParseTuple(args, "|O", &on_progress))
		return NULL;
	if (!o->job || o->busy) {
		PyErr_SetString(PyExc_RuntimeError,
			o->job ? "another thread waits for this run" : "the run is closed");
		return NULL;
	}
	o->busy = true;
	alive = sl_py_job_next(o->job, on_progress, &batch);
	o->busy = false;
	if (!alive)
		return NULL;
	if (batch)
		return batch_tuple(batch);
	/* A stop in time, by run.stop_before, leaves results. */
	if (o->job->status == SL_OK || (o->job->status == SL_STOPPED && o->job->text))
		Py_RETURN_NONE;
	return sl_py_raise(o->job->status, o->job->message,
		o->job->status == SL_USAGE ? o->job->reader : NULL);
}

static PyObject *text_or_none(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* The cells of large tallies as (counts, values), or None. The columns take over the memory. */
static PyObject *take_cells(struct sl_py_job *job)
{
	static const struct sl_py_array whole = {.kind = 'u', .bytes = 8};
	static const struct sl_py_array real = {.kind = 'f', .bytes = 8};
	PyObject *counts, *values;

	if (!job->value)
		Py_RETURN_NONE;
	counts = sl_py_column_alone(&whole, SL_COLUMN_COUNT, job->count, job->cells);
	values = sl_py_column_alone(&real, SL_COLUMN_COUNT, job->value, 5 * job->cells);
	job->count = NULL;
	job->value = NULL;
	if (counts && values)
		return Py_BuildValue("(NN)", counts, values);
	Py_XDECREF(counts);
	Py_XDECREF(values);
	return NULL;
}

/* (text, facts, stopped, image, cells, header) of a job that has ended. */
static PyObject *outcome(PyObject *self, PyObject *none)
{
	struct job_object *o = (struct job_object *)self;
	PyObject *image = Py_None, *cells;

	(void)none;
	if (!o->job || !o->job->ended) {
		PyErr_SetString(PyExc_RuntimeError, "the run has not ended");
		return NULL;
	}
	if (o->job->image) {
		image = sl_py_rows(o->job->image, o->job->height, o->job->width);
		o->job->image = NULL; /* the column owns it, or has freed it */
	} else {
		Py_INCREF(image);
	}
	cells = image ? take_cells(o->job) : NULL;
	if (!cells) {
		Py_XDECREF(image);
		return NULL;
	}
	return Py_BuildValue("(NNNNNy#)", text_or_none(o->job->text), text_or_none(o->job->facts),
		PyBool_FromLong(o->job->stopped), image, cells, (const char *)o->job->header,
		(Py_ssize_t)o->job->header_bytes);
}

/* Ends the job at once. */
static PyObject *close_job(PyObject *self, PyObject *none)
{
	struct job_object *o = (struct job_object *)self;
	struct sl_py_job *job = o->job;

	(void)none;
	if (o->busy) {
		PyErr_SetString(PyExc_RuntimeError, "another thread waits for this run");
		return NULL;
	}
	o->job = NULL;
	Py_BEGIN_ALLOW_THREADS
	sl_py_job_free(job);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct sl_py_job *job = ((struct job_object *)self)->job;

	Py_BEGIN_ALLOW_THREADS
	sl_py_job_free(job);
	Py_END_ALLOW_THREADS
	PyObject_Free(self);
	Py_DECREF(type);
}

bool sl_py_job_type_make(void)
{
	static PyMethodDef methods[] = {
		{"next", next, METH_VARARGS, "next(on_progress=None): the next batch, or None."},
		{"outcome", outcome, METH_NOARGS,
			"outcome(): (text, facts, stopped, image, cells, header)."},
		{"close", close_job, METH_NOARGS, "close(): ends the job at once."},
		{NULL, NULL, 0, NULL}};
	static PyType_Slot slots[] = {
		{Py_tp_dealloc, (void *)(uintptr_t)dealloc}, {Py_tp_methods, methods}, {0, NULL}};
	static PyType_Spec spec = {.name = "sluice._native.Job",
		.basicsize = sizeof(struct job_object),
		.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
		.slots = slots};

	job_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return job_type != NULL;
}
