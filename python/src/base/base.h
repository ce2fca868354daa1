/* base.h - the interface of Python, exceptions, and the turns of jobs */
#ifndef SL_PYTHON_SRC_BASE_BASE_H
#define SL_PYTHON_SRC_BASE_BASE_H

/*
 * The C interface of Python in its stable form (abi3): one build serves CPython 3.11 and newer.
 * 3.11 is the first version whose stable interface has the buffer protocol.
 *
 * This header is included first: Python.h defines feature macros of the C library.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "pipeline/config/reader/reader.h"
#include "pipeline/text/text.h"
#include "primitives/base/jobs.h"
#include "primitives/base/status.h"

/*
 * While a thread works in the library, without the lock of the interpreter, it has the locale C.
 * Code in Python, which runs with the lock, has that of the program.
 */
#undef Py_BEGIN_ALLOW_THREADS
#undef Py_END_ALLOW_THREADS
#define Py_BEGIN_ALLOW_THREADS                               \
	{                                                    \
		PyThreadState *saved_ = PyEval_SaveThread(); \
		locale_t locale_ = sl_plain_locale();
#define Py_END_ALLOW_THREADS          \
	uselocale(locale_);           \
	PyEval_RestoreThread(saved_); \
	}

/* --- references ------------------------------------------------------------------------------- */

/* A reference that ends where the scope of the variable is left; NULL is none. */
#define SL_PY_OWNED SL_CLOSED_BY(sl_py_drop)
static inline void sl_py_drop(PyObject **o)
{
	Py_XDECREF(*o);
}

/* Appends an item, which it takes over, to a list; *list becomes NULL if one of them is NULL. */
void sl_py_append(PyObject **list, PyObject *item);

/* Sets an item of a dict, and takes it over. False with an exception, also if the item is NULL. */
bool sl_py_put(PyObject *dict, const char *key, PyObject *item);

/* --- errors ----------------------------------------------------------------------------------- */

/*
 * A status of the library becomes the Python exception sluice.Error; arguments that the
 * library cannot have raise those of Python.
 */

/*
 * Raises sluice.Error and returns NULL. reader is NULL, or a configuration whose problems, if it
 * has any, become the data of the exception.
 */
PyObject *sl_py_raise(enum sl_status status, const char *message, struct sl_reader *reader);

/*
 * The text of a str, while the str lives. NULL with an exception: ValueError if a null character is
 * in it.
 */
const char *sl_py_text(PyObject *o);

/*
 * The texts of a tuple of str, while it lives, in an array of calloc() with room for one more. NULL
 * with an exception.
 */
const char **sl_py_texts(PyObject *tuple, size_t *n);

/*
 * For O& of PyArg_ParseTuple(): an int to a uint64_t. OverflowError if it is negative or has more
 * bits.
 */
int sl_py_count(PyObject *o, void *count);

/* --- tasks ----------------------------------------------------------------------------------- */

/*
 * Opens a pool for n tasks. With the thread of the caller, which is worker 0, it has as many
 * threads as there are cores, but no more than tasks.
 */
void sl_py_pool_open(struct sl_job_pool *pool, size_t n);

/*
 * In a task, without the lock of the interpreter: SL_STOPPED if a signal handler has raised. Only
 * worker 0 looks, and a few times a second; *asked_ns is when it did, by sl_now_ns().
 */
enum sl_status sl_py_check_signals(uint32_t worker, uint64_t *asked_ns);

/* --- turn ------------------------------------------------------------------------------------- */

/*
 * Jobs of a process take turns.
 *
 * The library has state of the process: the emulated device, and buffers of verify.
 * A run uses all cores anyway, so one job at a time computes, and others wait.
 */

/* True if this thread has started the job whose turn it is: waiting for it would never end. */
bool sl_py_turn_is_mine(void);

/*
 * Waits for the turn of a job that opener has started. SL_STOPPED if *stop is set before; SL_USAGE
 * if the job whose turn it is has waited long for its loop, which can wait for this call. shares:
 * the job will call sl_py_turn_settle().
 */
enum sl_status sl_py_turn_take(pthread_t opener, bool shares, atomic_int *stop);

/* The job whose turn it is begins to wait for its loop, or computes again. */
void sl_py_turn_idle(bool idle);
/* emulated: the kind of device of the process (sl_device_emulate()) before the job. */
void sl_py_turn_end(bool emulated);

/*
 * Calls on a device may work next to a job on the same kind of device that says so, from then until
 * its end: its survivors are arrays of that device, which its caller works on.
 */
void sl_py_turn_settle(bool emulated);

/*
 * Waits until a call may use that kind of device, chooses the kind for the process, and calls
 * work() with that device selected. SL_USAGE if this thread has a job in progress that does not
 * share, and as for sl_py_turn_take().
 */
enum sl_status sl_py_on_device(
	bool emulated, int number, enum sl_status (*work)(void *ctx), void *ctx);

/*
 * Sets the flag stop of the job whose turn it is, and waits for its end: before the process ends.
 */
void sl_py_turn_stop(int stop);

/* At first, and in a fork of the process, no job runs. */
void sl_py_turn_reset(void);

#endif
