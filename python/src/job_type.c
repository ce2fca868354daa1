/* job_type.c - see src.h. */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>

#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"

struct job_object {
	PyObject_HEAD struct sl_py_job *job; /* NULL: closed */
	PyObject *args;                      /* of start(), with the texts of the job */
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

/* Fills in the request of the job. False with an exception. */
static bool take_request(struct sl_py_job *job, PyObject *args)
{
	struct sl_py_request *a = &job->asked;
	PyObject *path, *text, *sets, *inputs;
	const char *kind;

	if (!PyArg_ParseTuple(args, "sO!OO!O!ppiO&pp", &kind, &PyUnicode_Type, &path, &text,
		    &PyTuple_Type, &sets, &PyTuple_Type, &inputs, &a->in_memory, &a->keep_all,
		    &a->start, sl_py_count, &a->id, &a->full, &a->resident))
		return false;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (strcmp(kinds[k].name, kind) == 0)
			job->work = kinds[k].work;
	if (PyTuple_Size(sets) > SL_SETS_MAX) {
		PyErr_Format(PyExc_ValueError, "at most %d settings are allowed", SL_SETS_MAX);
		return false;
	}
	return (a->path = sl_py_text(path)) && (text == Py_None || (a->text = sl_py_text(text))) &&
	       (a->set = sl_py_texts(sets, &a->n_sets)) &&
	       (a->input = sl_py_texts(inputs, &a->n_inputs));
}

PyObject *sl_py_start(PyObject *module, PyObject *args)
{
	struct sl_py_job *job = (struct sl_py_job *)calloc(1, sizeof(*job));
	struct job_object *o;

	(void)module;
	if (!job)
		return PyErr_NoMemory();
	o = take_request(job, args) && sl_py_job_start(job)
	            ? PyObject_New(struct job_object, job_type)
	            : NULL;
	if (!o) {
		sl_py_job_free(job);
		return NULL;
	}
	o->job = job;
	o->args = Py_NewRef(args);
	o->busy = false;
	return (PyObject *)o;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Adds column k of the batch to the two dicts. False with an exception. */
static bool add_column(
	struct sl_table *t, uint32_t k, PyObject *owner, PyObject *columns, PyObject *digests)
{
	struct sl_table_column *c = &t->column[k];
	const size_t bytes = (size_t)t->n * sl_facts_of(c)->bytes;
	void *data = c->data;
	char text[17];

	c->data = NULL; /* the owner has it, or has freed it */
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)c->digest);
	owner = owner ? Py_NewRef(owner) : sl_py_memory_of(data, bytes, NULL);
	return sl_py_put(columns, sl_table_name(t, k),
		       sl_py_table_column(owner, t, k, false, data)) &&
	       sl_py_put(digests, sl_table_name(t, k), PyUnicode_FromString(text));
}

/* (number, first_id, generated, survivors, columns, digests) */
static PyObject *batch_tuple(struct sl_py_batch *b)
{
	SL_PY_OWNED PyObject *columns = PyDict_New(), *digests = PyDict_New();
	const bool in_block = b->block != NULL;
	SL_PY_OWNED PyObject *owner = in_block ? sl_py_memory_of(NULL, 0, b->block) : NULL;
	PyObject *made = NULL;
	bool added = columns && digests && (owner || !in_block);

	b->block = NULL;
	for (uint32_t k = 0; added && k < b->table.n_columns; k++)
		added = add_column(&b->table, k, owner, columns, digests);
	if (added)
		made = Py_BuildValue("(KKKKOO)", (unsigned long long)b->number,
			(unsigned long long)b->first_id, (unsigned long long)b->generated,
			(unsigned long long)b->table.n, columns, digests);
	if (in_block)
		b->table.n_columns = 0; /* the memory is that of the block */
	sl_py_batch_free(b);
	return made;
}

/* --- methods ---------------------------------------------------------------------------------- */

/*
 * (ended, batch or None, progress) within so many seconds; the failure of the job is raised at its
 * end. A stop in time, by run.stop_before, leaves results.
 */
static PyObject *next(PyObject *self, PyObject *seconds)
{
	struct job_object *o = (struct job_object *)self;
	const long ns = (long)(1e9 * PyFloat_AsDouble(seconds));
	struct sl_py_job *job = o->job;
	struct sl_py_batch *batch;
	struct sl_progress p;
	bool ended;

	if (!job || o->busy) {
		PyErr_SetString(PyExc_RuntimeError,
			job ? "another thread waits for this run" : "the run is closed");
		return NULL;
	}
	o->busy = true;
	Py_BEGIN_ALLOW_THREADS
	ended = sl_py_job_next(job, ns, &batch, &p);
	Py_END_ALLOW_THREADS
	o->busy = false;
	if (ended && job->status != SL_OK && !(job->status == SL_STOPPED && job->text))
		return sl_py_raise(
			job->status, job->message, job->status == SL_USAGE ? job->reader : NULL);
	return Py_BuildValue("(NN(KKdd))", PyBool_FromLong(ended),
		batch ? batch_tuple(batch) : Py_NewRef(Py_None),
		(unsigned long long)p.particles_done, (unsigned long long)p.particles, p.rate,
		p.seconds_left);
}

static PyObject *text_or_none(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* The memory of n numbers of 8 bytes as a column, which takes it over; None without memory. */
static PyObject *take_numbers(void *data, char kind, size_t n)
{
	const struct sl_py_array like = {.kind = kind, .bytes = 8};

	return data ? sl_py_column_alone(&like, SL_COLUMN_COUNT, data, NULL, n)
	            : Py_NewRef(Py_None);
}

/*
 * (text, facts, stopped, image, counts, values, header) of a job that has ended, once; counts and
 * values: of the cells of large tallies.
 */
static PyObject *outcome(PyObject *self, PyObject *none)
{
	struct job_object *o = (struct job_object *)self;
	struct sl_py_job *job = o->job;
	PyObject *made;

	(void)none;
	if (!job || !job->ended) {
		PyErr_SetString(PyExc_RuntimeError, "the run has not ended");
		return NULL;
	}
	made = Py_BuildValue("(NNNNNNy#)", text_or_none(job->text), text_or_none(job->facts),
		PyBool_FromLong(job->stopped), take_numbers(job->image, 'f', job->pixels),
		take_numbers(job->count, 'u', job->cells),
		take_numbers(job->value, 'f', 5 * job->cells), (const char *)job->header,
		(Py_ssize_t)job->header_bytes);
	job->image = job->value = NULL;
	job->count = NULL;
	return made;
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
	struct job_object *o = (struct job_object *)self;

	Py_BEGIN_ALLOW_THREADS
	sl_py_job_free(o->job);
	Py_END_ALLOW_THREADS
	Py_DECREF(o->args);
	PyObject_Free(self);
	Py_DECREF(type);
}

bool sl_py_job_type_make(void)
{
	static PyMethodDef methods[] = {
		{"next", next, METH_O, "next(seconds): (ended, batch or None, progress)."},
		{"outcome", outcome, METH_NOARGS,
			"outcome(): (text, facts, stopped, image, counts, values, header)."},
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
