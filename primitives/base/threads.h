/*
 * threads.h - starts the threads of a process that handles signals in its first thread, and whose
 * locale changes no number.
 *
 * A program that has called setlocale(), as a Python program may, can have a decimal comma. Numbers
 * are printed and read by functions of the C library that follow the locale of the thread. So the
 * library works in threads with the locale C only: in those that sl_thread_start() starts, and in
 * threads of a caller that have called sl_plain_locale().
 */
#ifndef SL_PRIMITIVES_BASE_THREADS_H
#define SL_PRIMITIVES_BASE_THREADS_H

#include <locale.h>
#include <pthread.h>
#include <stddef.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/* Gives this thread the locale C. Returns the locale that it had, for uselocale(). */
locale_t sl_plain_locale(void);

struct sl_thread_handle {
	pthread_t id;
	void *(*body)(void *);
	void *ctx;
};

/*
 * Starts body(ctx) in a thread that the caller joins; *thread must stay where it is until then. The
 * thread has the locale C. It blocks all signals except SIGBUS, which a mapped file raises in the
 * thread that reads it, so signals reach the threads of the caller. The stack has stack_bytes,
 * independent of ulimit -s; memory is taken only for what is used. Returns 0 or an error number of
 * pthread_create(); the mask of the caller is unchanged.
 */
int sl_thread_start(
	size_t stack_bytes, void *(*body)(void *), void *ctx, struct sl_thread_handle *thread);

SL_C_END

#endif
