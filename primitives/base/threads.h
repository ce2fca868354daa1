/* threads.h - starts the threads of a process that handles signals in its first thread. */
#ifndef SL_PRIMITIVES_BASE_THREADS_H
#define SL_PRIMITIVES_BASE_THREADS_H

#include <pthread.h>
#include <stddef.h>

#include "primitives/base/hd.h"

SL_C_BEGIN

/*
 * Starts body(ctx) in a thread that the caller joins. The thread blocks all signals except SIGBUS, which
 * a mapped file raises in the thread that reads it, so signals reach the threads of the caller. The stack
 * has stack_bytes, independent of ulimit -s; memory is taken only for what is used. Returns 0 or an
 * error number of pthread_create(); the mask of the caller is unchanged.
 */
int sl_thread_start(size_t stack_bytes, void *(*body)(void *), void *ctx, pthread_t *thread);

SL_C_END

#endif
