/* src.h - jobs, and the functions of sluice._native in other files. */
#ifndef SL_PYTHON_SRC_H
#define SL_PYTHON_SRC_H

#include "python/src/base/base.h"

#include <stdbool.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/run/run.h"
#include "primitives/base/jobs.h"
#include "python/src/primitives/primitives.h"

/*
 * A call of the library in a separate thread, while the caller waits for its results.
 *
 * The caller waits without the interpreter's lock, but not longer than 50 ms, so that handlers of
 * signals run, and takes the batches that the job delivers from a short queue: a slow caller makes
 * the job wait.
 *
 *	caller: start()        the thread waits for its turn (base.h), then calls work()
 *	caller: Job.next()     the next batch, in order, or the end
 *	caller: Job.close()    ends the job at once, if it still works
 */

/*
 * A batch of survivors that the job has copied for the caller; or one whose columns are in a block
 * of the device, which is handed over.
 */
struct sl_py_batch {
	struct sl_py_batch *next;
	uint64_t number, first_id, generated;
	struct sl_table table;         /* data of sl_memory_get() or in block; NULL: handed over */
	struct sl_device_block *block; /* NULL: the columns have their own memory, or handed over */
};

/* What a job is asked to do; texts belong to objects that the caller keeps until the job is freed. */
struct sl_py_request {
	const char *path; /* of the configuration, file or run */
	const char *text; /* of the configuration; NULL: path is a file */
	const char **set; /* n_sets texts "key=value", and room for batch_set */
	size_t n_sets;
	char batch_set[64];
	const char **input; /* n_inputs files to convert */
	size_t n_inputs;
	int in_memory; /* a run without files; 0 or 1, as the next ones */
	int keep_all;  /* of which the caller keeps all batches */
	int resident;  /* survivors stay on the device */
	int full;      /* compare: all particles, on the emulated device too */
	int start;     /* enum sl_start; convert takes SL_START_FORCE */
	uint64_t id;   /* replay: the particle; info: the number of particles to print */
};

struct sl_py_job {
	struct sl_py_request asked;
	enum sl_status (*work)(struct sl_py_job *job);
	struct sl_thread_handle thread;
	pthread_t opener;
	int process; /* that started it: a fork has no such thread */
	bool started;
	struct sl_control control;

	/* Guarded by the lock until ended is set. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct sl_py_batch *first, *last;
	unsigned queued;
	struct sl_progress progress;
	bool ended;

	/* The outcome, set by the thread before ended. */
	enum sl_status status;
	char message[SL_MESSAGE_BYTES];
	struct sl_config config;
	struct sl_choices choices;
	struct sl_reader *reader;      /* NULL: no configuration was read */
	struct sl_text_memory printed; /* by work() */
	char *text;      /* what it printed: JSON or text; of malloc(); NULL: nothing */
	char *facts;     /* further results as JSON; of malloc() */
	bool stopped;    /* by run.stop_before */
	uint8_t *header; /* of a list of the survivors, of sl_memory_get() */
	size_t header_bytes;
	double *image; /* values, of sl_memory_get() */
	size_t pixels;
	size_t cells;    /* of large tallies (work.c) */
	uint64_t *count; /* of these cells, of sl_memory_get(); NULL: none */
	double *value;   /* 5 for each of these cells */
};

/*
 * In the thread: passes a copy of the batch in slot, or its block, to the caller. A struct
 * sl_control.batch.
 */
enum sl_status sl_py_job_deliver(void *job, struct sl_host_slot *slot);

/* In the thread: stores the progress. A struct sl_control.progress. */
void sl_py_job_progress(void *job, const struct sl_progress *p);

/* Makes the type sluice._native.Job: a job as an object of Python. False with an exception. */
bool sl_py_job_type_make(void);

/* start(kind, path, text, sets, inputs, in_memory, keep_all, start, id, full, resident): a job. */
PyObject *sl_py_start(PyObject *module, PyObject *args);

/* What jobs do, in their threads: calls of the pipeline that fill in the outcome of the job. */

/* Calls work() of the job, and keeps the text that it prints. */
enum sl_status sl_py_work(struct sl_py_job *job);

/* Each is a struct sl_py_job.work; "run" and the others are their names in Python. */
enum sl_status sl_py_work_run(struct sl_py_job *job);     /* text: run.json; facts: directory */
enum sl_status sl_py_work_check(struct sl_py_job *job);   /* reads and resolves a configuration */
enum sl_status sl_py_work_plan(struct sl_py_job *job);    /* text: that of sluice plan */
enum sl_status sl_py_work_compare(struct sl_py_job *job); /* text: JSON; facts: its tables */
enum sl_status sl_py_work_replay(struct sl_py_job *job);  /* text: JSON of the history */
enum sl_status sl_py_work_verify(struct sl_py_job *job);  /* text: JSON of the counts */
enum sl_status sl_py_work_convert(struct sl_py_job *job); /* text: notes */
enum sl_status sl_py_work_info(struct sl_py_job *job);    /* text: that of sluice info */

/* Functions of sluice._native on particle lists (sluice/_lists.py). */

/* write_mcpl(path, {field: array or number}, single, comments, force) */
PyObject *sl_py_write_mcpl(PyObject *module, PyObject *args);

/*
 * filter(text, all, {column: array or number}, device): (n, index, {column: Column}) of the
 * particles that the keys keep (unless all) and key of the configuration text select. None instead
 * of a Column: its type is that of no Column. Columns of a device stay there; device: None, or
 * where they are.
 */
PyObject *sl_py_filter_call(PyObject *module, PyObject *args);

/* Functions of sluice._native that call primitives (sluice/_primitives.py). */

/*
 * primitive(name, first, backend, device, out, stream, more): backend and device are texts or None;
 * out is an array to write to, or None: a Column is made. stream is None, or the number of a CUDA
 * stream. Arrays of a device stay there.
 *
 * first and more, and what a call returns:
 *
 *	scan       array; (inclusive, n_on_device, sum): the array of sums; sum: one item, that of all
 *	compact    flags; (n_on_device, n_out): the array of indices, and the number of them that are
 *	           valid; 0 with n_out
 *	expand     runs; (slots, form): the array of indices; slots is -1 for as many as runs
 *	sort       keys; (values, begin_bit, end_bit, values_out, n_on_device, threads): keys, values;
 *	           values may be None, and end_bit -1 for all bits
 *	deflate    data; (wrapper, level): bytes, or a Column of a device; with out, their number
 */
PyObject *sl_py_primitive(PyObject *module, PyObject *args);

/*
 * main() of the program (pipeline/cli/main.c), under the name that python/CMakeLists.txt gives it.
 * Does not return: the program ends the process.
 */
int sl_program_main(int argc, char **argv);

#endif
