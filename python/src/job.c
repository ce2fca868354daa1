/* job.c - see src.h. A job as an object of Python is sluice._native.Job. */
#include "python/src/src.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/config/reader/reader.h"
#include "primitives/base/clock.h"
#include "primitives/device/device.h"
#include "python/src/arrays/arrays.h"
#include "python/src/base/base.h"
#include "stages/batch/resident.h"

/* Batches that wait for the caller; the job waits while there are so many. */
enum { QUEUE_MOST = 2 };

/* The interval between looks at the flag that stops the job, in nanoseconds. */
enum { INTERVAL_NS = 50000000 };

/* The stack of the thread: pipelines print and plan with large local arrays. */
enum { STACK_BYTES = 8 << 20 };

/* --- batches, in the thread ------------------------------------------------------------------- */

static void free_batch(struct sl_py_batch *b)
{
	for (uint32_t k = 0; b && !b->block && k < b->table.n_columns; k++)
		sl_memory_give(SL_HOST, b->table.column[k].data);
	if (b)
		sl_block_give(b->block);
	free(b);
}

/* Copies the columns, or takes over their block: they were written before the commit. */
static enum sl_status copy_batch(struct sl_batch *from, struct sl_py_batch *b)
{
	b->number = from->number;
	b->first_id = from->first_id;
	b->generated = from->n;
	b->table = from->table;
	b->table.n = from->n_survivors;
	b->block = from->resident;
	b->table.n_columns = 0;
	for (uint32_t k = 0; k < from->table.n_columns; k++) {
		struct sl_table_column *to = &b->table.column[k];

		if (b->block)
			to->data = sl_resident_column(from, k);
		else
			SL_TRY(sl_py_copy_items(&from->table.column[k], b->table.n, &to->data));
		b->table.n_columns++;
	}
	from->resident = NULL;
	return SL_OK;
}

/*
 * Appends b to the queue, or frees it if the job is to stop. The end of the interpreter sets stop
 * without a signal to the condition.
 */
static enum sl_status enqueue(struct sl_py_job *job, struct sl_py_batch *b)
{
	enum sl_status s = SL_OK;

	pthread_mutex_lock(&job->lock);
	sl_py_turn_idle(job->queued >= QUEUE_MOST);
	while (job->queued >= QUEUE_MOST && atomic_load(&job->control.stop) == 0)
		sl_change_wait(&job->changed, &job->lock, INTERVAL_NS);
	sl_py_turn_idle(false);
	if (atomic_load(&job->control.stop) != 0) {
		free_batch(b);
		s = sl_fail(SL_STOPPED, "the run was interrupted");
	} else {
		*(job->last ? &job->last->next : &job->first) = b;
		job->last = b;
		job->queued++;
		pthread_cond_broadcast(&job->changed);
	}
	pthread_mutex_unlock(&job->lock);
	return s;
}

enum sl_status sl_py_job_deliver(void *job, struct sl_host_slot *slot)
{
	struct sl_py_batch *b = (struct sl_py_batch *)calloc(1, sizeof(*b));
	enum sl_status s;

	if (!b)
		return sl_fail(SL_HOST_MEMORY, "no memory for a batch of survivors");
	s = copy_batch(&slot->batch, b);
	if (s != SL_OK) {
		free_batch(b);
		return s;
	}
	return enqueue((struct sl_py_job *)job, b);
}

void sl_py_job_progress(void *ctx, const struct sl_progress *p)
{
	struct sl_py_job *job = (struct sl_py_job *)ctx;

	pthread_mutex_lock(&job->lock);
	job->progress = *p;
	pthread_mutex_unlock(&job->lock);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void *run_thread(void *ctx)
{
	struct sl_py_job *job = (struct sl_py_job *)ctx;

	job->status = sl_py_turn_take(job->opener, job->asked.resident, &job->control.stop);
	if (job->status == SL_OK) {
		bool emulated = sl_device_is_emulated();

		job->status = sl_py_work(job);
		sl_py_turn_end(emulated); /* decides what run.device: auto means for the next job */
	}
	if (job->status != SL_OK)
		memcpy(job->message, sl_last_error(), sizeof(job->message));
	pthread_mutex_lock(&job->lock);
	job->ended = true;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

static bool start_thread(struct sl_py_job *job)
{
	int error;

	if (sl_py_turn_is_mine()) {
		sl_py_raise(SL_USAGE,
			"this thread has a run in progress, such as an open stream; finish it or close() "
			"it first",
			NULL);
		return false;
	}
	job->opener = pthread_self();
	job->process = (int)getpid();
	pthread_mutex_init(&job->lock, NULL);
	sl_change_init(&job->changed);
	error = sl_thread_start(STACK_BYTES, run_thread, job, &job->thread);
	job->started = error == 0;
	if (error != 0)
		sl_py_raise(SL_HOST_MEMORY, strerror(error), NULL);
	return error == 0;
}

/* --- the caller ------------------------------------------------------------------------------- */

/*
 * Waits for a batch or for the end, but at most so many nanoseconds. Sets *batch, NULL: there is
 * none, and *progress. True at the end.
 */
static bool take_next(
	struct sl_py_job *job, long ns, struct sl_py_batch **batch, struct sl_progress *progress)
{
	struct sl_py_batch *b;
	bool ended;

	pthread_mutex_lock(&job->lock);
	if (!job->first && !job->ended)
		sl_change_wait(&job->changed, &job->lock, ns);
	b = *batch = job->first;
	if (b) {
		job->first = b->next;
		job->last = job->first ? job->last : NULL;
		job->queued--;
		b->next = NULL;
		pthread_cond_broadcast(&job->changed);
	}
	ended = job->ended && !b;
	*progress = job->progress;
	pthread_mutex_unlock(&job->lock);
	return ended;
}

/* Lets the thread end at once and waits for it. */
static void stop(struct sl_py_job *job)
{
	if (!job->started || job->process != (int)getpid())
		return;
	pthread_mutex_lock(&job->lock);
	atomic_store(&job->control.stop, SL_STOP_AT_ONCE);
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	pthread_join(job->thread.id, NULL);
	job->started = false;
}

/* Ends the job at once if it works, and frees it; NULL is allowed. */
static void free_job(struct sl_py_job *job)
{
	struct sl_py_batch *next;

	if (!job)
		return;
	stop(job);
	for (struct sl_py_batch *b = job->first; b; b = next) {
		next = b->next;
		free_batch(b);
	}
	sl_config_close(job->reader);
	free((void *)job->asked.set);
	free((void *)job->asked.input);
	free(job->text);
	free(job->facts);
	sl_memory_give(SL_HOST, job->header);
	sl_memory_give(SL_HOST, job->image);
	sl_memory_give(SL_HOST, job->count);
	sl_memory_give(SL_HOST, job->value);
	free(job);
}

/* --- the object ------------------------------------------------------------------------------- */

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
	o = take_request(job, args) && start_thread(job) ? PyObject_New(struct job_object, job_type)
	                                                 : NULL;
	if (!o) {
		free_job(job);
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
	void *data = c->data;
	char text[17];

	c->data = NULL; /* the owner has it, or has freed it */
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)c->digest);
	return sl_py_table_put(columns, t, k, false, owner, data) &&
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
	free_batch(b);
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
	ended = take_next(job, ns, &batch, &p);
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
	free_job(job);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct job_object *o = (struct job_object *)self;

	Py_BEGIN_ALLOW_THREADS
	free_job(o->job);
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
